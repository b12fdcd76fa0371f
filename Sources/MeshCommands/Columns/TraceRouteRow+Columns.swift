import MeshLedger
import Meshtastic

extension TraceRouteRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<TraceRouteRow>] {
        [
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column("from") { PacketCell.node($0.from) },
            Column("to") { PacketCell.node($0.to) },
            Column("is_answered", heading: "answered") { .bool($0.isAnswered) },
            Column("hops") { $0.isAnswered ? .unsigned(UInt64($0.route.count)) : .null },
            Column("towards", heading: "way there (SNR dB)", isText: true, shown: { Self.text($0.towards) }) {
                $0.cell($0.towards)
            },
            Column("back", heading: "way back (SNR dB)", isText: true, shown: { Self.text($0.back) }) {
                $0.cell($0.back)
            },
            Column("id", isDetail: true) { .number($0.id) },
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("reply_id", isDetail: true) { $0.isAnswered ? .number($0.replyID) : .null },
            Column("reply_time", isDetail: true) { .time($0.replyTime) },
            Column("channel", isDetail: true) { .optional($0.channel) },
            Column("request_sequence", isDetail: true) { $0.requestSequence == 0 ? .null : .unsigned($0.requestSequence) },
            Column("reply_sequence", isDetail: true) { $0.replySequence == 0 ? .null : .unsigned($0.replySequence) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }

    /// Like `!00000001 > (5.25) !00000002 > (?) ?`.
    private static func text(_ hops: [Hop]) -> String {
        hops.enumerated().map { index, hop in
            let node = hop.node.map { NodeID.text($0) } ?? "?"
            return index == 0 ? node : "(\(hop.snr.map { "\($0)" } ?? "?")) \(node)"
        }.joined(separator: " > ")
    }

    /// Each hop with its place at that time.
    private func cell(_ hops: [Hop]) -> CellValue {
        .list(
            hops.map { hop in
                let place = place(of: hop.node)
                return .object([
                    CellMember(name: "node", value: hop.node.map { .text(NodeID.text($0)) } ?? .null),
                    CellMember(name: "snr", value: hop.snr.map { .float($0) } ?? .null),
                    CellMember(name: "latitude", value: place.map { .double($0.latitude) } ?? .null),
                    CellMember(name: "longitude", value: place.map { .double($0.longitude) } ?? .null),
                    CellMember(name: "place_time", value: .time(place?.time ?? 0)),
                ])
            })
    }
}
