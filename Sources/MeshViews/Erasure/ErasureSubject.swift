package import LMDB
package import Projections
import ProtobufWire

/// The rows that an erasure removes from the baselines of dropped events: those of a node, or of identifiable packets.
public enum ErasureSubject: Sendable, Hashable {
    case node(ErasedNode)
    case packet(ErasedPacket)

    /// Copies a view's baseline without the erased rows.
    /// - Parameters:
    ///   - tables: the view's; nil for a custom view, of whose rows none is known to be of a packet.
    ///   - events: the packet's dropped events.
    /// - Returns: whether anything was left out.
    /// - Throws: `.misuse` for a table that is not declared; nothing is erased then.
    package func leave(
        _ copy: BaselineCopy, of view: String, _ tables: [DeclaredTable]?, events: Set<UInt64>
    ) throws(StorageError) -> Bool {
        let names = try copy.original.tableNames()
        for name in names where tables?.contains(where: { $0.name == name }) == false && !ViewStore.Name.common.contains(name) {
            throw StorageError(
                .misuse, call: "it is not declared which rows of \(view)/\(name) an erasure removes", path: copy.original.path)
        }
        return try erasure(in: copy.original, tables ?? [], events).leave(copy, names, tables ?? [])
    }

    /// What `leave` would remove.
    package func removal(
        from baseline: BaselineFile, _ tables: [DeclaredTable], events: Set<UInt64>
    ) throws(StorageError) -> ErasedRows {
        let erasure = try erasure(in: baseline, tables, events)
        var erased = ErasedRows()
        for name in try baseline.tableNames() where name != ViewStore.Name.changes && name != ViewStore.Name.marks {
            let table = tables.first { $0.name == name }
            try baseline.forEach(name) { (key, value) throws(StorageError) in
                let left = erasure.left(in: name, table, key, value)
                if left == nil, table?.isState == false {
                    erased.counts[name, default: 0] += 1
                } else if !erased.hasParts {
                    erased.hasParts = left != value.asArray
                }
            }
        }
        return erased
    }

    private func erasure(
        in baseline: BaselineFile, _ tables: [DeclaredTable], _ events: Set<UInt64>
    ) throws(StorageError) -> any BaselineErasure {
        switch self {
        case .node(let node): try NodeErasure(node, baseline, tables)
        case .packet(let packet): PacketErasure(packet: packet, events: events)
        }
    }
}

/// Rows of dropped events that an erasure removes.
package struct ErasedRows: Sendable {
    /// How many, by their tables.
    package var counts: [String: UInt64] = [:]
    /// Whether parts of others go, such as what the index of events or the fold's state has of a node.
    package var hasParts = false

    package init() {}

    package mutating func add(_ other: ErasedRows) {
        counts.merge(other.counts) { $0 + $1 }
        hasParts = hasParts || other.hasParts
    }
}

/// What is left of a baseline.
protocol BaselineErasure {
    /// What is left of a row of a view's own table, nil if nothing is.
    func left(of table: DeclaredTable, _ key: RawSpan, _ value: RawSpan) -> [UInt8]?
    /// Whether single rows of a series go, so that its count has to be decreased; the counts of whole series go by their own rule.
    func shortens(_ table: DeclaredTable) -> Bool
    /// Whether a record of what the fold remembers of packets is erased.
    func isOf(_ record: RawSpan, in table: String) -> Bool
    /// Whether an entry of the fold's state is erased.
    func isOf(entry key: RawSpan) -> Bool
}

extension BaselineErasure {
    /// - Returns: whether anything was left out.
    func leave(_ copy: BaselineCopy, _ names: [String], _ tables: [DeclaredTable]) throws(StorageError) -> Bool {
        let gone = try goneRows(copy.original, names, tables)
        var isFound = false
        for name in names {
            let table = tables.first { $0.name == name }
            try copy.copy(name) { (key, value) throws(StorageError) in
                // Readers of changes start again with all rows.
                if name == ViewStore.Name.changes || name == ViewStore.Name.marks { return nil }
                var left = left(in: name, table, key, value)
                if let gone = gone[name], let count = gone.rows[key.asArray] {
                    left = left.flatMap { gone.less($0.rawSpan, count) }
                }
                isFound = isFound || left != value.asArray
                return left
            }
        }
        try copy.finish()
        return isFound
    }

    fileprivate func left(in name: String, _ table: DeclaredTable?, _ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        if let table { return left(of: table, key, value) }
        if StageState.recordSizes[name] != nil { return StageState.run(value, of: name) { !isOf($0, in: name) } }
        return name == ViewStore.Name.entries && isOf(entry: key) ? nil : value.asArray
    }

    /// Of the rows that go, how many each row that counts them has counted, by the table of these.
    private func goneRows(
        _ baseline: BaselineFile, _ names: [String], _ tables: [DeclaredTable]
    ) throws(StorageError) -> [String: GoneRows] {
        var gone: [String: GoneRows] = [:]
        for table in tables where names.contains(table.name) {
            guard let count = table.count, shortens(table) else { continue }
            var rows: [[UInt8]: UInt64] = [:]
            try baseline.forEach(table.name) { (key, value) throws(StorageError) in
                if left(of: table, key, value) == nil { rows[count.key(key), default: 0] += 1 }
            }
            gone[count.table] = GoneRows(rows: rows, less: count.less)
        }
        return gone
    }
}

/// How many of the rows that a table counts go, by its keys.
private struct GoneRows {
    let rows: [[UInt8]: UInt64]
    let less: @Sendable (RawSpan, UInt64) -> [UInt8]?
}

/// The erasure of a node in a view's baseline.
struct NodeErasure: BaselineErasure {
    let node: ErasedNode
    private let prefix: [UInt8]
    /// The sources whose radio has reported that it is the node.
    private(set) var sources: Set<UInt32> = []

    init(_ node: ErasedNode, _ baseline: BaselineFile, _ tables: [DeclaredTable]) throws(StorageError) {
        self.node = node
        prefix = bigEndian(node.number)
        for table in tables {
            guard let source = table.source else { continue }
            var found: Set<UInt32> = []
            try baseline.forEach(table.name) { (key, value) throws(StorageError) in
                if let number = source(node, key, value) { found.insert(number) }
            }
            sources.formUnion(found)
        }
    }

    func left(of table: DeclaredTable, _ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        switch table.ofNode {
        case .nothing: value.asArray
        case .key: key.starts(with: prefix) ? nil : value.asArray
        case .row(let isOf): isOf(self, key, value) ? nil : value.asArray
        case .parts(let left): left(self, key, value)
        }
    }

    func shortens(_ table: DeclaredTable) -> Bool {
        if case .key = table.ofNode { false } else { true }
    }

    /// Each record has its event's sequence, then sender and id; that of a reception then has the gateway.
    func isOf(_ record: RawSpan, in table: String) -> Bool {
        record.bigEndianUInt32(at: 8) == node.number
            || table == ViewStore.Name.receptions && record.bigEndianUInt32(at: 20) == node.number
    }

    /// The state of a node has the node's number after a byte for the kind; for sources, that byte differs.
    func isOf(entry key: RawSpan) -> Bool { key.byteCount == 5 && key.bigEndianUInt32(at: 1) == node.number }
}

/// The erasure of a packet in a view's baseline.
struct PacketErasure: BaselineErasure {
    let packet: ErasedPacket
    /// Its dropped events.
    let events: Set<UInt64>

    func isOf(_ id: UInt32, _ sender: UInt32) -> Bool { id == packet.id && sender == packet.sender ?? sender }

    func left(of table: DeclaredTable, _ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        switch table.ofPacket {
        case .nothing: value.asArray
        case .row(let isOf): isOf(self, key, value) ? nil : value.asArray
        case .parts(let left): left(self, key, value)
        }
    }

    func shortens(_ table: DeclaredTable) -> Bool {
        if case .nothing = table.ofPacket { false } else { true }
    }

    func isOf(_ record: RawSpan, in table: String) -> Bool {
        isOf(record.bigEndianUInt32(at: 12), record.bigEndianUInt32(at: 8))
    }

    func isOf(entry key: RawSpan) -> Bool { false }
}
