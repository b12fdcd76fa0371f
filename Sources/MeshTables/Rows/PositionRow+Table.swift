import Foundation
public import MeshLedger

extension PositionRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<PositionRow>] {
        [
            TableColumn("node", .node { $0.node }, of: \.node, meaning: "The node that reported it."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When the node was there."),
            TableColumn(
                "time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: "The clock that the time came from."),
            TableColumn("latitude", .number { $0.latitude }, of: \.latitude, unit: "°", meaning: "North of the equator, WGS 84."),
            TableColumn("longitude", .number { $0.longitude }, of: \.longitude, unit: "°", meaning: "East of Greenwich, WGS 84."),
            TableColumn("altitude", .optional { $0.altitude }, of: \.altitude, unit: "m", meaning: "Above mean sea level."),
            TableColumn(
                "ground_speed", .optional { $0.groundSpeed }, of: \.groundSpeed, unit: "km/h", meaning: "As firmware fills it."),
            TableColumn(
                "ground_track", .optional { $0.course }, from: \.groundTrack, unit: "°",
                meaning: "The course, clockwise from north."),
            TableColumn("satellites", .positive { $0.satellites }, of: \.satellites, meaning: "How many were in view."),
            TableColumn(
                "precision_bits", .positive { $0.precisionBits }, of: \.precisionBits,
                meaning: "How many upper bits of the place are true."),
            TableColumn("gateway", .nodeOrNone { $0.gateway }, of: \.gateway, meaning: "Of the first readable reception."),
            TableColumn(
                "snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, of: \.snr, \.rssi, unit: "dB",
                meaning: snrMeaning),
            TableColumn("rssi", .optional { $0.rssi }, of: \.rssi, unit: "dBm", meaning: rssiMeaning),
            TableColumn(
                "since", .time { $0.since }, of: \.since,
                meaning: "Where nearby positions are merged: since when the node is there."),
            TableColumn("sent_time", .time { $0.sentTime }, of: \.sentTime, meaning: "The sender's own stamp, unchecked."),
            TableColumn(
                "fix_time", .time { $0.fixTime }, of: \.fixTime, meaning: "When its receiver found the place, unchecked."),
            TableColumn(
                "pdop", .optional { Position.dilution(hundredths: $0.pdop) }, of: \.pdop,
                meaning: "Dilution of precision of the position."),
            TableColumn(
                "hdop", .optional { Position.dilution(hundredths: $0.hdop) }, of: \.hdop,
                meaning: "Dilution of precision of the plane."),
            TableColumn(
                "vdop", .optional { Position.dilution(hundredths: $0.vdop) }, of: \.vdop,
                meaning: "Dilution of precision of the height."),
            TableColumn("packet_id", .number { $0.packetID }, of: \.packetID, meaning: packetMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

let snrMeaning = "Signal-to-noise ratio of the first readable reception."
let rssiMeaning = "Signal strength of the first readable reception."
let packetMeaning = "The packet's id."
let sequenceMeaning = "The event that made or last changed the row."
let firstSequenceMeaning = "The first event of the row."
let timeSourceMeaning = "The clock that the time came from."
let timeOfImportMeaning = "Whether nothing says when it was heard: the times are those of imports."
let channelMeaning = "The channel on which it was sent."

extension UnknownTelemetryRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<UnknownTelemetryRow>] {
        [
            TableColumn("node", .node { $0.node }, of: \.node, meaning: "The node that measured."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it measured."),
            TableColumn("kind", .number { UInt32($0.kind) }, of: \.kind, meaning: "The number of the kind in the schema."),
            TableColumn(
                "metrics_b64", .text { Data($0.metrics).base64EncodedString() }, from: \.metrics,
                meaning: "The metrics as they came, in base64."),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn("sent_time", .time { $0.sentTime }, of: \.sentTime, meaning: "The sender's own stamp, unchecked."),
            TableColumn("gateway", .nodeOrNone { $0.gateway }, of: \.gateway, meaning: "Of the first readable reception."),
            TableColumn("packet_id", .number { $0.packetID }, of: \.packetID, meaning: packetMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}
