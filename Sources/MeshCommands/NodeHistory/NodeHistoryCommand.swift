import ArgumentParser
import Foundation
import MeshViews
import Meshtastic

struct NodeHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract:
            "What nodes announced about themselves over time: names, roles, hardware, firmware, public keys; the newest first.",
        discussion: """
            The first public key of a node is the one that counts. `other_key` is an alarm: another one was announced under its number, by a
            forger or by an owner who reset the device. `shared_key` marks a device that had another number before.

              meshledger nodes history --node '!19025c00'
              meshledger nodes history --alarms --since '7d ago'
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?
    @Flag(help: "Only where a key is not the first one of its node, or that of another number.") var alarms = false

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = output.writer(try ledger.columns(NodeChangeRow.self))
            let changes: NodeChanges? = alarms ? [.otherKey, .sharedKey] : nil
            for row in try ledger.nodeHistory(of: node?.number(in: ledger), changes: changes, page.query(times)) {
                writer.write(row)
            }
            writer.finish(emptyNote: alarms ? "no alarms" : "no history")
        }
    }
}

extension NodeChangeRow {
    static var columns: [Column<NodeChangeRow>] {
        [
            Column("time") { .time($0.time) },
            Column("node") { .text(NodeID.text($0.node)) },
            Column("changes", canCut: true) { .list($0.changes.names.map { .text($0) }) },
            Column("short_name", heading: "short", canCut: true) { .optional($0.shortName) },
            Column("long_name", heading: "name", canCut: true) { .optional($0.longName) },
            Column("hardware", canCut: true) { $0.hardwareModel == 0 ? .null : .name($0.hardwareModel, of: "HardwareModel") },
            Column("role") { .name($0.role, of: "Config.DeviceConfig.Role") },
            Column("firmware", canCut: true) { .optional($0.firmware) },
            Column("public_key", isDetail: true) {
                $0.publicKey.isEmpty ? .null : .text(Data($0.publicKey).base64EncodedString())
            },
            Column("same_key_as", heading: "key of") { .node($0.sameKeyAs) },
            Column("kind", heading: "told by") { .text("\($0.kind)") },
            Column("gateway", isDetail: true) { .node($0.gateway) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") },
            Column("sequence") { .unsigned($0.sequence) },
        ]
    }
}
