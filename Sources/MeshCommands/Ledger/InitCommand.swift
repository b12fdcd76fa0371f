import ArgumentParser
import Foundation
import MeshLedger

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a new ledger.",
        discussion: """
            The ledger is a folder that only you can read. It must be on a local disk. Without PATH it is the one that other commands use.

              meshledger init
              meshledger init /srv/mesh.ledger
              export MESHLEDGER=/srv/mesh.ledger
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: ArgumentHelp("The folder to make.", valueName: "path"), completion: .directory) var folder: String?

    func validate() throws {
        if folder != nil, ledger.ledger != nil { throw ValidationError("the folder is named twice: give PATH or --ledger") }
        if folder == "" { throw ValidationError("the folder's name is empty") }
    }

    func run() async throws {
        let path = folder ?? ledger.path
        try makeParent(of: path)
        let made = try await Ledger.create(at: path, options: CustomViews.options())
        try await made.close()
        let output = StandardOutput()
        output.line("made the ledger \(DisplayWidth.safe(path))")
        guard path != LedgerOption.path(nil, ProcessInfo.processInfo.environment) else { return }
        // Also from other folders.
        let place = path.hasPrefix("/") ? path : URL(fileURLWithPath: path).standardizedFileURL.path
        let shown = DisplayWidth.safe(place.quotedForShell)
        output.line("other commands use it with --ledger \(shown), or after: export MESHLEDGER=\(shown)")
    }
}

extension String {
    /// Quoted as one word for a shell.
    var quotedForShell: String {
        let isPlain =
            !isEmpty
            && unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789/._-+".unicodeScalars.contains($0))
            }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}
