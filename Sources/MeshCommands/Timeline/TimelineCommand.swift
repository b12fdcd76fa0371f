import ArgumentParser
import MeshViews
import Meshtastic

struct TimelineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Everything that a node reported, of all kinds, the newest first.",
        discussion: """
              meshledger nodes timeline '!19025c00' --limit 20
              meshledger nodes timeline Rover --kind position --kind message --since yesterday --format jsonl
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only this kind; may be given several times.", completion: .list(Ledger.timelineKinds)) var kind: [String] = []
    @Argument(help: "The node: !hex, a number, or its name.") var node: NodeArgument

    func validate() throws {
        if let other = kind.first(where: { !Ledger.timelineKinds.contains($0) }) {
            throw ValidationError("\(other) is not a kind; there are \(Ledger.timelineKinds.joined(separator: ", "))")
        }
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let cells = try RowCells(ledger)
            let writer = output.writer([
                Column<any ViewRow>("time") { .time($0.time) },
                Column<any ViewRow>("kind") { .text($0.kind) },
                Column<any ViewRow>("sequence") { .unsigned($0.sequence) },
                Column<any ViewRow>("row", canCut: true, shown: { cells.summary($0) }) { cells.object($0) },
            ])
            let kinds = kind.isEmpty ? Set(Ledger.timelineKinds) : Set(kind)
            for row in try ledger.timeline(of: node.number(in: ledger), kinds: kinds, page.query(times)) { writer.write(row) }
            writer.finish(emptyNote: "it said nothing")
        }
    }
}
