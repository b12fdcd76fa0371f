import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// Where the rows of one series (a node's positions, a node's metrics of one kind) are read.
struct SeriesSource {
    var store: ViewStore
    /// Rows of later events are not there yet.
    var last: UInt64
}

/// A view whose rows never change and only go when a series has too many of them, or for the next one.
struct SeriesView {
    var name: String
    /// What its packets have in common.
    var port: UInt32
    var cap: Int
    /// Lower or higher ones of chosen nodes. Favorites have no lower ones than without.
    var capOfNode: [UInt32: Int]
    /// Whether a row may go for the next one.
    var isThinned = false
    /// The number of bytes in front of a row's time.
    var prefixLength: Int

    static func positions(_ caps: ViewCaps) -> SeriesView {
        SeriesView(
            name: "positions", port: Port.position, cap: caps.positions, capOfNode: caps.ofNode.compactMapValues(\.positions),
            isThinned: caps.thinsPositions, prefixLength: 4)
    }

    static func telemetry(_ caps: ViewCaps) -> SeriesView {
        SeriesView(
            name: "telemetry", port: Port.telemetry, cap: caps.telemetry, capOfNode: caps.ofNode.compactMapValues(\.telemetry),
            prefixLength: 5)
    }
}

extension Ledger {
    /// Reads a series of one node.
    ///
    /// As of an event, the rows of today's view that came of no later one are all there were, as long as none has gone. Where one may have, the node's own
    /// events are folded again.
    /// - Parameter today: the view as it is now, where this ledger is.
    func reading<Result>(
        _ view: SeriesView, of node: UInt32, _ today: ViewStore, _ body: (SeriesSource) throws(StorageError) -> Result
    ) throws(LedgerError) -> Result {
        do throws(StorageError) {
            let result = try body(SeriesSource(store: today, last: past?.through ?? .max))
            // Asked for afterwards: what goes meanwhile is noticed.
            guard past != nil, try today.hasLost(view, node) else { return result }
        } catch {
            throw LedgerError(error, path: path)
        }
        guard let past else { return try reading(view, of: node, today, body) }
        let store = try past.store(of: view, node)
        do throws(StorageError) {
            return try body(SeriesSource(store: store, last: past.through))
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Today's view, which has perhaps more nodes than there were then; where it cannot tell of then, the view of then.
    func today(_ view: SeriesView) throws(LedgerError) -> ViewStore {
        guard let past, let store = try past.current(view.name) else { return try store(of: view.name) }
        return store
    }
}

extension PastViews {
    /// Today's view, where it has come as far as the event and is of today's recipe.
    func current(_ view: String) throws(LedgerError) -> ViewStore? {
        let definition = try whole.definition(view)
        let current = whole.served.folder(view).current()
        guard current.map({ $0.prefix { $0 != "." } == definition.recipe.identifier }) ?? false,
            try whole.isBuilt(definition), try !whole.viewsHoldErased()
        else { return nil }
        let store = try whole.store(of: view)
        do throws(StorageError) {
            return try store.checkpoint().sequence >= through ? store : nil
        } catch {
            throw LedgerError(error, path: whole.path)
        }
    }

    /// The rows of one node, made of its events alone, which the index names.
    func store(of view: SeriesView, _ node: UInt32) throws(LedgerError) -> ViewStore {
        let definition = try whole.definition(view.name)
        guard try current("packets") != nil, let today = try current(view.name) else { return try store(definition) }
        return try store(named: "\(view.name) of \(node)") { place in
            let store = try ViewBaselines(log: self.whole.log).store(definition, at: place)
            do {
                var wanted = EventSelection(node: node, roles: .sender, port: view.port)
                wanted.onlyFirstReadable = true
                let cut = try store.checkpoint().sequence
                guard cut < self.through else { return store }
                let range = EventSequence(cut + 1)...EventSequence(self.through)
                let changes = try FavoriteCaps.changes(of: node, in: today).filter { $0 > cut && $0 <= self.through }
                let events = try (self.whole.sequences(of: wanted, in: range) + changes.map { EventSequence($0) }).sorted()
                let state = try today.carry()
                for start in Swift.stride(from: 0, to: events.count, by: 4_096) {
                    let part = events[start..<min(start + 4_096, events.count)]
                    try definition.replayBatch(store, try self.stage.decodeFirstReadable(Array(part), knowing: state))
                }
                return store
            } catch {
                store.close()
                throw error
            }
        }
    }
}

extension ViewStore {
    /// Whether rows of the node may have gone.
    fileprivate func hasLost(_ view: SeriesView, _ node: UInt32) throws(StorageError) -> Bool {
        if view.isThinned { return true }
        let cap = UInt64(max(view.capOfNode[node] ?? view.cap, 1))
        let transaction = try environment.beginRead()
        var cursor = try transaction.cursor(table("counts"))
        let prefix = bigEndian(node)
        var isThere = try cursor.seek(atOrAfter: prefix.rawSpan)
        while isThere, cursor.key.starts(with: prefix) {
            if cursor.value.bigEndianUInt64(at: 0) >= cap { return true }
            isThere = try cursor.next()
        }
        return false
    }
}
