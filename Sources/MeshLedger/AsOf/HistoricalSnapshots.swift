import EventLog
import Foundation
import LMDB
import MeshViews
import Projections
import Synchronization

/// Copies of a view's earlier states, in `views/NAME/past`, from which a state in between is reached without folding the whole history.
///
/// They are one, two, four, … times a minimum distance apart, at most sixteen per view: see `HistoricalPolicy`. An erasure or a change of the recipe
/// removes them: their names contain the recipe, and the last erasure that they take into account.
struct HistoricalSnapshots: Sendable {
    /// The size in bytes beyond which a view is too large for sixteen copies.
    static let largestSize = 64 << 20
    /// In seconds: writing a copy takes less time than this.
    private static let longestCopy = 600

    private let folder: String
    private let log: EventLog
    private let mark: UInt64
    private let definition: ViewDefinition
    private let policy: HistoricalPolicy
    private var mayWrite: Bool { policy.keepsCopies }

    init(_ definition: ViewDefinition, _ served: ServedViews, _ log: EventLog, _ policy: HistoricalPolicy) throws {
        folder = served.folder(definition.name).path + "/past"
        self.log = log
        mark = try log.lastErasure()?.rawValue ?? 0
        self.definition = definition
        self.policy = policy
    }

    init(_ definition: ViewDefinition, of ledger: Ledger) throws {
        let policy = HistoricalPolicy(ledger.options, isReadOnly: ledger.isReadOnly)
        try self.init(definition, ledger.served, ledger.log, policy)
    }

    private var prefix: String { "\(definition.recipe.identifier)-\(mark)-" }

    /// The events after which to make copies, up to an event.
    func places(through last: UInt64) -> [UInt64] { policy.places(through: last, ofLogThrough: log.head.rawValue) }

    private func sequences() -> [UInt64] {
        names().filter { $0.hasPrefix(prefix) }.compactMap { UInt64($0.dropFirst(prefix.count)) }
    }

    /// What is in the folder, unless a link has its place: what that leads to is not ours.
    private func names() -> [String] {
        guard (try? OwnedFile.requireFolder(folder)) != nil else { return [] }  // the answer does without copies
        return (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // no copies yet
    }

    /// Whether it is a plain file with the name of a copy.
    private func isCopy(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        let isNamed =
            parts.count == 4 && name.hasPrefix("v") && UInt64(parts[2]) != nil && UInt64(parts[3]) != nil
            || name.hasPrefix("new-") && UUID(uuidString: String(name.dropFirst(4))) != nil
        return isNamed && (try? OwnedFile.require(folder + "/" + name)) != nil  // foreign files stay
    }

    private func file(_ sequence: UInt64) -> String { "\(folder)/\(prefix)\(sequence)" }

    /// A store at `path`, which does not exist yet, made from the last usable copy up to an event; nil if there is none.
    func store(at path: String, through last: UInt64) throws -> ViewStore? {
        let cut = log.first.rawValue - 1
        for sequence in sequences().filter({ $0 <= last && $0 >= cut }).sorted(by: >) {
            guard (try? OwnedFile.require(file(sequence))) != nil else { continue }  // removed, or not one of our copies
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try FileManager.default.copyItem(atPath: file(sequence), toPath: path + "/data.mdb")
            do throws(StorageError) {
                let store = try ViewStore.open(
                    at: path, recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes,
                    access: .readWrite)
                let checkpoint = try store.checkpoint()
                if checkpoint.sequence == sequence, try isOfLog(checkpoint) { return store }
                store.close()
            } catch {
                guard [.corrupt, .otherVersion, .missing, .malformedValue].contains(error.code) else { throw error }
            }
            // Damaged, or with events that the log has lost.
            try FileManager.default.removeItem(atPath: path)
            if mayWrite { try? OwnedFile.remove(file(sequence)) }  // the next one is tried
        }
        return nil
    }

    private func isOfLog(_ checkpoint: Checkpoint) throws(StorageError) -> Bool {
        do throws(EventLogError) {
            return try log.checksum(of: EventSequence(checkpoint.sequence)) == checkpoint.checksum
        } catch {
            return false
        }
    }

    /// Keeps a copy of the store's file, which must not be written to. If that fails, the request for the state still succeeds.
    func keep(_ store: ViewStore, at sequence: UInt64) {
        guard mayWrite else { return }
        let unfinished = folder + "/new-" + UUID().uuidString
        do {
            guard try log.lastErasure()?.rawValue ?? 0 == mark else { return }  // it may contain what was erased meanwhile
            guard try store.environment.info().usedSize <= Self.largestSize, !sequences().contains(sequence) else { return }
            try OwnedFile.requireFolder(folder)
            try OwnedFile.makeFolders(folder, mode: .likeFolder)
            try store.environment.copyData(to: unfinished)
            try OwnedFile.move(unfinished, to: file(sequence))
            // It contains data that was erased meanwhile.
            if try log.lastErasure()?.rawValue ?? 0 != mark { try OwnedFile.remove(file(sequence)) }
        } catch {
            try? OwnedFile.remove(unfinished)  // not reported: the state is there anyway
        }
    }

    /// Whether another process may be writing the copy; a killed process leaves it.
    private func isBeingMade(_ name: String) -> Bool {
        var status = stat()
        guard name.hasPrefix("new-"), unsafe lstat(folder + "/" + name, &status) == 0 else { return false }
        return abs(time(nil) - status.st_mtim.tv_sec) < Self.longestCopy
    }

    /// Removes copies of other recipes or from before an erasure, and those that are too close together now that the log is longer.
    func prune() {
        guard mayWrite else { return }
        let places = Set(places(through: log.head.rawValue).map { "\(prefix)\($0)" })
        for name in names() where !places.contains(name) && isCopy(name) && !isBeingMade(name) {
            try? OwnedFile.remove(folder + "/" + name)  // retried with the next query
        }
    }
}
