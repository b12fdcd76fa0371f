import ArgumentParser
import MeshLedger
import MeshTables

/// What can be exported.
enum ExportSubject: String, NamedChoice {
    case all, events, nodes, positions, telemetry, messages, waypoints, traceroutes, links, gateways, mapreports, sensors,
        nodehistory,
        hardware, radios, packets, receptions, channels, quarantine, archived, references
    case gatewayNodes = "gateway_nodes"
    case unknownTelemetry = "unknown_telemetry"
    case packetEvents = "packet_events"

    /// What `all` writes: everything but itself.
    static let each = allCases.filter { $0 != .all }

    static let list = allCases.map(\.rawValue).joined(separator: ", ")

    /// Whether its rows have places, which `--precision` makes less exact.
    var hasPlaces: Bool { isForMaps || self == .mapreports }
    /// Whether its rows are of nodes, so that those of one can be chosen.
    var hasNodes: Bool { !isOfEvents && ![.channels, .quarantine, .archived, .references].contains(self) }
    /// Whether its rows are of channels, so that those of one can be chosen.
    var hasChannels: Bool { [.nodes, .messages, .waypoints, .traceroutes, .packets, .receptions].contains(self) }
    /// Whether its rows can be archived.
    var canBeArchived: Bool {
        !isOfEvents && ![.packets, .receptions, .quarantine, .archived, .references].contains(self)
    }
    /// Whether its rows have an arrival.
    var hasArrivals: Bool { isOfEvents || [.all, .packets, .receptions].contains(self) }
    /// Whether it is a list of events, which are chosen by conditions only.
    private var isOfEvents: Bool { self == .events || self == .packetEvents }
    /// Whether GeoJSON has a form for it.
    var isForMaps: Bool { [.positions, .waypoints, .traceroutes].contains(self) }
}

extension NameCompletion {
    /// What can be exported, also views of the program's own.
    static let exported = CompletionKind.custom { words, _, _ in
        (ExportSubject.allCases.map(\.rawValue) + (await names(words) { $0.rowNames })).withoutRepeats
    }
}

/// Formats for other programs.
enum ExportFormat: String, NamedChoice {
    case csv, jsonl, json, arrow, parquet, geojson, gpx, kml, ledger

    /// A file for a person's or program's rows, unlike a map or a recording.
    var isOfRows: Bool { OutputFormat(rawValue: rawValue) != nil || TableFormat(rawValue: rawValue) != nil }
}
