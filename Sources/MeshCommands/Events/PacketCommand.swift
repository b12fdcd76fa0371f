import ArgumentParser
import EventLog
import MeshViews
import Meshtastic
import ProtobufWire

struct PacketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packet", abstract: "One packet, field by field.", subcommands: [PacketShowCommand.self])
}

struct PacketShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Every field of an event, nested, unknown ones raw, beside its bytes.",
        discussion: """
              meshledger packet show 4711
              meshledger packet show 4711 --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @Argument(help: "The event's sequence.") var sequence: UInt64

    func run() async throws {
        try await ledger.reading { ledger in
            guard let event = try ledger.log.event(EventSequence(sequence)) else {
                throw CommandError(.noInput, "there is no event \(sequence); the last one is \(ledger.log.head)")
            }
            let row = EventRow(event, try EventRow.sourceNames(ledger), nil)
            let shown = CaptureForm(rawValue: event.header.encoding.rawValue).map {
                Dissector.dissectEvent(form: $0, bytes: event.payload.rawSpan, keyring: ledger.keyring)
            }
            let output = StandardOutput()
            if self.output.format == .table {
                output.line(
                    "event \(sequence), \(event.payload.count) bytes of \(row.encodingName), from \(DisplayWidth.safe(row.source))"
                )
                output.line("arrived \(TimeText.iso(microseconds: event.header.arrivalTime.microseconds))")
                output.line(shown?.textTree ?? "no packet: written by this program")
            } else {
                output.line(shown?.json.description ?? "null")
            }
        }
    }
}
