import ArgumentParser
import MeshViews

struct ChannelsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels", abstract: "The traffic of each channel, readable or not.",
        discussion: """
            What no known key opens is listed by the hash on the wire; `meshledger keys add` gives a key.

              meshledger channels
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ledger.reading { ledger in
            let writer = output.writer([
                Column<ChannelRow>("channel", canCut: true, shown: { $0.channel.title }) { .optional($0.channel.name) },
                Column<ChannelRow>("hash", isDetail: true) { .number($0.channel.hash) },
                Column<ChannelRow>("readable") { .bool($0.channel.isReadable) },
                Column<ChannelRow>("key_fingerprint", heading: "key") {
                    $0.channel.keyFingerprint == 0 ? .null : .text(String($0.channel.keyFingerprint, radix: 16))
                },
                Column<ChannelRow>("packets") { .unsigned($0.packets) },
                Column<ChannelRow>("receptions") { .unsigned($0.receptions) },
                Column<ChannelRow>("last_heard") { .time($0.lastHeard) },
            ])
            for row in try ledger.channels() { writer.write(row) }
            writer.finish(emptyNote: "no channels")
        }
    }
}
