import LMDB
import Projections
import ProtobufWire

/// A person's decisions about a node, as of the last event about it.
struct NodeMark: Sendable, Equatable {
    var isFavorite = false
    var isIgnored = false
    /// Seconds since 1970; 0 if it is not archived.
    package var archivedAt: UInt32 = 0
    var note = ""
    var alias = ""

    /// - Parameter time: when the event arrived.
    mutating func apply(_ annotation: Annotation, at time: UInt32) {
        if let isFavorite = annotation.isFavorite { self.isFavorite = isFavorite }
        if let isIgnored = annotation.isIgnored { self.isIgnored = isIgnored }
        if let isArchived = annotation.isArchived { archivedAt = isArchived ? max(annotation.time ?? time, 1) : 0 }
        annotation.note.apply(to: &note)
        annotation.alias.apply(to: &alias)
    }

    fileprivate var value: [UInt8] {
        var writer = WireWriter()
        if isFavorite { writer.bool(1, true) }
        if isIgnored { writer.bool(2, true) }
        if archivedAt != 0 { writer.fixed32(3, archivedAt) }
        if !note.isEmpty { writer.string(4, note) }
        if !alias.isEmpty { writer.string(5, alias) }
        return writer.bytes
    }

    fileprivate init(decoding value: RawSpan) throws(WireError) {
        var reader = WireReader(value)
        while let field = try reader.next() {
            switch field.number {
            case 1: isFavorite = field.asBool
            case 2: isIgnored = field.asBool
            case 3: archivedAt = field.asUInt32
            case 4: note = reader.string(field)
            case 5: alias = reader.string(field)
            default: continue
            }
        }
    }

    init() {}
}

/// The marks of all nodes. They outlive the nodes' rows: a node that was evicted and is heard again keeps its marks.
struct NodeMarks: Sendable {
    static let table = "marks"
    /// More nodes cannot be marked.
    static let most = 100_000

    private var marks: [UInt32: NodeMark] = [:]
    private var nodesByAlias: [String: UInt32] = [:]
    private var changed: Set<UInt32> = []

    var isEmpty: Bool { marks.isEmpty }
    var pendingCount: Int { changed.count }

    subscript(node: UInt32) -> NodeMark? { marks[node] }

    /// - Returns: the nodes whose marks changed, including the previous holder of the alias.
    mutating func apply(_ annotation: Annotation, to node: UInt32, at time: UInt32) -> [UInt32] {
        guard marks[node] != nil || marks.count < Self.most else { return [] }
        var mark = marks[node] ?? NodeMark()
        mark.apply(annotation, at: time)
        guard mark != marks[node] ?? NodeMark() else { return [] }
        var touched = [node]
        if let holder = nodesByAlias[mark.alias], !mark.alias.isEmpty, holder != node, var other = marks[holder] {
            other.alias = ""
            set(other, of: holder)
            touched.append(holder)
        }
        set(mark, of: node)
        return touched
    }

    private mutating func set(_ mark: NodeMark, of node: UInt32) {
        if let old = marks[node], nodesByAlias[old.alias] == node { nodesByAlias[old.alias] = nil }
        marks[node] = mark == NodeMark() ? nil : mark
        if !mark.alias.isEmpty { nodesByAlias[mark.alias] = node }
        changed.insert(node)
    }

    // MARK: Storage

    mutating func load(_ transaction: borrowing ReadTransaction, _ table: RawTable) throws(StorageError) {
        var cursor = try transaction.cursor(table)
        while try cursor.next() {
            guard cursor.key.byteCount == 4 else { continue }
            do throws(WireError) {
                let mark = try NodeMark(decoding: cursor.value)
                let node = cursor.key.bigEndianUInt32(at: 0)
                marks[node] = mark
                if !mark.alias.isEmpty { nodesByAlias[mark.alias] = node }
            } catch {
                continue  // damaged: `verify` reports the view's file
            }
        }
    }

    func write(to transaction: inout WriteTransaction, _ table: RawTable) throws(StorageError) {
        for node in changed.sorted() {
            let key = bigEndian(node)
            if let mark = marks[node] {
                try transaction.put(table, key: key.rawSpan, value: mark.value.rawSpan)
            } else {
                try transaction.delete(table, key: key.rawSpan)
            }
        }
    }

    mutating func committed() { changed.removeAll() }
}

extension NodeRow {
    mutating func take(_ mark: NodeMark) {
        (isFavorite, isIgnored, archivedAt) = (mark.isFavorite, mark.isIgnored, mark.archivedAt)
        (note, alias) = (mark.note, mark.alias)
    }
}
