import ArgumentParser
import EventLog
import Foundation
import MeshIngest
import MeshLedger
import Yams

/// One source of a configuration.
struct SourceConfig: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case radio(RadioAddress)
        case broker(MQTTAddress, Broker)
        case multicast(UDPOptions)
        case file(path: String, ImportFormat?)
        case recording(path: String)
    }

    struct Broker: Hashable, Sendable {
        var passwordFile: String?
        var quality: Int = 0
        var clientID: String?
        var keepsSession = false
        var keepAliveSeconds = 60
        var authorityFile: String?
        var certificateFile: String?
        var keyFile: String?
    }

    var kind: Kind
    /// Where the radio is shared, and with which clients.
    var share: ShareOptions?
    /// What distinguishes it from the other sources of the configuration.
    var key: String
    private(set) var warnings: [String] = []

    private static let kinds = ["tcp", "serial", "mqtt", "udp", "file", "recording"]
    private static let brokerKeys = [
        "password-file", "qos", "client-id", "keep-session", "keep-alive", "ca-file", "cert-file", "key-file",
    ]
    private static let shareKeys = ["share", "share-allow", "share-admin"]
    private static let options: [String: [String]] = [
        "tcp": shareKeys, "serial": ["dtr"] + shareKeys, "mqtt": brokerKeys, "udp": ["interfaces", "port"], "file": ["format"],
    ]

    init(_ node: Node, file: String) throws {
        let line = node.mark?.line ?? 1
        let named = node.mapping?.compactMap { $0.key.scalar?.string } ?? []
        let found = named.filter { Self.kinds.contains($0) }
        guard found.count == 1, let name = found.first else {
            guard found.isEmpty else {
                throw ConfigNode.error(file, line, "a source is of one kind, not of \(found.sorted().joined(separator: " and "))")
            }
            let guess = named.first.map { KnownName.suggestion(for: $0, among: Self.kinds) } ?? ""
            throw ConfigNode.error(file, line, "a source begins with one of \(Self.kinds.joined(separator: ", "))\(guess)")
        }
        let map = try ConfigNode(
            node, keys: [name] + (Self.options[name] ?? []), what: "a source of the kind \(name)", file: file)
        switch name {
        case "tcp": kind = .radio(try Self.checked(map, name) { try RadioAddress(host: map.string("tcp") ?? "") })
        case "serial": kind = .radio(.serial(path: try map.string("serial") ?? "", raisesDTR: try map.bool("dtr") ?? true))
        case "mqtt": kind = try Self.broker(map)
        case "udp":
            var options = UDPOptions()
            if let groups = try map.strings("udp"), groups != ["all"] { options.groups = groups }
            options.interfaces = try map.strings("interfaces")
            options.port = UInt16(try map.number("port", in: 1...65_535) ?? Int(options.port))
            kind = .multicast(options)
        case "recording":
            guard let path = try map.string("recording") else { throw map.error("recording", "recording needs a file or folder") }
            kind = .recording(path: path)
        default:
            var format: ImportFormat?
            if let text = try map.string("format") {
                guard let known = ImportFormat(rawValue: text) else {
                    throw map.error(
                        "format",
                        "there is no format \(text)\(KnownName.suggestion(for: text, among: ImportFormat.allCases.map(\.rawValue)))"
                    )
                }
                format = known
            }
            kind = .file(path: try map.string("file") ?? "", format)
        }
        let checked = kind
        try Self.checked(map, name) { try checked.check() }
        key = Self.key(kind)
        share = try Self.share(map)
        if let share, case .radio(let address) = kind, share.isPlace(of: address) {
            throw map.error("share", "the radio would be shared at its own address; give share another port")
        }
        if case .broker(let address, let broker) = kind { try look(at: address, broker, map) }
    }

    private mutating func look(at address: MQTTAddress, _ broker: Broker, _ map: ConfigNode) throws {
        let files = [
            ("password-file", broker.passwordFile), ("ca-file", broker.authorityFile), ("cert-file", broker.certificateFile),
            ("key-file", broker.keyFile),
        ]
        for (key, path) in files {
            guard let path, !FileManager.default.fileExists(atPath: path) else { continue }
            warnings.append(map.error(key, "\(key): \(path) does not exist").message)
        }
        guard address.password != nil else { return }
        guard broker.passwordFile == nil else {
            throw map.error("password-file", "the password is in the address and in password-file; give it once")
        }
        let text = "everyone who reads this file sees the password in the address; password-file keeps it elsewhere"
        warnings.append(map.error("mqtt", text).message)
    }

    /// A broker and the client id that it knows this source by.
    var client: (broker: String, id: String)? {
        guard case .broker(let address, let broker) = kind, let id = broker.clientID else { return nil }
        return (address.text, id)
    }

    private static func share(_ map: ConfigNode) throws -> ShareOptions? {
        guard let text = try map.string("share") else {
            for key in shareKeys where map.has(key) {
                throw map.error(key, "\(key) needs share: the port that clients connect to")
            }
            return nil
        }
        var options = try checked(map, "share") { try ShareOptions(text) }
        if let texts = try map.strings("share-allow") {
            options.allowed = try checked(map, "share-allow") { try texts.map { try NetworkRange($0) } }
        }
        if let texts = try map.strings("share-admin") {
            options.admins = try checked(map, "share-admin") { try texts.map { try NetworkRange($0) } }
        }
        return options
    }

    private static func key(_ kind: Kind) -> String {
        switch kind {
        case .radio(let address): address.text
        // The address may contain a password, which is left out here.
        case .broker(let address, _): "\(address.text)/\(address.topics.joined(separator: " "))"
        case .multicast(let options): "udp:\(options.port)"
        case .file(let path, _): "file:\(URL(fileURLWithPath: path).standardizedFileURL.path)"
        case .recording(let path): "recording:\(path)"
        }
    }

    /// Where it differs from the address: several sources of one broker have different topics.
    var name: String? {
        guard case .broker(let address, _) = kind, address.topics != [MQTTAddress.defaultTopic] else { return nil }
        return key
    }

    private static func checked<Value>(_ map: ConfigNode, _ key: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as IngestError {
            throw map.error(key, error.reason)
        }
    }

    private static func broker(_ map: ConfigNode) throws -> Kind {
        let url = try map.string("mqtt") ?? ""
        let address = try checked(map, "mqtt") { try MQTTAddress(url) }
        var broker = Broker()
        broker.passwordFile = try map.string("password-file")
        broker.quality = try map.number("qos", in: 0...1) ?? 0
        broker.clientID = try map.string("client-id")
        broker.keepsSession = try map.bool("keep-session") ?? false
        broker.keepAliveSeconds = try map.number("keep-alive", in: 5...65_535) ?? 60
        broker.authorityFile = try map.string("ca-file")
        broker.certificateFile = try map.string("cert-file")
        broker.keyFile = try map.string("key-file")
        return .broker(address, broker)
    }

    /// The source, ready to run.
    func source(
        into ledger: Ledger, report: @escaping @Sendable (SourceStatus, String) -> Void
    ) throws -> any LiveSource {
        let target = IngestTarget(ledger)
        switch kind {
        case .radio(let address):
            // Also if it is not shared, so that it can be later without a new connection.
            return SharedRadio(RadioSource(address, into: target, report: report), share, log: ledger.log)
        case .multicast(let options): return UDPSource(options, into: target, report: report)
        case .file(let path, let format):
            return FileFollow(path, into: target, options: ImportOptions(format: format), report: report)
        case .recording(let path): return RecordingFollow(path, into: ledger, report: report)
        case .broker(let address, let broker):
            var options = broker.options(address)
            if let file = broker.passwordFile {
                let option = try BrokerPassword.parse(["--password-file", file])
                options.address.password = try option.value(address: address.password != nil, environment: [:])
            }
            let name = name ?? address.text
            return MQTTIngest(options, into: target) { notice in
                var status = SourceStatus(name: name)
                if notice.isTrouble { status.state = .waiting }
                report(status, notice.description)
            }
        }
    }
}

extension SourceConfig.Kind {
    /// - Throws: what the source would refuse when it starts.
    fileprivate func check() throws(IngestError) {
        switch self {
        case .broker(let address, let broker): try broker.options(address).check()
        case .multicast(let options): try options.check()
        case .radio(let address): try address.check()
        case .file, .recording: break
        }
    }
}

extension SourceConfig.Broker {
    /// Without the password.
    fileprivate func options(_ address: MQTTAddress) -> MQTTOptions {
        var options = MQTTOptions(address)
        if let quality = MQTTOptions.QualityOfService(rawValue: Int32(quality)) { options.qualityOfService = quality }
        (options.clientID, options.keepsSession) = (clientID, keepsSession)
        options.keepAliveSeconds = keepAliveSeconds
        options.certificateAuthorityFile = authorityFile
        (options.certificateFile, options.keyFile) = (certificateFile, keyFile)
        return options
    }
}

extension ShareOptions {
    private static let everywhere: Set<String> = ["0.0.0.0", "::"]

    private static func isHere(_ host: String) -> Bool { ["localhost", "::1"].contains(host) || host.hasPrefix("127.") }

    /// Whether two servers cannot listen at both.
    func overlaps(_ other: ShareOptions) -> Bool {
        port == other.port
            && (host == other.host || !Self.everywhere.isDisjoint(with: [host, other.host])
                || Self.isHere(host) && Self.isHere(other.host))
    }

    /// Whether the radio's address is that of the server which shares it.
    func isPlace(of address: RadioAddress) -> Bool {
        guard case .tcp(let radio, port) = address else { return false }
        return radio == host || Self.isHere(radio) && (Self.isHere(host) || Self.everywhere.contains(host))
    }
}
