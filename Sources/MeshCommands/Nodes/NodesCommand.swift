import ArgumentParser
import MeshViews
import Meshtastic

struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes", abstract: "The nodes that were heard, the last one first.",
        discussion: """
              meshledger nodes
              meshledger nodes --since '2h ago' --limit 20
              meshledger nodes --node '!7efeee00' --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var text: PatternOptions
    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only nodes last heard on this channel.") var channel: String?

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = output.writer(try ledger.nodeColumns())
            let number = try node?.number(in: ledger)
            if let number, try ledger.node(number) == nil {
                throw CommandError(.noInput, "the node \(NodeID.text(number)) was never heard")
            }
            for row in try ledger.nodes(page.query(times, channel: channel), only: number, with: text.pattern) {
                writer.write(row)
            }
            writer.finish(emptyNote: "no nodes")
        }
    }
}
