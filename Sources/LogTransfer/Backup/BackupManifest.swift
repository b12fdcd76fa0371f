internal import EventLog
internal import Foundation
internal import MeshCrypto
internal import ProtobufWire

/// The list of a backup's contents, as `RECORDING.md` describes it.
struct BackupManifest: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        var first: UInt64
        var count: UInt64
        var bytes: Int
        /// SHA-256 of the file, as hexadecimal digits.
        var hash: String
        /// The root of the tree over its events.
        var root: String

        var last: UInt64 { first &+ count &- 1 }

        /// The file's name: the sequence with leading zeros, so that names sort as sequences do.
        var name: String {
            let number = String(first)
            return String(repeating: "0", count: max(0, 20 - number.count)) + number + "-" + hash.prefix(16)
        }
    }

    /// A cut of the log, at which a restored log can begin.
    struct Cut: Sendable, Equatable {
        /// The last dropped event.
        var last: UInt64
        /// The event that records the cut.
        var event: UInt64
        /// The checksum of the last dropped event's record.
        var checksum: UInt64
    }

    /// A file that is not a recording.
    struct File: Sendable, Equatable {
        /// Its path in the ledger's folder; below `dropped`, the kind of its contents.
        var path: String
        var bytes: Int
        /// SHA-256 as hexadecimal digits: its name in the backup.
        var hash: String
    }

    var ledger: String
    var created: Timestamp
    /// The time of the run.
    var time: Timestamp
    var size: UInt64
    /// The root of the log's tree, as hexadecimal digits.
    var root: String
    /// No part contains bytes that erasures up to this event removed.
    var erasedThrough: UInt64
    /// In the order of their events; all but the last are full.
    var parts: [Part] = []
    /// In the order of their events. The last one is the log's.
    var cuts: [Cut] = []
    var files: [File] = []
    /// Views whose baselines of the last cut were missing or damaged in the log.
    var missingBaselines: [String] = []

    func file(_ path: String) -> File? { files.first { $0.path == path } }

    var text: String {
        var lines = [
            "meshledger backup 2", "ledger \(ledger)", "created \(created.microseconds)", "time \(time.microseconds)",
            "size \(size)", "root \(root)", "erased-through \(erasedThrough)",
        ]
        lines += cuts.map { "cut \($0.last) \($0.event) \($0.checksum)" }
        lines += missingBaselines.map { "no-baseline \($0)" }
        lines += files.map { "file \($0.path) \($0.bytes) \($0.hash)" }
        lines += parts.map { "part \($0.first) \($0.count) \($0.bytes) \($0.hash) \($0.root)" }
        let body = lines.joined(separator: "\n") + "\n"
        return body + "sha256 \(Hexadecimal.text(SHA256.hash(Array(body.utf8))))\n"
    }

    init(ledger: String, created: Timestamp, time: Timestamp, size: UInt64, root: String, erasedThrough: UInt64) {
        self.ledger = ledger
        self.created = created
        self.time = time
        self.size = size
        self.root = root
        self.erasedThrough = erasedThrough
    }

    /// - Throws: `.notABackup`, `.newerFormat`, `.corrupt`.
    init(_ text: String, path: String) throws(EventLogError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.first, start.hasPrefix("meshledger backup ") else { throw EventLogError(.notABackup, path: path) }
        guard ["meshledger backup 1", "meshledger backup 2"].contains(start) else {
            throw EventLogError(.newerFormat, path: path, detail: String(start))
        }
        guard let end = text.range(of: "\nsha256 ", options: .backwards),
            text[end.upperBound...] == Hexadecimal.text(SHA256.hash(Array((text[..<end.lowerBound] + "\n").utf8))) + "\n",
            let manifest = Self.read(lines)
        else { throw EventLogError(.corrupt, path: path, detail: "the backup's list is damaged") }
        self = manifest
    }

    private static func read(_ lines: [Substring]) -> BackupManifest? {
        var words: [Substring: [Substring]] = [:]
        var (parts, cuts, files, missing): ([Part], [Cut], [File], [String]) = ([], [], [], [])
        var next: UInt64?
        for line in lines.dropFirst() {
            let fields = line.split(separator: " ")
            guard let name = fields.first else { continue }
            words[name] = Array(fields.dropFirst())
            if name == "cut" {
                guard let cut = Cut(fields), cut.last > cuts.last?.last ?? 0 else { return nil }
                cuts.append(cut)
            } else if name == "file" {
                guard let file = File(fields) else { return nil }
                files.append(file)
            } else if name == "no-baseline" {
                missing += fields.dropFirst().map(String.init)
            }
            guard name == "part" else { continue }
            guard fields.count == 6, let first = UInt64(fields[1]), let count = UInt64(fields[2]), let bytes = Int(fields[3]),
                fields[4].count == 64, first > 0, count <= 1 << 40, first == next ?? first, first < 1 << 60
            else { return nil }
            next = first + count
            parts.append(Part(first: first, count: count, bytes: bytes, hash: String(fields[4]), root: String(fields[5])))
        }
        func number<N: FixedWidthInteger>(_ name: Substring) -> N? { words[name]?.first.flatMap { N($0) } }
        guard let ledger = words["ledger"]?.first, let created: Int64 = number("created"), let time: Int64 = number("time"),
            let size: UInt64 = number("size"), let root = words["root"]?.first, let erased: UInt64 = number("erased-through"),
            let end = next, size == end - 1, let first = parts.first?.first,
            first == 1 || cuts.contains(where: { $0.last == first - 1 })
        else { return nil }
        var manifest = BackupManifest(
            ledger: String(ledger), created: Timestamp(microseconds: created), time: Timestamp(microseconds: time), size: size,
            root: String(root), erasedThrough: erased)
        (manifest.parts, manifest.cuts, manifest.files, manifest.missingBaselines) = (parts, cuts, files, missing)
        return manifest
    }

    static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: 64, by: 2) {
            guard let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// The root that follows from those of the parts, each full one of which is a subtree.
    var rootOfParts: [UInt8]? {
        var roots: [SHA256Digest] = []
        for part in parts where part.count > 0 {
            let isFull = part.count == BackupRun.partSize || part.last == size
            guard part.first % BackupRun.partSize == 1, isFull else { return nil }
            guard let bytes = Self.bytes(part.root), let root = SHA256Digest(bytes.span.rawBytes) else { return nil }
            roots.append(root)
        }
        var hasher = MerkleHasher()
        return hasher.root(roots).bytes
    }
}

extension BackupManifest.Cut {
    fileprivate init?(_ fields: [Substring]) {
        guard fields.count == 4, let last = UInt64(fields[1]), let event = UInt64(fields[2]), let checksum = UInt64(fields[3]),
            last > 0, last < 1 << 60, last % LogStore.tileSize == 0
        else { return nil }
        self.init(last: last, event: event, checksum: checksum)
    }
}

extension BackupManifest.File {
    fileprivate init?(_ fields: [Substring]) {
        guard fields.count == 4, Self.isPlain(fields[1]), let bytes = Int(fields[2]), bytes >= 0,
            BackupManifest.bytes(String(fields[3])) != nil
        else { return nil }
        self.init(path: String(fields[1]), bytes: bytes, hash: String(fields[3]))
    }

    /// Whether a path, which may come from an untrusted manifest, stays inside the folder that it is relative to.
    static func isPlain(_ path: Substring) -> Bool {
        path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { name in
            !name.isEmpty && !name.hasPrefix(".")
                && name.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                        true
                    default: false
                    }
                }
        }
    }
}
