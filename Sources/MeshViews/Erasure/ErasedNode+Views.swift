import LMDB
import Meshtastic
import Projections
import ProtobufWire
import ViewQuery

extension ErasedNode {
    /// Views whose rows can each be assigned to a node.
    static var views: Set<String> { Set(own.keys) }

    /// Tables whose rows belong to no single node. A table that is neither listed here nor handled below is refused, so that data to be erased is not kept
    /// by oversight.
    private static let others: [String: Set<String>] = [
        "": ["meta", "quarantine"], "messages": ["channels", ArchiveFlag.table],
        "nodes": ["channels", ArchiveFlag.table], "packets": [HeardTimes.table], ArchivedRow.view: [DecisionsView.firstTable],
    ]

    /// Rows whose declarations say which node they belong to, by view and table.
    private static let declared: [String: any DeclaredRow.Type] = {
        var declared: [String: any DeclaredRow.Type] = [
            "nodehistory/identities": NodeIdentity.self, "nodehistory/radio_nodes": RadioNode.self,
        ]
        for row in ViewRegistry.rows {
            if let type = row as? any DeclaredRow.Type, type.namesNodes { declared["\(row.view)/\(row.table)"] = type }
        }
        return declared
    }()

    /// Whether it is known which rows of a view's table belong to a node.
    static func isDeclared(_ table: String, of view: String) -> Bool {
        declared["\(view)/\(table)"] != nil || others[""]?.contains(table) ?? false || others[view]?.contains(table) ?? false
            || own[view]?.contains(table) ?? false
            || ViewStore.Name.all.contains(table) || [ViewStore.Name.changes, ViewStore.Name.marks].contains(table)
    }

    /// Tables whose rows `leave` assigns to nodes.
    private static let own: [String: Set<String>] = [
        "nodes": ["nodes", NodeMarks.table], "positions": ["positions", "counts", FavoriteCaps.table],
        "telemetry": ["telemetry", "counts", "unknown_telemetry", "unknown_counts", FavoriteCaps.table],
        "messages": ["messages", "counts", "packets", "waiting"], "waypoints": [],
        "traceroutes": ["places"], "links": [], "gateways": [],
        "mapreports": [], "sensors": ["sensors", "counts", FavoriteCaps.table],
        "nodehistory": ["nodehistory", "counts", "identities", "radio_nodes"],
        "radios": ["radios", "counts", "last"],
        "packets": ["packets"], ArchivedRow.view: [ArchivedRow.table, ReferenceRow.table],
    ]

    /// Copies a view's baseline without the node's data.
    /// - Throws: `.misuse` for a table that is not declared; nothing is erased then.
    func leave(_ copy: BaselineCopy, of view: String) throws(StorageError) {
        for table in try copy.tableNames() where !Self.isDeclared(table, of: view) {
            throw StorageError(.misuse, call: "it is not declared which rows of \(view)/\(table) are of a node", path: copy.path)
        }
        var gone: [[UInt8]: UInt64] = [:]
        if view == "messages" {
            try copy.forEach("messages") { (key, value) throws(StorageError) in
                if isOfNode(message: key, value) { gone[Array(key.asArray.prefix(9)), default: 0] += 1 }
            }
        }
        let prefix = bigEndian(number)
        let sources = view == "radios" ? try ownSources(copy) : []
        for name in try copy.tableNames() {
            let type = Self.declared["\(view)/\(name)"]
            try copy.copy(name) { (key, value) throws(StorageError) in
                switch (view, name) {
                case (_, ViewStore.Name.changes), (_, ViewStore.Name.marks): nil  // readers start again with all rows
                case (_, ViewStore.Name.entries): isEntry(key, prefix) ? nil : value.asArray
                case ("messages", "messages"): isOfNode(message: key, value) ? nil : value.asArray
                case ("messages", "counts"): less(value, by: gone[key.asArray] ?? 0)
                case ("messages", "packets"), ("messages", "waiting"), ("nodes", "nodes"), ("nodes", "marks"),
                    ("positions", "positions"), ("positions", "counts"), ("positions", FavoriteCaps.table),
                    ("telemetry", "telemetry"), ("telemetry", "counts"), ("telemetry", FavoriteCaps.table),
                    ("telemetry", "unknown_telemetry"), ("telemetry", "unknown_counts"), ("sensors", "sensors"),
                    ("sensors", "counts"), ("sensors", FavoriteCaps.table), ("nodehistory", "nodehistory"),
                    ("nodehistory", "counts"):
                    key.starts(with: prefix) ? nil : value.asArray
                case ("radios", "radios"), ("radios", "counts"):
                    sources.contains(key.bigEndianUInt32(at: 0)) ? nil : value.asArray
                // Eight bytes, of which the first is 0; the source follows it.
                case ("radios", "last"): sources.contains(key.bigEndianUInt32(at: 1)) ? nil : value.asArray
                case ("traceroutes", "traceroutes"): withoutPlace(key, value)
                case ("traceroutes", "places"): key.starts(with: prefix) ? nil : value.asArray
                case ("packets", "packets"): indexBlock(key, value)
                case (_, _) where StageState.recordSizes[name] != nil: withoutRecords(value, of: name)
                case (ArchivedRow.view, ArchivedRow.table):
                    ArchivedRow(key: key, value: value)?.nodes.contains(number) ?? true ? nil : value.asArray
                case (ReferenceRow.view, ReferenceRow.table):
                    ReferenceRow(key: key, value: value)?.nodes.contains(number) ?? true ? nil : value.asArray
                case (_, _) where type != nil: type.map { isOfNode($0, key, value) } ?? true ? nil : value.asArray
                default:
                    Self.others[""]?.contains(name) ?? false || Self.others[view]?.contains(name) ?? false ? value.asArray : nil
                }
            }
        }
        try copy.finish()
    }

    /// The sources whose radio has reported that it is the node.
    private func ownSources(_ copy: BaselineCopy) throws(StorageError) -> Set<UInt32> {
        var sources: Set<UInt32> = []
        try copy.forEach("radios") { (key, value) throws(StorageError) in
            guard let row = RadioRow(key: key, value: value) else { return }
            let owner = try? MyNodeInfo(decoding: row.content.rawSpan).number  // a broken one belongs to no node
            let isOwn = row.part == .myInfo && owner == number
            if isOwn || row.node == number { sources.insert(row.source) }
        }
        return sources
    }

    /// The fold's state of a node has the node's number after a byte for the kind; for sources, that byte differs.
    private func isEntry(_ key: RawSpan, _ prefix: [UInt8]) -> Bool {
        key.byteCount == 5 && key.bigEndianUInt32(at: 1) == number
    }

    /// The fold's memory of packets: each record has its event's sequence, then sender and id; that of a reception then has the gateway.
    private func withoutRecords(_ run: RawSpan, of table: String) -> [UInt8]? {
        StageState.run(run, of: table) { record in
            let isOfGateway = table == ViewStore.Name.receptions && record.bigEndianUInt32(at: 20) == number
            return record.bigEndianUInt32(at: 8) != number && !isOfGateway
        }
    }

    /// A row that cannot be read is removed as well.
    private func isOfNode(message key: RawSpan, _ value: RawSpan) -> Bool {
        guard let row = MessageRow(key: key, value: value) else { return true }
        return row.isOf(self)
    }

    /// A trace route between other nodes may lead through the node: it keeps the route, but not the node's place.
    private func withoutPlace(_ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        guard var row = TraceRouteRow.decode(key: key, value: value), !row.isOf(self) else { return nil }
        guard row.places.contains(where: { $0.node == number }) else { return value.asArray }
        row.places.removeAll { $0.node == number }
        var writer = WireWriter()
        row.encode(to: &writer)
        return writer.bytes
    }

    private func isOfNode<Row: DeclaredRow>(_ rows: Row.Type, _ key: RawSpan, _ value: RawSpan) -> Bool {
        Row.decode(key: key, value: value).map { $0.isOf(self) } ?? true
    }

    /// A block that cannot be read is removed completely.
    private func indexBlock(_ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        PacketBlock(number: UInt64(key.bigEndianUInt32(at: 0)), decoding: value)?.without(self).encoded()
    }

    private func less(_ value: RawSpan, by count: UInt64) -> [UInt8]? {
        let stored = value.bigEndianUInt64(at: 0)
        return stored > count ? bigEndian(stored - count) : nil
    }
}
