public import ArgumentParser
public import MeshLedger
import Meshtastic

extension RadioPart: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found = RadioPart.allCases.first(where: { "\($0)".lowercased() == argument.lowercased() }) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { allCases.map { "\($0)" } }
}

extension RadioRow: ShownRow {
    static func shown(in ledger: Ledger) throws -> [Column<RadioRow>] {
        let sources = try EventRows.sourceNames(ledger)
        return [
            Column("source", canCut: true) { .text(sources[$0.source] ?? String($0.source)) },
            Column("node") { .node($0.node) },
            Column("part") { .text($0.title) },
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column("content", isText: true, shown: { CellValue($0.dissected.json).summary }) { CellValue($0.dissected.json) },
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
