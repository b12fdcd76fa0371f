import MeshLedger
import Meshtastic

extension PositionRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<PositionRow>] {
        [
            Column("node") { .text(NodeID.text($0.node)) },
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("latitude") { .double($0.latitude) },
            Column("longitude") { .double($0.longitude) },
            Column("altitude", unit: "m") { .number($0.altitude) },
            Column("ground_speed", heading: "speed", unit: "km/h") { .number($0.groundSpeed) },
            Column("ground_track", heading: "course", unit: "°") { .optional($0.course) },
            Column("satellites", heading: "sats") { $0.satellites == 0 ? .null : .number($0.satellites) },
            Column("precision_bits", heading: "bits") { $0.precisionBits == 0 ? .null : .number($0.precisionBits) },
            Column("gateway") { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("snr", unit: "dB", isDetail: true) { $0.rssi == nil && $0.snr == 0 ? .null : .float($0.snr) },
            Column("rssi", unit: "dBm", isDetail: true) { .number($0.rssi) },
            Column("since", isDetail: true) { .time($0.since) },
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("fix_time", isDetail: true) { .time($0.fixTime) },
            Column("pdop", isDetail: true) { .optional(Position.dilution(hundredths: $0.pdop)) },
            Column("hdop", isDetail: true) { .optional(Position.dilution(hundredths: $0.hdop)) },
            Column("vdop", isDetail: true) { .optional(Position.dilution(hundredths: $0.vdop)) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
