import ArgumentParser
import Foundation
import MeshLedger

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a new ledger.",
        discussion: """
            The ledger is a folder that only you can read. It must be on a local disk.

              meshledger init
              meshledger init --ledger /srv/mesh.ledger
            """)

    @OptionGroup var ledger: LedgerOption

    func run() async throws {
        let path = ledger.path
        try makeParent(of: path)
        let made = try await Ledger.create(at: path, options: OwnViews.options())
        try await made.close()
        StandardOutput().line("made the ledger \(path)")
    }
}
