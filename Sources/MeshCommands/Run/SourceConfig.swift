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
        case broker(MQTTOptions, passwordFile: String?)
        case multicast(UDPOptions)
        case file(path: String, ImportFormat?)
        case recording(path: String)
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
        kind = try Self.kind(name, map)
        let checked = kind
        try Self.checked(map, name) { try checked.check() }
        key = Self.key(kind)
        share = try Self.share(map)
        if let share, case .radio(let address) = kind { try Self.checked(map, "share") { try share.check(for: address) } }
        if let share { lookAt(share, map) }
        switch kind {
        case .broker(let options, _): try look(at: options.address, map)
        case .file(let path, _): lookAtFile(path, map)
        case .recording(let path): lookAtPlace(path, "recording", map)
        case .radio(.serial(let path, _)): lookAtPlace(path, "serial", map)
        case .radio, .multicast: break
        }
    }

    private static func kind(_ name: String, _ map: ConfigNode) throws -> Kind {
        switch name {
        case "tcp": return .radio(try checked(map, name) { try RadioAddress(host: map.string("tcp") ?? "") })
        case "serial": return .radio(.serial(path: try map.string("serial") ?? "", raisesDTR: try map.bool("dtr") ?? true))
        case "mqtt": return try broker(map)
        case "udp":
            var options = UDPOptions()
            if let groups = try map.strings("udp"), groups != ["all"] { options.groups = groups }
            options.interfaces = try map.strings("interfaces")
            options.port = UInt16(try map.number("port", in: 1...65_535) ?? Int(options.port))
            return .multicast(options)
        case "recording":
            guard let path = try map.string("recording") else { throw map.error("recording", "recording needs a file or folder") }
            return .recording(path: path)
        default: return .file(path: try map.string("file") ?? "", try format(map))
        }
    }

    private static func format(_ map: ConfigNode) throws -> ImportFormat? {
        guard let text = try map.string("format") else { return nil }
        guard let format = ImportFormat(rawValue: text) else {
            let advice = KnownName.suggestion(for: text, among: ImportFormat.allCases.map(\.rawValue))
            throw map.error("format", "there is no format \(text)\(advice)")
        }
        return format
    }

    private mutating func warn(_ key: String, _ text: String, _ map: ConfigNode) { warnings.append(map.error(key, text).message) }

    private mutating func lookAtPlace(_ path: String, _ key: String, _ map: ConfigNode) {
        if !FileManager.default.fileExists(atPath: path) { warn(key, "\(path) does not exist yet", map) }
    }

    /// A file that does not exist yet is usual, its folder is not.
    private mutating func lookAtFile(_ path: String, _ map: ConfigNode) {
        if isFolder(path) {
            warn("file", "\(path) is a folder; only files can be followed", map)
        } else if isOther(path) {
            warn("file", "\(path) is not a file; only files can be followed", map)
        }
        lookAtPlace(parentFolder(of: path), "file", map)
    }

    private mutating func lookAt(_ share: ShareOptions, _ map: ConfigNode) {
        if !share.isOnlyHere, !map.has("share-allow") {
            warn(
                "share", "only programs on this computer may connect to \(share.place); share-allow names the networks that may",
                map)
        }
        let isIdle = !share.admins.allSatisfy { admins in share.allowed.contains { $0.overlaps(admins) } }
        if isIdle { warn("share-admin", "it names a network whose clients share-allow does not let connect", map) }
    }

    private mutating func look(at address: MQTTAddress, _ map: ConfigNode) throws {
        for key in Self.brokerKeys where key.hasSuffix("-file") {
            guard let path = try map.string(key) else { continue }
            if !FileManager.default.fileExists(atPath: path) { warn(key, "\(key): \(path) does not exist", map) }
            if isFolder(path) { warn(key, "\(key): \(path) is a folder", map) }
        }
        if map.has("password-file"), address.user == nil {
            warn("password-file", "a password needs a user in the address: mqtt://USER@\(address.host)", map)
        }
        guard address.password != nil else { return }
        guard !map.has("password-file") else {
            throw map.error("password-file", "the password is in the address and in password-file; give it once")
        }
        let text = "everyone who reads this file sees the password in the address; password-file keeps it elsewhere"
        warnings.append(map.error("mqtt", text).message)
    }

    /// A broker and the client id that it knows this source by.
    var client: (broker: String, id: String)? {
        guard case .broker(let options, _) = kind, let id = options.clientID else { return nil }
        return (options.address.text, id)
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
        case .broker(let options, _): "\(options.address.text)/\(options.address.topics.joined(separator: " "))"
        case .multicast(let options): "udp:\(options.port)"
        case .file(let path, _): "file:\(URL(fileURLWithPath: path).standardizedFileURL.path)"
        case .recording(let path): "recording:\(path)"
        }
    }

    /// Where it differs from the address: several sources of one broker have different topics.
    var name: String? {
        guard case .broker(let options, _) = kind, options.address.topics != [MQTTAddress.defaultTopic] else { return nil }
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
        var options = MQTTOptions(try checked(map, "mqtt") { try MQTTAddress(url) })
        options.qualityOfService = try map.number("qos", in: 0...1) == 1 ? .atLeastOnce : .atMostOnce
        options.clientID = try map.string("client-id")
        options.keepsSession = try map.bool("keep-session") ?? false
        options.keepAliveSeconds = try map.number("keep-alive", in: 5...65_535) ?? options.keepAliveSeconds
        options.certificateAuthorityFile = try map.string("ca-file")
        options.certificateFile = try map.string("cert-file")
        options.keyFile = try map.string("key-file")
        let passwordFile = try map.string("password-file")
        guard passwordFile != "-" else {
            throw map.error("password-file", "password-file names a file; a service has no standard input to read it from")
        }
        return .broker(options, passwordFile: passwordFile)
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
        case .broker(var options, let passwordFile):
            if let passwordFile { options.address.password = try BrokerPassword.read(passwordFile) }
            let name = name ?? options.address.text
            return MQTTIngest(options, into: target) { notice in
                var status = SourceStatus(name: name)
                status.state = notice.state
                report(status, notice.description)
            }
        }
    }
}

extension SourceConfig.Kind {
    /// - Throws: what the source would refuse when it starts.
    fileprivate func check() throws(IngestError) {
        switch self {
        case .broker(let options, _): try options.check()
        case .multicast(let options): try options.check()
        case .radio(let address): try address.check()
        case .file, .recording: break
        }
    }
}

extension RunConfig {
    /// The mistake that two sources together are, if they are one.
    static func clash(_ one: SourceConfig, _ other: SourceConfig) -> String? {
        if one.key == other.key { return "the source \(one.key) is there already" }
        if case .radio(let first) = one.kind, case .radio(let second) = other.kind, first.place == second.place {
            return "\(first.text) is the radio of \(other.key), which is there already; a radio has one client at a time"
        }
        if let share = one.share, let taken = other.share, share.overlaps(taken) {
            return "another radio is shared at \(taken.place) already; give this one another port"
        }
        for (radio, sharing) in [(one, other), (other, one)] {
            guard case .radio(let address) = radio.kind, sharing.share?.isPlace(of: address) == true else { continue }
            return
                "\(sharing.key) is shared at \(address.text), which is the radio of a source, too: every packet would be stored twice"
        }
        if let client = one.client, let taken = other.client, client == taken {
            return
                "the client-id \(client.id) is used at \(client.broker) already; a broker disconnects the first of two clients with one id"
        }
        return nil
    }
}
