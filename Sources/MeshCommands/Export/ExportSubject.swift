import ArgumentParser
import MeshLedger
import MeshTables

/// What can be exported: rows of views, and what the log has.
struct ExportSubject: Equatable {
    let name: String
    /// Nil for what is not of a built-in view.
    let rows: (any ListedRow.Type)?

    private init(log name: String) { (self.name, rows) = (name, nil) }
    private init(_ rows: any ListedRow.Type) { (name, self.rows) = (rows.table, rows) }

    init?(named name: String) {
        guard let known = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = known
    }

    static func == (one: ExportSubject, other: ExportSubject) -> Bool { one.name == other.name }

    static let all = ExportSubject(log: "all")
    static let events = ExportSubject(log: "events")
    static let packets = ExportSubject(log: PacketRow.tableName)
    static let receptions = ExportSubject(log: ReceptionRecord.tableName)
    static let packetEvents = ExportSubject(log: IndexedEvent.tableName)
    static let quarantine = ExportSubject(log: QuarantineRow.tableName)
    static let archived = ExportSubject(log: ArchivedRow.table)
    static let references = ExportSubject(log: ReferenceRow.table)

    /// What `all` writes: everything but itself.
    static let each =
        [events] + Ledger.listedRows.map { ExportSubject($0) } + [
            packets, receptions, packetEvents, quarantine, archived, references,
        ]
    static let allCases = [all] + each

    static let list = allCases.map(\.name).joined(separator: ", ")

    /// Whether its rows have places, which `--precision` makes less exact.
    var hasPlaces: Bool { has(.ofPlaces) }
    /// Whether its rows are of nodes, so that those of one can be chosen.
    var hasNodes: Bool { has(.ofNodes) || self == .all || isOfPackets }
    /// Whether its rows are of channels, so that those of one can be chosen.
    var hasChannels: Bool { has(.ofChannels) || isOfPackets }
    /// Whether its rows can be archived.
    var canBeArchived: Bool { rows != nil || self == .all }
    /// Whether its rows have an arrival.
    var hasArrivals: Bool { [.all, .events, .packetEvents].contains(self) || isOfPackets }
    var isOfPackets: Bool { self == .packets || self == .receptions }
    /// Whether GeoJSON has a form for it.
    var isForMaps: Bool { rows is any MappedRow.Type }

    private func has(_ listing: RowListing) -> Bool { rows?.listing.contains(listing) ?? false }
}

extension NameCompletion {
    /// What can be exported, also views of the program's own.
    static let exported = CompletionKind.custom { words, _, _ in
        (ExportSubject.allCases.map(\.name) + (await names(words) { $0.rowNames })).withoutRepeats
    }
}

/// Formats for other programs.
enum ExportFormat: String, NamedChoice {
    case csv, jsonl, json, arrow, parquet, geojson, gpx, kml, ledger

    /// A file for a person's or program's rows, unlike a map or a recording.
    var isOfRows: Bool { OutputFormat(rawValue: rawValue) != nil || TableFormat(rawValue: rawValue) != nil }
}
