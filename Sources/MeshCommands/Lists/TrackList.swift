import ArgumentParser
import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

struct TrackList: RowList {
    static let about = ListDescription(
        name: "track", abstract: "The track of a node: each position with its distance from the previous one.",
        discussion: """
            With --heard-by, each position has the gateways that heard its packet, the first one first.

            Coordinates of reduced precision are the middle of a square; `within` is half its side at the equator.

              meshledger positions track --node '!19025c00' --since yesterday
              meshledger positions track --node '!19025c00' --heard-by --format json
              meshledger positions track --node '!19025c00' --count-by day --sum distance --max speed
            """)

    @Option(help: "The node: !hex, a number, or its name.") var node: NodeArgument
    @Flag(help: "Also the receivers of each position.") var heardBy = false

    var askedNodes: [NodeArgument?] { [node] }
    var emptyNote: String { "no positions" }

    func columns(_ request: ListRequest) throws -> [Column<TrackStep>] { TrackStep.columns(isHeard: heardBy) }

    /// The oldest position first, unless the order is reversed.
    func write(_ request: ListRequest) throws { try request.writeInOwnOrder(self) }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (TrackStep) -> Void) throws {
        let number = try node.number(in: ledger)
        let receptions = heardBy ? try Self.receptions(of: number, in: ledger) : [:]
        var (wanted, last, steps): (RowQuery, PositionRow?, [TrackStep]) = (query, nil, [])
        wanted.newestFirst = false
        if query.newestFirst { (wanted.limit, wanted.offset) = (.max, 0) }
        try withoutActuallyEscaping(body) { body in
            try wanted.visitKnown({ $0.timeSource == .import }, { try ledger.positions(of: number, $0).forEach($1) }) { row in
                var step = TrackStep(row, after: last)
                step.receptions = receptions[row.sequence] ?? []
                last = row
                if query.newestFirst { steps.append(step) } else { body(step) }
            }
        }
        steps.reversed().dropFirst(query.offset).prefix(query.limit).forEach(body)
    }

    /// The receptions of each packet with a position, by the sequence of any of them.
    private static func receptions(of node: UInt32, in ledger: Ledger) throws -> [UInt64: [PacketReception]] {
        var all: [UInt64: [PacketReception]] = [:]
        for packet in try ledger.packets(EventSelection(node: node, roles: .sender, port: Port.position)) {
            for reception in packet.receptions { all[reception.sequence] = packet.heardReceptions }
        }
        return all
    }
}

/// A position of a track.
struct TrackStep {
    var row: PositionRow
    /// From the previous one, in metres and seconds.
    var distance: Double?
    var seconds: UInt32?
    var receptions: [PacketReception] = []

    init(_ row: PositionRow, after last: PositionRow?) {
        self.row = row
        guard let last else { return }
        distance = last.distance(to: row)
        seconds = row.time - last.time
    }

    /// In km/h; nil where no time has passed.
    var speed: Double? {
        guard let distance, let seconds, seconds > 0 else { return nil }
        return distance / Double(seconds) * 3.6
    }

    static func columns(isHeard: Bool) -> [Column<TrackStep>] {
        let heard = Column<TrackStep>("heard_by", isText: true, shown: { $0.heardText }) { step in
            .list(
                step.receptions.map { reception in
                    .object([
                        CellMember(name: "gateway", value: .node(reception.gateway)),
                        CellMember(
                            name: "snr", value: reception.rssi == nil && reception.snr == 0 ? .null : .float(reception.snr)),
                        CellMember(name: "rssi", value: .number(reception.rssi)),
                        CellMember(name: "sequence", value: .unsigned(reception.sequence)),
                    ])
                })
        }
        return plainColumns + (isHeard ? [heard] : [])
    }

    private var heardText: String { receptions.map { NodeID.text($0.gateway) }.joined(separator: " ") }

    private static var plainColumns: [Column<TrackStep>] {
        [
            Column("time", isOfImport: { $0.row.timeSource == .import }) { .time($0.row.time) },
            Column("latitude") { .double($0.row.latitude) },
            Column("longitude") { .double($0.row.longitude) },
            Column("altitude", unit: "m") { .number($0.row.altitude) },
            Column("within", unit: "m") { $0.row.precision.map { .double(Self.rounded($0)) } ?? .null },
            Column("distance", unit: "m") { $0.distance.map { .double(Self.rounded($0)) } ?? .null },
            Column("seconds", unit: "s") { .number($0.seconds) },
            Column("speed", unit: "km/h") { $0.speed.map { .double(Self.rounded($0)) } ?? .null },
            Column("ground_track", heading: "course", unit: "°") { .optional($0.row.course) },
            Column("hdop", isDetail: true) { .optional(Position.dilution(hundredths: $0.row.hdop)) },
            Column("gateway") { .node($0.row.gateway) },
            Column("snr", unit: "dB") { $0.row.rssi == nil && $0.row.snr == 0 ? .null : .float($0.row.snr) },
            Column("sequence", isDetail: true) { .unsigned($0.row.sequence) },
        ]
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
