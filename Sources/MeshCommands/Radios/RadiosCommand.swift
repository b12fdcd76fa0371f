public import ArgumentParser
public import MeshViews
import Meshtastic

extension RadioPart: ExpressibleByArgument {
    public init?(argument: String) {
        guard let found = RadioPart.allCases.first(where: { "\($0)" == argument }) else { return nil }
        self = found
    }

    public static var allValueStrings: [String] { allCases.map { "\($0)" } }
}

struct RadiosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "radios",
        abstract: "What radios reported to their clients: configuration, channels, metadata; secrets are zeroed.",
        discussion: """
            The newest of each part; with --history also earlier ones.

              meshledger nodes radios
              meshledger nodes radios --part channel --history --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only the radio behind this source: its name, or a part that only one name has.") var source: String?
    @Option(help: "Only this part.") var part: RadioPart?
    @Flag(help: "Also earlier reports of each part.") var history = false

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = output.writer(try ledger.columns(RadioRow.self))
            let number = try source.map { try EventRows.source($0, EventRows.sourceNames(ledger)) }
            for row in try ledger.radios(source: number, part: part, isHistory: history, page.query(times)) { writer.write(row) }
            writer.finish(emptyNote: "no radio reported anything about itself")
        }
    }
}

extension RadioRow {
    static func columns(sources: [UInt32: String]) -> [Column<RadioRow>] {
        [
            Column("source", canCut: true) { .text(sources[$0.source] ?? String($0.source)) },
            Column("node") { .node($0.node) },
            Column("part") { .text($0.title) },
            Column("time") { .time($0.time) },
            Column("content", canCut: true, shown: { CellValue($0.dissected.json).summary }) { CellValue($0.dissected.json) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
