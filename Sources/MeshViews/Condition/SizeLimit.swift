import EventLog
import Foundation

/// The most bytes that a ledger's log and views may take together, as it is kept in the ledger. Without one only the disk limits them.
public struct SizeLimit: Sendable, Equatable {
    public var bytes: Int?

    public init(bytes: Int? = nil) { self.bytes = bytes }

    static func path(in ledger: String) -> String { ledger + "/limit" }

    public static func load(from ledger: String) throws(LedgerError) -> SizeLimit {
        let path = path(in: ledger)
        guard let data = FileManager.default.contents(atPath: path) else {
            guard FileManager.default.fileExists(atPath: path) else { return SizeLimit() }
            throw LedgerError(.permission, path: path, "\(path) cannot be read; check its mode")
        }
        let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == "size-bytes", let bytes = Int(words[1]), bytes > 0 else {
            throw LedgerError(.corrupt, path: path, "\(path) is no size limit; set it again with `meshledger limit`")
        }
        return SizeLimit(bytes: bytes)
    }

    /// Replaced in one step; beside a running writer, too, which takes it up within seconds.
    public func save(in ledger: String) throws(LedgerError) {
        let path = Self.path(in: ledger)
        do {
            guard let bytes else {
                if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
                return
            }
            try Data("size-bytes \(bytes)\n".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            throw LedgerError(.storage, path: path, "the size limit could not be stored in \(path): \(error)", underlying: error)
        }
    }
}
