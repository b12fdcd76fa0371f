import Foundation

/// The address of a radio: on the network or at a serial port.
public enum RadioAddress: Sendable, Hashable {
    /// The port that radios listen on.
    public static let standardPort: UInt16 = 4403

    case tcp(host: String, port: UInt16 = standardPort)
    /// - Parameters:
    ///   - path: the device, preferably by its stable name in `/dev/serial/by-id`
    ///   - raisesDTR: whether to raise DTR, as boards expect from a terminal; some boards reset then
    case serial(path: String, raisesDTR: Bool = true)

    /// Parses `HOST`, `HOST:PORT` or `[IPv6]:PORT`.
    ///
    /// - Throws: `IngestError` (`badRequest`)
    public init(host text: String) throws(IngestError) {
        let (host, rest): (Substring, Substring)
        if text.hasPrefix("["), let close = text.firstIndex(of: "]") {
            (host, rest) = (text[text.index(after: text.startIndex)..<close], text[text.index(after: close)...])
        } else if let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
            (host, rest) = (text[..<colon], text[colon...])
        } else {
            (host, rest) = (text[...], "")
        }
        let port = rest.isEmpty ? Self.standardPort : UInt16(rest.dropFirst()) ?? 0
        let isHost =
            !host.allSatisfy(\.isNumber) && !host.contains { $0 == "/" || $0.isWhitespace }
            && (!host.contains(":") || Self.isIPv6(host))
        guard isHost, port > 0, rest.isEmpty || rest.first == ":" else {
            throw IngestError(
                .badRequest, subject: text,
                reason: "a radio's address is a host and, if need be, a port; examples are 192.168.1.20 and roof.example:4403")
        }
        self = .tcp(host: String(host), port: port)
    }

    private static func isIPv6(_ host: Substring) -> Bool {
        var address = in6_addr()
        return unsafe inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &address) == 1
    }

    /// The same for each way of writing it: two sources with equal places are one radio.
    package var place: String {
        switch self {
        case .tcp(let host, let port):
            // A dot at the end only says that the name is whole.
            switch host.hasSuffix(".") ? host.dropLast().lowercased() : host.lowercased() {
            case "localhost": "127.0.0.1 \(port)"
            case let host: "\(host) \(port)"
            }
        case .serial(let path, _): URL(fileURLWithPath: path).standardizedFileURL.path
        }
    }

    /// Checks what can be checked without connecting; a device may be plugged in later.
    ///
    /// - Throws: `IngestError` (`wrongFormat`) for a path that is not a serial port
    package func check() throws(IngestError) {
        if case .serial(let path, _) = self { try SerialPort.check(path) }
    }

    /// The name of its source in the log.
    public var text: String {
        switch self {
        case .tcp(let host, let port): "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .serial(let path, _): "serial:\(path)"
        }
    }
}

/// How to listen to a radio.
public struct RadioOptions: Sendable {
    /// Seconds between heartbeats.
    public var heartbeatSeconds = 30.0
    /// The connection ends after this many unanswered heartbeats.
    public var missedHeartbeats = 3
    public var firstRetrySeconds = 1.0
    public var longestRetrySeconds = 60.0
    /// The time limit for connecting.
    public var connectSeconds = 8.0
    /// How long a serial radio gets to wake up before the first request.
    public var wakeMilliseconds = 100
    /// How long after a change of its settings, by a client that shares it, the radio is asked for them.
    var settingsSeconds = 2.0

    public init() {}
}
