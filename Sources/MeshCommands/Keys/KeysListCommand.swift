import ArgumentParser
import MeshLedger
import MeshTables
import Meshtastic

struct KeysListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys by name and fingerprint; the keys themselves are never shown.",
        discussion: """
              meshledger keys list
              meshledger keys list --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions

    /// A key without its bytes.
    private struct Row {
        var kind: String
        var channel: ChannelKey?
        var node: UInt32?
    }

    func run() async throws {
        try await ledger.reading { ledger in
            let writer = try output.writer([
                Column<Row>("kind") { .text($0.kind) },
                Column<Row>("channel") { $0.channel.map { .text($0.name) } ?? .null },
                Column<Row>("hash") { $0.channel.map { .unsigned(UInt64($0.hash)) } ?? .null },
                Column<Row>("aead") { $0.channel.map { .bool($0.isAEAD) } ?? .null },
                Column<Row>("bits") { .unsigned(UInt64(($0.channel?.key.count ?? 32) * 8)) },
                Column<Row>("key_fingerprint", heading: "key") {
                    $0.channel.map { .text(ChannelKey.fingerprintText($0.fingerprint)) } ?? .null
                },
                Column<Row>("node") { $0.node.map { .text(NodeID.text($0)) } ?? .null },
            ])
            for key in ledger.keys.keyring.channels { writer.write(Row(kind: "channel", channel: key)) }
            for key in ledger.keys.keyring.privateKeys { writer.write(Row(kind: "private", node: key.node)) }
            writer.finish(emptyNote: "no keys")
        }
    }
}
