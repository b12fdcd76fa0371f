public import ArgumentParser

/// The command `meshledger`.
public struct MeshLedgerCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "meshledger",
        abstract: "Keeps every Meshtastic packet, byte for byte, and answers questions about them.",
        discussion: """
            First steps:
              meshledger init
              meshledger import capture.base64
              meshledger nodes
              meshledger positions --node '!19025c00' --since yesterday
              meshledger ingest mqtt 'mqtt://localhost/msh/#'

            Which ledger: --ledger FOLDER, else $MESHLEDGER, else meshledger/mesh.ledger in $XDG_DATA_HOME or ~/.local/share.

            Nodes are named as !19025c00, by number, or by a name that only one of them has. Times are ISO 8601 such as
            2026-01-31T10:15:00Z or 2026-01-31 (UTC unless an offset is given), '2h ago', '3 days ago', today, yesterday.

            Completions for your shell:
              meshledger --generate-completion-script bash > ~/.local/share/bash-completion/completions/meshledger

            Exit status:
            \(ExitStatus.table)
            """,
        version: "0.2.0",
        subcommands: [
            InitCommand.self, ImportCommand.self, IngestCommand.self, SimulateCommand.self, EventsCommand.self,
            PacketCommand.self, PacketsCommand.self, NodesCommand.self, PositionsCommand.self, TelemetryCommand.self,
            MessagesCommand.self, SearchCommand.self, NodeCommand.self, MessageCommand.self, RowCommand.self, RevertCommand.self,
            WaypointsCommand.self, TraceRoutesCommand.self, LinksCommand.self, NeighborsCommand.self, TimelineCommand.self,
            GatewaysCommand.self, MapReportsCommand.self, SensorsCommand.self, NodeHistoryCommand.self, HardwareCommand.self,
            RadiosCommand.self,
            ChannelsCommand.self, KeysCommand.self, StatsCommand.self, ViewCommand.self, QuarantineCommand.self,
            SchemaCommand.self,
            RebuildCommand.self, SealCommand.self, CompactCommand.self, RetainCommand.self, LimitCommand.self, EraseCommand.self,
            VerifyCommand.self,
            SalvageCommand.self,
            CheckpointCommand.self,
            ProveCommand.self, VerifyProofCommand.self,
            ExportCommand.self, BackupCommand.self, RestoreCommand.self, MergeCommand.self, FollowCommand.self,
            ConsumersCommand.self,
        ])

    public init() {}
}
