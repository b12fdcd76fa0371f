import EventLog
package import LMDB
package import Projections
import ProtobufWire

/// The caps of a series view: for all nodes, for chosen ones, and for favorites; and which nodes are favorites.
package struct FavoriteCaps: Sendable {
    /// Key: the node. Value: the sequences of the events that made it a favorite and reverted that, alternating, 8 bytes each.
    static let table = "favorites"
    static let declaration = DeclaredTable.state(table, ofNode: .key, ofPacket: .nothing)

    let cap: Int
    let ofNode: [UInt32: Int]
    /// Nil if favorites keep as many rows as others.
    let ofFavorites: Int?
    private var changes: [UInt32: [UInt64]] = [:]
    private var unwritten: Set<UInt32> = []

    init(_ caps: ViewCaps, _ cap: Int, _ ofNode: (NodeCaps) -> Int?) {
        self.cap = cap
        self.ofNode = caps.ofNode.compactMapValues(ofNode)
        ofFavorites = ofNode(caps.favorites)
    }

    /// The text in the recipe.
    var text: String { ViewCaps.text(ofNode) + (ofFavorites.map { ";favorites=\($0)" } ?? "") }

    /// Nil if it is the cap of all nodes.
    private func cap(of node: UInt32, isFavorite: Bool) -> Int? {
        guard isFavorite, let ofFavorites else { return ofNode[node] }
        return max(ofFavorites, ofNode[node] ?? cap)
    }

    private func isFavorite(_ node: UInt32) -> Bool { !(changes[node] ?? []).count.isMultiple(of: 2) }

    /// A change of a node's cap, from an event of a batch on.
    struct Change {
        /// The event's index in the batch.
        let index: Int
        let node: UInt32
        /// Nil for the cap of all nodes.
        let cap: Int?
    }

    /// Applies the changes of favorites in a batch. The view folds the events before each change under the previous caps.
    mutating func changes(in batch: MeshBatch, after checkpoint: EventSequence) -> [Change] {
        guard ofFavorites != nil, !batch.annotations.isEmpty else { return [] }
        return batch.annotations.compactMap { event in
            let sequence = batch.stamps[event.index].sequence
            return sequence > checkpoint.rawValue ? change(by: event, at: sequence) : nil
        }
    }

    private mutating func change(by event: AnnotationEvent, at sequence: UInt64) -> Change? {
        guard let annotation = event.annotation, case .node(let node) = annotation.subject,
            let isFavorite = annotation.isFavorite, isFavorite != self.isFavorite(node),
            changes[node] != nil || changes.count < NodeMarks.most
        else { return nil }
        changes[node, default: []].append(sequence)
        unwritten.insert(node)
        return Change(index: event.index, node: node, cap: cap(of: node, isFavorite: isFavorite))
    }

    /// - Returns: the caps of nodes that are favorites.
    mutating func load(_ store: ViewStore) throws(StorageError) -> [UInt32: Int] {
        changes = [:]
        guard ofFavorites != nil else { return [:] }
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(Self.table))
        while try cursor.next() {
            guard cursor.key.byteCount == 4 else { continue }
            changes[cursor.key.bigEndianUInt32(at: 0)] = Self.sequences(cursor.value)
        }
        return changes.keys.filter(isFavorite).reduce(into: [:]) { $0[$1] = cap(of: $1, isFavorite: true) }
    }

    func write(to transaction: inout WriteTransaction, _ store: ViewStore) throws(StorageError) {
        guard !unwritten.isEmpty else { return }
        let table = try store.table(Self.table)
        for node in unwritten.sorted() {
            let value = (changes[node] ?? []).flatMap { bigEndian($0) }
            try transaction.put(table, key: bigEndian(node).rawSpan, value: value.rawSpan)
        }
    }

    mutating func committed() { unwritten.removeAll() }

    /// The events that, according to a store, made the node a favorite or reverted that.
    package static func changes(of node: UInt32, in store: ViewStore) throws(StorageError) -> [UInt64] {
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table(table), bigEndian(node).rawSpan) else { return [] }
        return sequences(value)
    }

    private static func sequences(_ value: RawSpan) -> [UInt64] {
        stride(from: 0, through: value.byteCount - 8, by: 8).map { value.bigEndianUInt64(at: $0) }
    }
}
