import ArgumentParser
import EventLog
import MeshIngest
import MeshLedger
import MeshTables
import Meshtastic
import ProtobufWire

struct PacketShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Every field of an event, nested, unknown ones raw, with its bytes.",
        discussion: """
            Says why a packet could not be read, and what would help. The sequence is the number that `meshledger events` and `meshledger view quarantine` list.

              meshledger packets show 4711
              meshledger packets show 4711 --bytes
              meshledger packets show 4711 --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: TreeOutputOptions
    @Flag(help: "With each field, its position and first bytes.") var bytes = false
    @Argument(help: "The event's sequence.") var sequence: UInt64

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let last = ledger.asOfSequence ?? ledger.log.head
            guard sequence <= last.rawValue, let event = try ledger.log.event(EventSequence(sequence)) else {
                throw try noEvent(in: ledger, last.rawValue)
            }
            let rows = try EventRows(ledger)
            let row = rows.row(event)
            let shown = rows.dissect(event)
            let erasures = try ledger.log.erasures()
            let output = try self.output.target()
            defer { output.finish() }
            guard self.output.format == .table else {
                var row = row
                row.payload = Base64.text(event.payload.rawSpan)
                let facts = EventRow.rawColumns.map { "\(JSONText.quoted($0.name)):\($0.value(row).json)," }.joined()
                return output.line("{\(facts)\"packet\":\(shown?.json.description ?? "null")}")
            }
            output.line(
                "event \(sequence), \(event.payload.count.counted("byte")) of \(row.encodingName), from \(DisplayWidth.safe(row.source))"
            )
            output.line("arrived \(TimeText.iso(microseconds: event.header.arrivalTime.microseconds))")
            let tree = shown?.textTree(beside: bytes ? event.payload : nil) ?? Self.note(of: event, erasures)
            for line in tree.utf8.split(separator: UInt8(ascii: "\n")) { output.line(DisplayWidth.safe(String(Substring(line)))) }
            if let advice = row.advice { output.line(DisplayWidth.safe(advice)) }
        }
    }

    private func noEvent(in ledger: Ledger, _ last: UInt64) throws -> CommandError {
        let isPacket = try UInt32(exactly: sequence).map { try !ledger.packets(withID: $0).isEmpty } ?? false
        guard isPacket else { return CommandError(noEvent: sequence, lastOne: last, isPast: ledger.asOfSequence != nil) }
        return CommandError(
            .noInput,
            "\(sequence) is the id of a packet, not an event: `meshledger packets receptions \(sequence)` lists its events")
    }

    /// A description of an event that this program itself has written.
    private static func note(of event: Event, _ erasures: [Erasure]) -> String {
        if event.header.isErased {
            let erasure = erasures.first { $0.ranges.contains { $0.contains(event.sequence) } }
            return "erased by event \(erasure.map { "\($0.sequence): \($0.reason)" } ?? "none, which `meshledger verify` tells")"
        }
        if let erasure = erasures.first(where: { $0.sequence == event.sequence }) {
            return "an erasure of \(erasure.count.counted("event")) (\(erasure.request)): \(erasure.reason)"
        }
        if event.header.encoding == .retention, let retention = Retention(payload: event.payload.rawSpan) {
            let times = [retention.firstArrival, retention.lastArrival].map { TimeText.iso(microseconds: $0.microseconds) }
            return
                "retention: \(retention.count.counted("event")) up to \(retention.first.advanced(by: -1)) were dropped, which arrived from "
                + "\(times[0]) to \(times[1])"
        }
        if event.header.encoding == .clockJump, let jump = ClockJump(payload: event.payload.rawSpan) {
            return jump.text
        }
        if event.header.encoding == .annotation {
            return Annotation(event)?.description ?? "an annotation that cannot be read"
        }
        guard event.header.encoding == .gap, let gap = Gap(payload: event.payload.rawSpan) else {
            return "no packet: written by this program"
        }
        let times =
            "\(TimeText.iso(microseconds: gap.first.microseconds)) to \(TimeText.iso(microseconds: gap.last.microseconds))"
        return "a gap: \(gap.count.counted("event was", "events were")) dropped, \(times): \(gap.reason)"
    }
}

extension ClockJump {
    fileprivate var text: String {
        let times = [expected, found].map { TimeText.iso(microseconds: $0.microseconds) }
        let direction = distance < 0 ? "back" : "ahead"
        switch basis {
        case .steadyClock: return "the clock jumped \(direction): it showed \(times[1]), and should have shown \(times[0])"
        case .lastEvent: return "the clock has gone \(direction): it showed \(times[1]), after the last event at \(times[0])"
        }
    }
}
