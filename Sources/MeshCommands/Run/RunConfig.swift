import ArgumentParser
import EventLog
import Foundation
import MeshIngest
import MeshLedger
import Yams

/// The configuration of `meshledger run`, read from its file.
struct RunConfig: Equatable {
    struct Backup: Equatable {
        var folder: String
        var everySeconds: Int64
    }

    enum LogFormat: String, CaseIterable { case text, json }

    var ledger: String?
    var logFormat = LogFormat.text
    var sources: [SourceConfig] = []
    /// Nil leaves the ledger's policy unchanged.
    var retention: RetentionPolicy?
    /// Nil for the default.
    var sealing: SealingPolicy?
    var backup: Backup?

    private static let keys = ["ledger", "log", "sources", "retention", "sealing", "backup"]
    private static let sizeLimit = 1 << 20

    /// - Parameter file: `-` for standard input.
    /// - Throws: `CommandError` with the mistakes and their lines: the first of each source and of each other part.
    init(file: String) throws {
        let data: Data
        do {
            data =
                try file == "-"
                ? FileHandle.standardInput.read(upToCount: Self.sizeLimit + 1) ?? Data()
                : Data(contentsOf: URL(fileURLWithPath: file))
        } catch CocoaError.fileReadUnknown where URL(fileURLWithPath: file).hasDirectoryPath {
            throw CommandError(.noInput, "\(file) is a folder, not a configuration")
        } catch {
            throw LedgerError(ofFile: error) ?? error
        }
        guard data.count <= Self.sizeLimit else {
            throw CommandError(.badData, "\(file) is larger than 1 MiB; is it a configuration?")
        }
        try self.init(text: String(decoding: data, as: UTF8.self), file: file)
    }

    init(text: String, file: String) throws {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch let error as YamlError {
            throw Self.error(error, file)
        }
        guard let root else {
            throw CommandError(.badData, "\(file): it is empty; `meshledger config example` prints one that explains itself")
        }
        let map = try ConfigNode(root, keys: Self.keys, what: "a configuration", file: file)
        var mistakes: [CommandError] = []
        func read(_ part: () throws -> Void) throws {
            do {
                try part()
            } catch let mistake as CommandError {
                mistakes.append(mistake)
            }
        }
        try read { ledger = try map.string("ledger") }
        try read { try readLog(map) }
        try read {
            let nodes = try map.list("sources")
            guard !nodes.isEmpty else { throw map.error("sources", "it has no sources: there is nothing to run") }
            for node in nodes { try read { try add(try SourceConfig(node, file: file), at: node, of: file) } }
        }
        try read { try readRetention(map) }
        try read { try readSealing(map) }
        try read { try readBackup(map) }
        guard mistakes.isEmpty else { throw CommandError(.badData, mistakes.map(\.message).joined(separator: "\n")) }
    }

    private mutating func add(_ source: SourceConfig, at node: Node, of file: String) throws {
        let line = node.mark?.line ?? 1
        guard !sources.contains(where: { $0.key == source.key }) else {
            throw ConfigNode.error(file, line, "the source \(source.key) is there already")
        }
        if let share = source.share, sources.contains(where: { $0.share?.host == share.host && $0.share?.port == share.port }) {
            throw ConfigNode.error(file, line, "another radio is shared at \(share.host):\(share.port) already")
        }
        sources.append(source)
    }

    private mutating func readLog(_ map: ConfigNode) throws {
        guard let log = try map.child("log", keys: ["format"], what: "log"), let text = try log.string("format") else { return }
        guard let format = LogFormat(rawValue: text) else { throw log.error("format", "format is text or json, not \(text)") }
        logFormat = format
    }

    private mutating func readRetention(_ map: ConfigNode) throws {
        guard let node = try map.child("retention", keys: ["older-than", "larger-than"], what: "retention") else { return }
        let policy = RetentionPolicy(
            longestSeconds: try node.duration("older-than"), largestBytes: try node.size("larger-than"))
        guard policy != RetentionPolicy() else {
            throw node.error(nil, "retention needs older-than or larger-than; without retention, the ledger keeps its policy")
        }
        retention = policy
    }

    private mutating func readSealing(_ map: ConfigNode) throws {
        guard let node = try map.child("sealing", keys: ["automatic", "newest"], what: "sealing") else { return }
        let usual = SealingPolicy()
        sealing = SealingPolicy(
            hotEvents: try node.number("newest", in: 1_000...1_000_000_000) ?? usual.hotEvents,
            isAutomatic: try node.bool("automatic") ?? usual.isAutomatic)
    }

    private mutating func readBackup(_ map: ConfigNode) throws {
        guard let node = try map.child("backup", keys: ["to", "every"], what: "backup") else { return }
        guard let folder = try node.string("to") else { throw node.error(nil, "backup needs to: the folder of the backup") }
        backup = Backup(folder: folder, everySeconds: try node.duration("every") ?? 86_400)
    }

    /// `3 sources`.
    var sourcesText: String { sources.count == 1 ? "1 source" : "\(sources.count) sources" }

    /// Whether a running process can apply the whole difference, which is so for sources and retention.
    func differsInSourcesOnly(from other: RunConfig) -> Bool {
        ledger == other.ledger && logFormat == other.logFormat && sealing == other.sealing && backup == other.backup
    }

    private static func error(_ error: YamlError, _ file: String) -> CommandError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            ConfigNode.error(file, mark.line, "this is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            ConfigNode.error(file, context.mark.line, "a key is there twice: \(names.sorted().joined(separator: ", "))")
        default: CommandError(.badData, "\(file): this is not YAML: \(error)")
        }
    }
}

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
