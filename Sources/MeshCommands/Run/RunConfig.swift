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
    private(set) var warnings: [String] = []

    private static let keys = ["ledger", "log", "sources", "retention", "sealing", "backup"]
    private static let sizeLimit = 1 << 20

    /// - Parameter file: `-` for standard input.
    /// - Throws: `CommandError` with the mistakes and their lines: the first of each source and of each other part.
    init(file: String) throws {
        let data =
            try file == "-"
            ? FileHandle.standardInput.read(upToCount: Self.sizeLimit + 1) ?? Data()
            : NamedFile.read(file, upTo: Self.sizeLimit + 1)
        guard data.count <= Self.sizeLimit else {
            throw CommandError(.badData, "\(file) is larger than 1 MiB; is it a configuration?")
        }
        let mark = Data([0xef, 0xbb, 0xbf])  // as some editors begin files
        guard let text = String(validating: data.starts(with: mark) ? data.dropFirst(mark.count) : data, as: UTF8.self) else {
            let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw ConfigNode.error(file, line + 1, "this line is not UTF-8; save the file in that encoding")
        }
        try self.init(text: text, file: file)
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
        var mistakes: [CommandError] = []
        let map = try ConfigNode(root, keys: Self.keys, what: "a configuration", file: file) { mistakes.append($0) }
        func read(_ part: () throws -> Void) throws {
            do {
                try part()
            } catch let mistake as CommandError {
                mistakes.append(mistake)
            }
        }
        try read { try readLedger(map) }
        try read { try readLog(map) }
        try read {
            let nodes = try map.list("sources")
            guard !nodes.isEmpty || !mistakes.isEmpty else {
                throw map.error("sources", "it has no sources: there is nothing to run")
            }
            for node in nodes { try read { try add(try SourceConfig(node, file: file), at: node, of: file) } }
        }
        try read { try readRetention(map) }
        try read { try readSealing(map) }
        try read { try readBackup(map) }
        try ConfigNode.throwAll(mistakes)
    }

    private mutating func add(_ source: SourceConfig, at node: Node, of file: String) throws {
        if let clash = sources.lazy.compactMap({ Self.clash(source, $0) }).first {
            throw ConfigNode.error(file, node.mark?.line ?? 1, clash)
        }
        warnings += source.warnings
        sources.append(source)
    }

    private mutating func readLedger(_ map: ConfigNode) throws {
        ledger = try map.string("ledger")
        if let ledger, FileManager.default.fileExists(atPath: ledger), !isFolder(ledger) {
            throw map.error("ledger", "\(ledger) is a file; a ledger is a folder")
        }
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
        if let ledger, BackupPlace.isInside(folder, ledger) { throw node.error("to", BackupPlace.text(ledger)) }
        let above = parentFolder(of: folder)
        if !FileManager.default.fileExists(atPath: above) {
            warnings.append(node.error("to", "backup: \(above) does not exist; is its disk mounted? It will be made").message)
        }
        backup = Backup(folder: folder, everySeconds: try node.duration("every") ?? 86_400)
    }

    /// `3 sources`.
    var sourcesText: String { sources.count.counted("source") }

    /// Whether a running process can apply the whole difference, which is so for sources and retention.
    func differsInSourcesOnly(from other: RunConfig) -> Bool {
        ledger == other.ledger && logFormat == other.logFormat && sealing == other.sealing && backup == other.backup
    }

    private static func error(_ error: YamlError, _ file: String) -> CommandError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            ConfigNode.error(
                file, mark.line,
                "this is not YAML: \(problem)\(problem.contains("cannot start any token") ? "; indent with spaces, not tabs" : "")"
            )
        case .reader(let problem, let offset, _, let yaml):
            ConfigNode.error(
                file, yaml.utf8.prefix(offset ?? 0).count { $0 == UInt8(ascii: "\n") } + 1, "this is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            ConfigNode.error(file, context.mark.line, "a key is there twice: \(names.sorted().joined(separator: ", "))")
        default: CommandError(.badData, "\(file): this is not YAML: \("\(error)".replacing("\n", with: " "))")
        }
    }
}
