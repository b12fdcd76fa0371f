import ArgumentParser
import EventLog
import MeshViews

struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Give the free room in the log's file back to the file system.",
        discussion: """
            Writes the log anew beside itself and takes its place in one step, so it needs as much free room as the result takes. Commands
            that read go on, and so do those that write. Best after `meshledger seal`.

              meshledger seal
              meshledger compact
            """)

    @OptionGroup var ledger: LedgerOption

    func run() async throws {
        let done = try await LedgerWriter.compact(at: ledger.path)
        StandardOutput().line("the log's file had \(done.sizeBefore) bytes and has \(done.sizeAfter) now")
    }
}
