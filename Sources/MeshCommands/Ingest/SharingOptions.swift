import ArgumentParser
import EventLog
import MeshIngest
import MeshLedger

/// Whether to share the radio, and with whom.
struct SharingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Share the radio: many apps at once connect here as if to the radio; 4403, or 0.0.0.0:4403 for the network.",
            valueName: "[address:]port"))
    var share: String?
    @Option(
        help: ArgumentHelp(
            "A network whose clients may connect, not only this computer; may be repeated.", valueName: "network"))
    var shareAllow: [String] = []
    @Option(help: ArgumentHelp("A network whose clients may change settings; may be repeated.", valueName: "network"))
    var shareAdmin: [String] = []

    func validate() throws {
        guard share == nil else { return _ = try options() }
        guard shareAllow.isEmpty, shareAdmin.isEmpty else {
            throw ValidationError("--share-allow and --share-admin need --share: the port that clients connect to")
        }
    }

    private func options() throws -> ShareOptions? {
        guard let share else { return nil }
        do {
            var options = try ShareOptions(share)
            if !shareAllow.isEmpty { options.allowed = try shareAllow.map { try NetworkRange($0) } }
            options.admins = try shareAdmin.map { try NetworkRange($0) }
            return options
        } catch let error as IngestError {
            throw ValidationError(error.description)
        }
    }

    /// Refuses to share a radio where it is itself.
    func check(for radio: RadioAddress) throws {
        do {
            try options()?.check(for: radio)
        } catch let error as IngestError {
            throw ValidationError(error.description)
        }
    }

    /// The source to run: the radio alone, or shared with clients.
    func source(_ radio: RadioSource, in ledger: LedgerWriter) throws -> any LiveSource {
        guard let options = try options() else { return radio }
        guard let log = ledger.ownLog else {
            throw CommandError(
                .locked,
                "\(ledger.path): process \(ledger.holder ?? 0) writes to it; share the radio there, by `share:` in the configuration of `meshledger run`"
            )
        }
        return SharedRadio(radio, options, log: log)
    }
}
