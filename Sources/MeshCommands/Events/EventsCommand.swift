import ArgumentParser
import EventLog
import Foundation
import MeshIngest
import MeshViews
import Meshtastic
import ProtobufWire

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "The log's events as they came, the newest first.",
        discussion: """
              meshledger events --limit 10
              meshledger events --since '1h ago' --format jsonl
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions

    func run() async throws {
        try await ledger.reading { ledger in
            let names = try EventRow.sourceNames(ledger)
            let writer = output.writer(EventRow.columns)
            let keyring = ledger.keyring
            try EventPages.visit(ledger.log, times, page, defaultLimit: output.format == .table ? 50 : .max) { event in
                writer.write(EventRow(event, names, keyring))
            }
            writer.finish(emptyNote: "no events")
        }
    }
}

/// Walks events page by page, so that memory does not grow with the log.
enum EventPages {
    private static let pageSize: UInt64 = 1_000

    static func visit(
        _ log: EventLog, _ times: TimeOptions, _ page: PageOptions, defaultLimit: Int, _ visitor: (Event) throws -> Void
    ) throws {
        let first = try times.since.map { try log.firstSequence(arrivedFrom: $0.time)?.rawValue ?? .max } ?? 1
        let last = try times.until.map { try log.lastSequence(arrivedBy: $0.time).rawValue } ?? log.head.rawValue
        guard first <= last, last > 0 else { return }
        let offset = UInt64(page.offset)
        let limit = UInt64(page.limit ?? defaultLimit)
        guard last - first + 1 > offset else { return }
        let available = min(limit, last - first + 1 - offset)
        var done: UInt64 = 0
        while done < available {
            let count = min(Self.pageSize, available - done)
            let range: ClosedRange<UInt64>
            if page.oldestFirst {
                let start = first + offset + done
                range = start...(start + count - 1)
            } else {
                let end = last - offset - done
                range = (end - count + 1)...end
            }
            let sequences = EventSequence(range.lowerBound)...EventSequence(range.upperBound)
            for event in try log.events(in: sequences, reversed: !page.oldestFirst) { try visitor(event) }
            done += count
        }
    }
}

/// An event with what its packet says about itself.
struct EventRow {
    var event: Event
    var source: String
    var packet: DecodedPacket?

    init(_ event: Event, _ names: [UInt32: String], _ keyring: Keyring?) {
        self.event = event
        source = names[event.header.source.rawValue] ?? String(event.header.source.rawValue)
        guard let keyring, let form = CaptureForm(rawValue: event.header.encoding.rawValue) else { return }
        var batch = PacketBatch()
        PacketOpener(keyring: keyring).decode(event.payload.rawSpan, form: form, into: &batch)
        packet = batch.packets.first
    }

    static func sourceNames(_ ledger: Ledger) throws -> [UInt32: String] {
        Dictionary(uniqueKeysWithValues: try ledger.log.sources().map { ($0.id.rawValue, $0.name) })
    }

    var encodingName: String {
        LedgerLine.name(of: event.header.encoding) ?? String(event.header.encoding.rawValue)
    }

    var receptionValue: CellValue {
        switch event.header.reception {
        case .live: .text("live")
        case .unrecorded: .null
        case .recorded(let time): .text(TimeText.iso(microseconds: time.microseconds))
        }
    }

    static var columns: [Column<EventRow>] {
        [
            Column("sequence") { .unsigned($0.event.sequence.rawValue) },
            Column("arrival") { .text(TimeText.iso(microseconds: $0.event.header.arrivalTime.microseconds)) },
            Column("form") { .text($0.encodingName) },
            Column("from") { row in row.packet.flatMap { $0.hasPacket ? .text(NodeID.text($0.from)) : nil } ?? .null },
            Column("to") { row in
                row.packet.flatMap { $0.hasPacket ? .text($0.to == NodeID.broadcast ? "^all" : NodeID.text($0.to)) : nil }
                    ?? .null
            },
            Column("port") { row in
                guard let packet = row.packet, packet.port != 0 else { return .null }
                return .text(FieldTable.portName(packet.port) ?? String(packet.port))
            },
            Column("opening") { row in row.packet.map { .text("\($0.opening)") } ?? .null },
            Column("bytes") { .unsigned(UInt64($0.event.payload.count)) },
            Column("failure") { row in row.packet?.failure.map { .text($0.reason) } ?? .null },
            Column("source") { .text($0.source) },
        ]
    }

    /// The event itself, for another program: nothing is left out.
    static var rawColumns: [Column<EventRow>] {
        [
            Column("sequence") { .unsigned($0.event.sequence.rawValue) },
            Column("arrival") { .text(TimeText.iso(microseconds: $0.event.header.arrivalTime.microseconds)) },
            Column("reception") { $0.receptionValue },
            Column("source") { .text($0.source) },
            Column("encoding") { .text($0.encodingName) },
            Column("masked") { .bool($0.event.header.isMasked) },
            Column("payload_b64") { .text(Data($0.event.payload).base64EncodedString()) },
        ]
    }
}
