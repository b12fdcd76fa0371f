public import ArgumentParser
public import MeshLedger
import Meshtastic
import ProtobufWire

extension SensorKind: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found = SensorKind.allCases.first(where: { "\($0)".lowercased() == argument.lowercased() }) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { allCases.map { "\($0)" } }
}

extension SensorRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<SensorRow>] {
        [
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column("node") { .text(NodeID.text($0.node)) },
            Column(cases: "kind") { $0.kind },
            Column("content", isText: true, shown: { $0.text ?? $0.content.summary }) { $0.content },
            Column("gateway") { .node($0.gateway) },
            Column("snr", unit: "dB") { $0.rssi == nil && $0.snr == 0 ? .null : .float($0.snr) },
            Column("rssi", unit: "dBm") { .number($0.rssi) },
            Column("hops_away", heading: "hops") { .number($0.hopsAway) },
            Column("to", isDetail: true) { PacketCell.node($0.to) },
            Column("channel", isDetail: true) { .optional($0.channel) },
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }

    /// Every field by name; for a text, the text itself.
    private var content: CellValue {
        switch kind {
        case .detection, .rangeTest: .object([CellMember(name: "text", value: .text(text ?? ""))])
        case .paxcounter: CellValue(Dissector.dissect(payload.rawSpan, message: "Paxcount").json)
        case .storeForward: CellValue(Dissector.dissect(payload.rawSpan, message: "StoreAndForward").json)
        }
    }
}
