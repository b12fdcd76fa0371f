/// A broker and the topics to subscribe to: `mqtt://user:password@host:port/topic/root/#`.
///
/// ```swift
/// let address = try MQTTAddress("mqtt://meshdev:large4cats@mqtt.meshtastic.org/msh/EU_868")
/// address.text    // "mqtt://mqtt.meshtastic.org:1883", never with the password
/// address.topics  // ["msh/EU_868/#"]
/// ```
/// `mqtts://` means TLS. The default port is 1883, or 8883 with TLS. A path without wildcard is a topic root: everything below it is included;
/// no path means `msh/#`. User and password may contain percent-encoded characters; the topic is taken literally, `#` included.
public struct MQTTAddress: Sendable, Hashable, CustomStringConvertible {
    public var usesTLS: Bool
    public var host: String
    public var port: UInt16
    public var user: String?
    public var password: String?
    /// What to subscribe to.
    public var topics: [String]

    public static let defaultTopic = "msh/#"

    public init(
        host: String, port: UInt16? = nil, usesTLS: Bool = false, user: String? = nil, password: String? = nil,
        topics: [String] = [defaultTopic]
    ) {
        self.host = host
        self.port = port ?? (usesTLS ? 8883 : 1883)
        self.usesTLS = usesTLS
        self.user = user
        self.password = password
        self.topics = topics
    }

    /// - Throws: `IngestError` (`badRequest`), which does not repeat the password
    public init(_ text: String) throws(IngestError) {
        guard let mark = text.firstRange(of: "://") else { throw Self.bad("an address must begin with mqtt:// or mqtts://") }
        switch text[..<mark.lowerBound].lowercased() {
        case "mqtt", "tcp": usesTLS = false
        case "mqtts", "ssl": usesTLS = true
        default: throw Self.bad("an address must begin with mqtt:// or mqtts://")
        }
        let rest = text[mark.upperBound...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<end]
        if let at = authority.lastIndex(of: "@") {
            let credentials = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = try Self.decoded(credentials[0])
            if credentials.count > 1 { password = try Self.decoded(credentials[1]) }
            authority = authority[authority.index(after: at)...]
        }
        (host, port) = try Self.hostAndPort(authority, usesTLS ? 8883 : 1883)
        topics = [Self.topic(String(rest[end...].drop { $0 == "/" }))]
    }

    /// The broker without user and password: for messages and as the prefix of its sources' names.
    public var text: String {
        let shownHost = host.contains(":") ? "[\(host)]" : host
        return "\(usesTLS ? "mqtts" : "mqtt")://\(shownHost):\(port)"
    }

    public var description: String { text }

    /// `path` as a subscription: a root includes everything below it.
    public static func topic(_ path: String) -> String {
        if path.isEmpty { return defaultTopic }
        if path.contains("#") || path.contains("+") { return path }
        return path.hasSuffix("/") ? path + "#" : path + "/#"
    }

    private static func hostAndPort(_ authority: Substring, _ standard: UInt16) throws(IngestError) -> (String, UInt16) {
        var (host, portText) = (authority, Substring())
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { throw bad("the address of the host has no closing bracket") }
            host = authority[authority.index(after: authority.startIndex)..<close]
            portText = authority[authority.index(after: close)...]
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            portText = authority[colon...]
        }
        guard !host.isEmpty else { throw bad("the address names no host") }
        if portText.isEmpty { return (String(host), standard) }
        let digits = portText.dropFirst()
        guard portText.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), port > 0
        else {
            throw bad("the port is a number from 1 to 65535")
        }
        return (String(host), port)
    }

    private static func decoded(_ text: Substring) throws(IngestError) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard rest.count >= 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
                throw bad("write a % in the user or password as %25")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func bad(_ reason: String) -> IngestError {
        IngestError(.badRequest, subject: "MQTT address", reason: reason + "; an example is mqtt://user@host:1883/msh/#")
    }
}
