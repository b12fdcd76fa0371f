import ArgumentParser
import Foundation
import MeshViews
import Meshtastic

struct PositionsTrackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track", abstract: "The way that a node took: each position with its distance from the one before.",
        discussion: """
            Coordinates of reduced precision are the middle of a square; `within` is half its side at the equator.

              meshledger positions track --node '!7efeee00' --since yesterday
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "The node: !hex, a number, or its name.") var node: NodeArgument

    func run() async throws {
        try await ledger.reading { ledger in
            let writer = output.writer(TrackStep.columns)
            var query = page.query(times)
            query.newestFirst = false
            var last: PositionRow?
            for row in try ledger.positions(of: node.number(in: ledger), query) {
                writer.write(TrackStep(row, after: last))
                last = row
            }
            writer.finish(emptyNote: "no positions")
        }
    }
}

/// A position of a track.
struct TrackStep {
    var row: PositionRow
    /// From the one before, in metres and seconds.
    var distance: Double?
    var seconds: UInt32?

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

    static var columns: [Column<TrackStep>] {
        [
            Column("time") { .time($0.row.time) },
            Column("latitude") { .double($0.row.latitude) },
            Column("longitude") { .double($0.row.longitude) },
            Column("altitude", unit: "m") { .number($0.row.altitude) },
            Column("within", unit: "m") { $0.row.precision.map { .double(Self.rounded($0)) } ?? .null },
            Column("distance", unit: "m") { $0.distance.map { .double(Self.rounded($0)) } ?? .null },
            Column("seconds", unit: "s") { .number($0.seconds) },
            Column("speed", unit: "km/h") { $0.speed.map { .double(Self.rounded($0)) } ?? .null },
            Column("gateway") { .node($0.row.gateway) },
            Column("snr", unit: "dB") { $0.row.rssi == nil && $0.row.snr == 0 ? .null : .float($0.row.snr) },
            Column("sequence", isDetail: true) { .unsigned($0.row.sequence) },
        ]
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
