public import MeshLedger
import ProtobufWire

extension SensorRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<SensorRow>] {
        tableColumns(
            first: "time node kind content gateway snr rssi hops_away", last: "time_source packet_id sequence",
            and: [
                TableColumn("content", .json { $0.content }, meaning: "What it sent, by name."),
                TableColumn(
                    "snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, of: \.snr, \.rssi, unit: "dB",
                    meaning: Meaning.snr),
            ]) + olderRecipe(context) { $0.sequence }
    }

    /// Every field by name; for a text, the text itself.
    package var content: CellValue {
        switch kind {
        case .detection, .rangeTest: .object([CellMember(name: "text", value: .text(text ?? ""))])
        case .paxcounter: CellValue(Dissector.dissect(payload.rawSpan, message: "Paxcount").json)
        case .storeForward: CellValue(Dissector.dissect(payload.rawSpan, message: "StoreAndForward").json)
        }
    }
}
