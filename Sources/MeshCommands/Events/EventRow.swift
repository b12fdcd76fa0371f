import EventLog
import Foundation
import MeshIngest
import MeshLedger
import Meshtastic
import ProtobufWire

/// An event with its packet's header.
struct EventRow {
    var event: Event
    var source: String
    var packet: DecodedPacket?
    /// The channel whose key opened the packet, or the one that its envelope names.
    var channel = ""

    init(_ event: Event, source: String) {
        self.event = event
        self.source = source
    }

    var encodingName: String {
        LedgerLine.name(of: event.header.encoding) ?? String(event.header.encoding.rawValue)
    }

    private var receptionValue: CellValue {
        switch event.header.reception {
        case .live: .text("live")
        case .unrecorded: .null
        case .recorded(let time): .text(TimeText.iso(microseconds: time.microseconds))
        }
    }

    private var arrival: CellValue { .text(TimeText.iso(microseconds: event.header.arrivalTime.microseconds)) }

    private func node(_ number: (DecodedPacket) -> UInt32) -> CellValue {
        guard let packet, packet.hasPacket else { return .null }
        return .text(number(packet) == NodeID.broadcast ? "^all" : NodeID.text(number(packet)))
    }

    static var columns: [Column<EventRow>] {
        [
            Column("sequence") { .unsigned($0.event.sequence.rawValue) },
            Column("arrival", shown: { TimeText.iso($0.event.header.arrivalTime.seconds) }) { $0.arrival },
            Column("reception", isDetail: true) { $0.receptionValue },
            Column("time", isDetail: true) {
                .text(TimeText.iso(microseconds: $0.event.header.heard(rxTime: $0.packet?.rxTime ?? 0).microseconds))
            },
            Column("from") { $0.node(\.from) },
            Column("to") { $0.node(\.to) },
            Column("port", canCut: true) { row in
                guard let packet = row.packet, packet.port != 0 else { return .null }
                return .text(FieldTable.portName(packet.port) ?? String(packet.port))
            },
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("opening", canCut: true) { row in row.packet.map { .text("\($0.opening)") } ?? .null },
            Column("form", canCut: true) { .text($0.encodingName) },
            Column("bytes") { .unsigned(UInt64($0.event.payload.count)) },
            Column("gateway", isDetail: true) { .node($0.packet?.gateway ?? 0) },
            Column("packet_id", isDetail: true) { row in row.packet.flatMap { $0.hasPacket ? .number($0.id) : nil } ?? .null },
            Column("failure", canCut: true) { row in
                if row.event.header.isErased { return .text("erased") }
                if let failure = row.packet?.failure { return .text(failure.reason) }
                return row.packet?.flags.contains(.isDamaged) == true ? .text(DissectedEvent.damage) : .null
            },
            Column("source", canCut: true) { .text($0.source) },
        ]
    }

    /// The event itself, for another program: nothing is left out. The names are those of exported JSON lines.
    static var rawColumns: [Column<EventRow>] {
        [
            Column("sequence") { .unsigned($0.event.sequence.rawValue) },
            Column("arrival") { $0.arrival },
            Column("reception") { $0.receptionValue },
            Column("source") { .text($0.source) },
            Column("encoding") { .text($0.encodingName) },
            Column("masked") { .bool($0.event.header.isMasked) },
            Column("erased") { .bool($0.event.header.isErased) },
            Column("payload_b64") { .text(Data($0.event.payload).base64EncodedString()) },
        ]
    }
}

/// Makes rows of events with one opener, whose cipher contexts serve all of them.
final class EventRows {
    private let names: [UInt32: String]
    private let opener: PacketOpener
    private var batch = PacketBatch()

    init(_ ledger: Ledger) throws {
        names = try Self.sourceNames(ledger)
        opener = try ledger.opener()
    }

    func row(_ event: Event) -> EventRow {
        var row = EventRow(event, source: Self.name(event.header.source, in: names))
        guard !event.header.isErased, let form = CaptureForm(rawValue: event.header.encoding.rawValue) else { return row }
        batch.removeAll(keepingCapacity: true)
        opener.decode(event.payload.rawSpan, form: form, into: &batch)
        guard let packet = batch.packets.first else { return row }
        row.packet = packet
        row.channel = channel(of: packet)
        // The JSON form states only a channel's index; its name is in the topic that ends the source's name.
        if form == .mqttJSON, row.channel.isEmpty { row.channel = Topic(parsing: row.source)?.channel ?? "" }
        return row
    }

    /// The source of that name, or the only one whose name contains it.
    static func source(_ text: String, _ names: [UInt32: String]) throws -> UInt32 {
        let found =
            names.filter { $0.value == text }.isEmpty
            ? names.filter { $0.value.contains(text) } : names.filter { $0.value == text }
        if found.count == 1, let only = found.first { return only.key }
        let list = found.values.sorted().prefix(5).joined(separator: ", ")
        throw CommandError(
            .noInput, found.isEmpty ? "no source is called \(text)" : "\(found.count) sources are called so: \(list)")
    }

    func dissect(_ event: Event) -> DissectedEvent? {
        guard !event.header.isErased, let form = CaptureForm(rawValue: event.header.encoding.rawValue) else { return nil }
        return Dissector.dissectEvent(form: form, bytes: event.payload.rawSpan, opener: opener)
    }

    private func channel(of packet: DecodedPacket) -> String {
        let channels = opener.keyring.channels
        if packet.opening == .channelKey, channels.indices.contains(Int(packet.keyIndex)) {
            return channels[Int(packet.keyIndex)].name
        }
        return packet.channelID.isEmpty ? "" : batch.string(packet.channelID)
    }

    static func sourceNames(_ ledger: Ledger) throws -> [UInt32: String] {
        Dictionary(uniqueKeysWithValues: try ledger.log.sources().map { ($0.id.rawValue, $0.name) })
    }

    static func name(_ source: SourceID, in names: [UInt32: String]) -> String {
        names[source.rawValue] ?? String(source.rawValue)
    }
}
