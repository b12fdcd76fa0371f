import EventLog
import Foundation
import LMDB

/// The file `views/erased`: the last erasure of the log that the views take into account. Views that were built before a later erasure contain
/// erased data.
struct ErasedViews: Sendable {
    private let ledger: String
    private var folder: String { ledger + "/views" }
    private var file: String { folder + "/erased" }

    init(ledger: String) { self.ledger = ledger }

    /// Whether there are views from before the log's last erasure.
    func areStale(_ log: EventLog) throws(EventLogError) -> Bool {
        guard let last = try log.lastErasure() else { return false }
        return try known() < last.rawValue && FileManager.default.fileExists(atPath: folder)
    }

    /// Removes all views.
    func removeAll() throws {
        if FileManager.default.fileExists(atPath: folder) {
            // First renamed as a whole: otherwise a process that opens a view now would put files into the folder that is being removed.
            try LedgerError.wrapping(folder) { try OwnedFile.move(folder, to: ledger + "/" + Self.removed + UUID().uuidString) }
            try OwnedFile.syncFolder(ledger)
        }
        try removeLeftovers()
    }

    /// The prefix of removed views' names until they are deleted.
    private static let removed = "views-removed-"

    private func removeLeftovers() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: ledger).filter { $0.hasPrefix(Self.removed) }
        guard !names.isEmpty else { return }
        for name in names { try OwnedFile.removeAll(ledger + "/" + name) }
        try OwnedFile.syncFolder(ledger)
    }

    /// Removes views from before the log's last erasure, including half-built ones and those of old recipes.
    func removeStale(_ log: EventLog) throws {
        try removeLeftovers()
        guard let last = try log.lastErasure(), try known() < last.rawValue else { return }
        try removeAll()
        try OwnedFile.makeFolder(folder, mode: .likeFolder)
        try CheckedText.replace(file, with: "\(last.rawValue)\n")
        try OwnedFile.syncFolder(folder)
        try OwnedFile.syncFolder(ledger)
    }

    /// The last erasure that the views take into account: 0 if the mark is missing or damaged, so that the views are rebuilt. A mark that cannot be opened shows nothing about them.
    func known() throws(EventLogError) -> UInt64 {
        do throws(EventLogError) {
            return UInt64((try CheckedText.read(file) ?? "").trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        } catch {
            guard error.code == .corrupt else { throw error }
            return 0
        }
    }
}
