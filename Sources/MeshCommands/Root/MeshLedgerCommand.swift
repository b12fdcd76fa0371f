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
              meshledger positions --node '!7efeee00' --since yesterday
              meshledger ingest mqtt 'mqtt://localhost/msh/#'

            Exit status:
            \(ExitStatus.table)
            """,
        version: "0.1.0",
        subcommands: [
            InitCommand.self, ImportCommand.self, IngestCommand.self, EventsCommand.self,
            PacketCommand.self, NodesCommand.self, PositionsCommand.self, TelemetryCommand.self, MessagesCommand.self,
            ChannelsCommand.self, KeysCommand.self, StatsCommand.self, ViewCommand.self, QuarantineCommand.self,
            RebuildCommand.self, VerifyCommand.self, ExportCommand.self,
        ])

    public init() {}

    /// Runs the command line and ends the process with its status.
    public static func runProcess() async -> Never {
        do {
            var command = try parseAsRoot()
            do {
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
                exit(withError: nil)
            } catch let error as ExitCode {
                exit(withError: error)
            } catch let error as ValidationError {
                exit(withError: error)
            } catch let error as CleanExit {
                exit(withError: error)
            } catch {
                let failure = CommandError(error)
                StandardOutput.error("meshledger: \(DisplayWidth.safe(failure.message))")
                exit(withError: ExitCode(failure.status.rawValue))
            }
        } catch {
            exit(withError: error)
        }
    }
}
