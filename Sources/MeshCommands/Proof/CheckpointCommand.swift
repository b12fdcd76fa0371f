import ArgumentParser
import EventLog

struct CheckpointCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint", abstract: "A signed note of how many events there are and which.",
        discussion: """
            Keep the note, and the public key, away from the ledger: with them anyone can prove later that the history up to then was
            not rewritten.

              meshledger checkpoint > monday.note
              meshledger checkpoint --public-key > ledger.key
              meshledger verify --checkpoint monday.note
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: ArgumentHelp("How many events it covers; else all.", valueName: "events")) var size: UInt64?
    @Flag(help: "Print the key that the signatures are checked with, instead.") var publicKey = false

    func run() async throws {
        let log = try ledger.openLogForReading()
        let text = publicKey ? "\(try log.verifier())\n" : try log.checkpoint(size: size.map { EventSequence($0) }).description
        await log.close()
        let output = StandardOutput()
        output.write(text)
        output.flush()
    }
}
