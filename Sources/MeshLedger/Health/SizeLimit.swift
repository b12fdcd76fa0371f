import EventLog
import Foundation
import LMDB

/// The most bytes that a ledger's log and views may take together, as stored in the ledger. Without a limit, only the disk bounds them.
public struct SizeLimit: Sendable, Equatable {
    public var bytes: Int?

    public init(bytes: Int? = nil) { self.bytes = bytes }

    static func path(in ledger: String) -> String { ledger + "/limit" }

    /// The limit that is stored in the ledger; none if it was never set.
    /// - Throws: `.corrupt` if the stored limit is damaged.
    public static func load(from ledger: String) throws(LedgerError) -> SizeLimit {
        let path = path(in: ledger)
        func damaged() -> LedgerError {
            LedgerError(.corrupt, path: path, "\(path) is not a size limit; set it again with `meshledger storage limit`")
        }
        let text: String
        do throws(EventLogError) {
            guard let found = try CheckedText.readWhole(path) else { return SizeLimit() }
            text = found
        } catch {
            throw error.code == .corrupt ? damaged() : LedgerError(error)
        }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == "size-bytes", let bytes = Int(words[1]), bytes > 0 else {
            throw damaged()
        }
        return SizeLimit(bytes: bytes)
    }

    /// Replaced in one step, even beside a running writer, which applies it within seconds.
    /// - Throws: `.query` for a limit below 1, and errors of the disk.
    public func save(in ledger: String) throws(LedgerError) {
        let path = Self.path(in: ledger)
        guard bytes ?? 1 > 0 else { throw LedgerError(.query, path: path, "a size limit is at least 1 byte; nil is no limit") }
        do {
            guard let bytes else {
                return try OwnedFile.remove(path)
            }
            try CheckedText.replace(path, with: "size-bytes \(bytes)\n")
        } catch {
            throw LedgerError(error, path: path)
        }
    }
}
