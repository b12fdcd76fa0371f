import MeshLedger
import Meshtastic

extension MapReportRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<MapReportRow>] {
        [
            Column("node") { .text(NodeID.text($0.node)) },
            Column("short_name", heading: "short", canCut: true) { .optional($0.shortName) },
            Column("long_name", heading: "name", canCut: true) { .optional($0.longName) },
            Column("time", heading: "reported") { .time($0.time) },
            Column("hardware", canCut: true) { $0.hardwareModel == 0 ? .null : .name($0.hardwareModel, of: "HardwareModel") }
                .named(.enumeration("HardwareModel")),
            Column("role") { .name($0.role, of: "Config.DeviceConfig.Role") }.named(.enumeration("Config.DeviceConfig.Role")),
            Column("firmware", canCut: true) { .optional($0.firmware) },
            Column("region") { .name($0.region, of: "Config.LoRaConfig.RegionCode") }.named(
                .enumeration("Config.LoRaConfig.RegionCode")),
            Column("modem_preset", heading: "preset") { .name($0.modemPreset, of: "Config.LoRaConfig.ModemPreset") }.named(
                .enumeration("Config.LoRaConfig.ModemPreset")),
            Column("online_local_nodes", heading: "online nodes") { .number($0.onlineLocalNodes) },
            Column("latitude") { $0.latitude.map { .double($0) } ?? .null },
            Column("longitude") { $0.longitude.map { .double($0) } ?? .null },
            Column("altitude", unit: "m", isDetail: true) { $0.latitude == nil ? .null : .integer(Int64($0.altitude)) },
            Column("precision_bits", heading: "bits") { $0.precisionBits == 0 ? .null : .number($0.precisionBits) },
            Column("most_online_local_nodes", isDetail: true) { .number($0.mostOnlineLocalNodes) },
            Column("has_default_channel", isDetail: true) { .bool($0.hasDefaultChannel) },
            Column("has_opted_report_location", isDetail: true) { .bool($0.hasOptedReportLocation) },
            Column("channel", isDetail: true) { .optional($0.channel) },
            Column("reports", isDetail: true) { .unsigned($0.reports) },
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("first_time", isDetail: true) { .time($0.firstTime) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
