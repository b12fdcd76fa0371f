import MeshLedger

/// Four versions of a view: how many packets a node sent.
enum CountVersions {
    struct RowV1: StoredRow {
        var node: UInt32 = 0
        var count: UInt64 = 0
        var latest: UInt32 = 0
        var note = "none"
        static let view = "counts"
        static let columns: [RowColumn<RowV1>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(1, "count", \.count), RowColumn(2, "latest", \.latest, .time),
            RowColumn(3, "note", \.note),
        ]
        static let indexes: [RowIndex<RowV1>] = [.index(\.count)]
    }

    struct RowV2: StoredRow {
        var node: UInt32 = 0
        var packets: UInt64 = 0
        var last: UInt32 = 0
        var unit = "packets"
        static let view = "counts"
        static let columns: [RowColumn<RowV2>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(1, "packets", \.packets), RowColumn(2, "last", \.last, .time),
            RowColumn(4, "unit", \.unit),
        ]
        static let indexes: [RowIndex<RowV2>] = [.index(\.packets)]
    }

    struct RowV3: StoredRow {
        var node: UInt32 = 0
        var twice: UInt64 = 0
        var last: UInt32 = 0
        var unit = "packets"
        static let view = "counts"
        static let columns: [RowColumn<RowV3>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(2, "last", \.last, .time), RowColumn(4, "unit", \.unit),
            RowColumn(5, "twice", \.twice),
        ]
    }

    struct RowV4: StoredRow {
        var node: UInt32 = 0
        var doubled: UInt64 = 0
        var last: UInt32 = 0
        var unit = "packets"
        static let view = "counts"
        static let columns: [RowColumn<RowV4>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(2, "last", \.last, .time), RowColumn(4, "unit", \.unit),
            RowColumn(5, "doubled", \.doubled),
        ]
    }

    struct RowV5: StoredRow {
        var node: UInt32 = 0
        var fourfold: UInt64 = 0
        var last: UInt32 = 0
        static let view = "counts"
        static let columns: [RowColumn<RowV5>] = [
            RowColumn(key: "node", \.node, .node), RowColumn(2, "last", \.last, .time), RowColumn(6, "fourfold", \.fourfold),
        ]
    }

    static let one = SchemaVersion(1)
    static let two = SchemaVersion(
        2,
        .lightweight([.renamed("packets", from: "count"), .renamed("last", from: "latest"), .added("unit"), .removed("note")]))
    static let three = SchemaVersion(
        3, .custom(RowV2.self, to: RowV3.self) { RowV3(node: $0.node, twice: $0.packets * 2, last: $0.last, unit: $0.unit) })
    static let four = SchemaVersion(4, .lightweight([.renamed("doubled", from: "twice")]))
    static let five = SchemaVersion(
        5, .custom(RowV4.self, to: RowV5.self) { RowV5(node: $0.node, fourfold: $0.doubled * 2, last: $0.last) })

    struct V1: LedgerView {
        static let versions = [one]
        static let cap = RowCap<RowV1>.total(100, by: \.latest)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV1>) throws {
            try rows.update(RowV1(node: event.packet.from)) { ($0.count, $0.latest) = ($0.count + 1, max($0.latest, event.time)) }
        }
    }

    struct V2: LedgerView {
        static let versions = [one, two]
        static let cap = RowCap<RowV2>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV2>) throws {
            try rows.update(RowV2(node: event.packet.from)) { ($0.packets, $0.last) = ($0.packets + 1, max($0.last, event.time)) }
        }
    }

    struct V3: LedgerView {
        static let versions = [one, two, three]
        static let cap = RowCap<RowV3>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV3>) throws {
            try rows.update(RowV3(node: event.packet.from)) { ($0.twice, $0.last) = ($0.twice + 2, max($0.last, event.time)) }
        }
    }

    struct V4: LedgerView {
        static let versions = [one, two, three, four]
        static let cap = RowCap<RowV4>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV4>) throws {
            try rows.update(RowV4(node: event.packet.from)) { ($0.doubled, $0.last) = ($0.doubled + 2, max($0.last, event.time)) }
        }
    }

    struct V5: LedgerView {
        static let versions = [one, two, three, four, five]
        static let cap = RowCap<RowV5>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV5>) throws {
            try rows.update(RowV5(node: event.packet.from)) {
                ($0.fourfold, $0.last) = ($0.fourfold + 4, max($0.last, event.time))
            }
        }
    }

    struct Refusal: Error {}

    /// Version 3 whose rows are refused when they are all there.
    struct Broken: LedgerView {
        static let versions = [
            one, two,
            SchemaVersion(
                3,
                .custom(RowV2.self, to: RowV3.self, did: { _ in throw Refusal() }) { RowV3(node: $0.node, twice: $0.packets * 2) }
            ),
        ]
        static let cap = RowCap<RowV3>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV3>) throws { try V3().fold(event, into: &rows) }
    }

    /// Other rows under the version that is out already.
    struct Unversioned: LedgerView {
        static let versions = [one]
        static let cap = RowCap<RowV2>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV2>) throws { try V2().fold(event, into: &rows) }
    }

    /// A lightweight step that does not say all that it does.
    struct Concealing: LedgerView {
        static let versions = [one, SchemaVersion(2, .lightweight([.renamed("packets", from: "count")]))]
        static let cap = RowCap<RowV2>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV2>) throws { try V2().fold(event, into: &rows) }
    }

    /// Version 2 that is folded again.
    struct Replayed: LedgerView {
        static let versions = [one, SchemaVersion(2)]
        static let cap = RowCap<RowV2>.total(100, by: \.last)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<RowV2>) throws { try V2().fold(event, into: &rows) }
    }
}
