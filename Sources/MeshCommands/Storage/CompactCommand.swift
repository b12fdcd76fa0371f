import ArgumentParser
import EventLog
import MeshLedger

struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Return the free space in the log's file to the file system.",
        discussion: """
            Writes a new copy of the log and replaces the old one in one step, so it needs as much free space as the result takes. Commands
            that read or write continue meanwhile. Best after `meshledger storage seal`.

              meshledger storage seal
              meshledger storage compact
            """)

    @OptionGroup var ledger: LedgerOption

    func run() async throws {
        let done = try await WaitingLine.during("compacting") {
            try await ledger.advising { try await LedgerWriter.compact(at: ledger.path) }
        }
        StandardOutput().line("the log's file had \(done.sizeBefore.counted("byte")) and has \(done.sizeAfter.grouped) now")
    }
}
