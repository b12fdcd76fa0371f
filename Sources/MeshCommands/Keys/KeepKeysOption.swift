import ArgumentParser
import MeshIngest
import MeshLedger
import Meshtastic

/// Whether to keep channel keys that a radio reports: they are zeroed in stored data, so this is the only chance to keep them.
struct KeepKeysOption: ParsableArguments {
    @Flag(help: "Keep the channel keys that a radio reports in keys.json, and open stored packets with them.") var keepKeys =
        false

    /// Adds the keys that the ledger does not know to its keyring, or prints how to.
    ///
    /// - Parameter advice: what to run to keep them
    func take(_ found: RadioKeys, into ledger: LedgerWriter, advice: String) async throws {
        var keyring = try await ledger.keyring()
        let news = found.channels.filter { keyring.add($0) }
        guard !news.isEmpty else { return }
        let names = DisplayWidth.safe(news.map(\.name).joined(separator: ", "))
        let count = news.count == 1 ? "a channel key" : "\(news.count) channel keys"
        guard keepKeys else {
            return StandardOutput().line(
                "a radio reported \(count) that this ledger does not have (\(names)); \(news.count == 1 ? "it was" : "they were") not stored: \(advice) keeps \(news.count == 1 ? "it" : "them")"
            )
        }
        try await ledger.catchUp(title: "folding")  // to try the keys on what was just stored
        let trial = try await KeysAddCommand.trial(of: .addChannels(news), on: ledger)
        let found = trial.map { ": " + KeysAddCommand.finding($0, keys: news.count) } ?? ""
        try await ledger.changeKeys(.addChannels(news))
        try await ledger.catchUp(title: "opening what is stored")
        StandardOutput().line("\(count) of a radio kept (\(names)), and the views are folded again\(found)")
    }
}
