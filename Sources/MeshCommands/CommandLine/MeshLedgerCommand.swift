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

            The ledger is --ledger FOLDER, else $MESHLEDGER, else meshledger/mesh.ledger in $XDG_DATA_HOME or ~/.local/share. Nodes are \
            named as !19025c00, by number, or by a name that only one has. Times are 2026-01-31, 2026-01, 2026-01-31T10:15:00Z, '2h ago', 1y, today, 'yesterday 10:00'.

            `meshledger help COMMAND` has examples; also `help exit-status`, `help completions` and `help manual`.
            """,
        version: "0.2.0",
        subcommands: [ExitStatusTopic.self, CompletionsTopic.self, ManualTopic.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Look at the mesh", subcommands: Lists.all + [SearchList.command, DiffCommand.self, SQLCommand.self]),
            CommandGroup(
                name: "Packets and events",
                subcommands: [PacketList.command, EventList.command, FollowCommand.self, DecodeCommand.self]),
            CommandGroup(
                name: "Collect",
                subcommands: [
                    InitCommand.self, ImportCommand.self, IngestCommand.self, RunCommand.self, StatusCommand.self,
                    ConfigCommand.self, ServiceCommand.self,
                    SimulateCommand.self,
                ]),
            CommandGroup(
                name: "Views, keys and decisions",
                subcommands: [ViewCommand.self, KeysCommand.self, RowCommand.self, RevertCommand.self]),
            CommandGroup(
                name: "Export and back up",
                subcommands: [ExportCommand.self, LakeCommand.self, BackupCommand.self, RestoreCommand.self, MergeCommand.self]),
            CommandGroup(name: "Prove", subcommands: [VerifyCommand.self, CheckpointCommand.self, ProveCommand.self]),
            CommandGroup(
                name: "Maintain",
                subcommands: [StatsCommand.self, StorageCommand.self, EraseCommand.self, SalvageCommand.self]),
        ])

    public init() {}
}

/// What `meshledger help exit-status` says.
private struct ExitStatusTopic: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exit-status", abstract: "The statuses with which commands end.", discussion: ExitStatus.table,
        shouldDisplay: false)
}

/// What `meshledger help manual` prints.
struct ManualTopic: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "All of the help as a manual page.", shouldDisplay: false)
}

private struct CompletionsTopic: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Completions for bash, zsh and fish.",
        discussion: """
            They complete commands, options, and the names of nodes, channels, ports, views and columns of the ledger. Folders
            that are missing are made with `mkdir -p`.

              meshledger --generate-completion-script bash > ~/.local/share/bash-completion/completions/meshledger
              meshledger --generate-completion-script zsh > ~/.zsh/completions/_meshledger
              meshledger --generate-completion-script fish > ~/.config/fish/completions/meshledger.fish

            bash needs the package bash-completion. zsh needs these lines in ~/.zshrc, the first before any compinit:

              fpath=(~/.zsh/completions $fpath)
              autoload -U compinit && compinit
            """,
        shouldDisplay: false)
}
