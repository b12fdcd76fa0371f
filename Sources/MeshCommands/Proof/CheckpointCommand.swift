import ArgumentParser
import EventLog

struct CheckpointCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint", abstract: "Print a signed note of the log's length and root.",
        discussion: """
            Keep the note, and the public key, away from the ledger: with them anyone can prove later that the history up to then was
            not rewritten.

            The note is a C2SP checkpoint, which witnesses can sign, too. Its origin is `meshledger/` and the ledger's identifier; with --origin it is the
            name under which you publish the ledger: a URL without its scheme. With --sources it also commits to the names of sources and to the origins of
            copied events; these lines are specific to this program, and cosigners of the note need not have checked them.

              meshledger checkpoint > monday.note
              meshledger checkpoint --origin mesh.example.org/harbour > monday.note
              meshledger checkpoint --public-key > ledger.key
              meshledger verify --checkpoint monday.note
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: ArgumentHelp("How many events it covers; else all.", valueName: "events")) var size: UInt64?
    @Option(help: ArgumentHelp("The ledger's name in the note, such as mesh.example.org/harbour.", valueName: "name"))
    var origin: String?
    @Flag(help: "Also commit to the names of sources and to the origins of copied events.") var sources = false
    @Flag(help: "Print the key that verifies the signatures instead.") var publicKey = false

    func validate() throws {
        guard let origin, !LogCheckpoint.isOrigin(origin) || origin.contains("://") else { return }
        throw ValidationError("--origin is a URL without its scheme, such as mesh.example.org/harbour: no spaces and no +")
    }

    func run() async throws {
        let log = try ledger.openLogForReading()
        let text =
            publicKey
            ? "\(try log.verifier(origin: origin))\n"
            : try log.checkpoint(size: size.map { EventSequence($0) }, origin: origin, namesSources: sources).description
        await log.close()
        let output = StandardOutput()
        output.write(text)
        output.flush()
    }
}
