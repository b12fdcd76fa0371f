import EventLog
import Foundation
import MeshIngest
import MeshLedger
import Meshtastic
import ProtobufWire

/// An event with its packet's header.
struct EventRow: Sendable {
    let header: EventHeader
    let source: String
    var packet: DecodedPacket?
    /// The channel whose key opened the packet, or the one that its envelope names.
    var channel = ""
    /// Its bytes in base64, where they are printed.
    var payload = ""

    var encodingName: String { LedgerLine.name(of: header.encoding) ?? String(header.encoding.rawValue) }

    private var receptionValue: CellValue {
        switch header.reception {
        case .live: .text("live")
        case .unrecorded: .null
        case .recorded(let time): .instant(time)
        }
    }

    private var heard: Timestamp { header.heard(rxTime: packet?.rxTime ?? 0) }

    private func node(_ number: (DecodedPacket) -> UInt32) -> CellValue {
        guard let packet, packet.hasPacket else { return .null }
        return PacketCell.node(number(packet))
    }

    static var columns: [Column<EventRow>] { columns(by: .heard) }

    /// A table has the time by which it is sorted.
    static func columns(by clock: EventOrder.Clock) -> [Column<EventRow>] {
        [
            Column("sequence") { .unsigned($0.header.sequence.rawValue) },
            Column("time", isDetail: clock != .heard, shown: { TimeText.iso($0.heard.seconds) }) { .instant($0.heard) },
            Column("time_source", isDetail: clock != .heard) {
                PacketCell.name($0.header.heardSource(rxTime: $0.packet?.rxTime ?? 0))
            },
            Column("arrival", isDetail: clock != .arrival, shown: { TimeText.iso($0.header.arrivalTime.seconds) }) {
                .instant($0.header.arrivalTime)
            },
            Column("reception", isDetail: true) { $0.receptionValue },
            Column("from") { $0.node(\.from) },
            Column("to") { $0.node(\.to) },
            Column("port", canCut: true) { row in
                guard let packet = row.packet, packet.hasPacket else { return .null }
                return PacketCell.port(packet.port, isReadable: packet.opening.isReadable)
            },
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("opening", canCut: true) { row in row.packet.map { PacketCell.name($0.opening) } ?? .null },
            Column("form", canCut: true) { .text($0.encodingName) },
            Column("bytes") { .unsigned(UInt64($0.header.payloadLength)) },
            Column("gateway", isDetail: true) { .node($0.packet?.gateway ?? 0) },
            Column("packet_id", isDetail: true) { row in row.packet.flatMap { $0.hasPacket ? .number($0.id) : nil } ?? .null },
            Column("failure", canCut: true) { row in
                if row.header.isErased { return .text("erased") }
                if let failure = row.packet?.failure { return .text(failure.reason) }
                return row.packet?.flags.contains(.isDamaged) == true ? .text(DissectedEvent.damage) : .null
            },
            Column("source", canCut: true) { .text($0.source) },
        ]
    }

    /// The event itself, for another program: nothing is left out. The names are those of exported JSON lines.
    static var rawColumns: [Column<EventRow>] {
        [
            Column("sequence") { .unsigned($0.header.sequence.rawValue) },
            Column("arrival") { .instant($0.header.arrivalTime) },
            Column("reception") { $0.receptionValue },
            Column("source") { .text($0.source) },
            Column("encoding") { .text($0.encodingName) },
            Column("masked") { .bool($0.header.isMasked) },
            Column("erased") { .bool($0.header.isErased) },
            Column("payload_b64") { .text($0.payload) },
        ]
    }
}

/// Values that lists of events and of packets have.
enum PacketCell {
    static func node(_ number: UInt32) -> CellValue { .text(number == NodeID.broadcast ? "^all" : NodeID.text(number)) }

    /// What no key opens has no port that is known.
    static func port(_ port: UInt32, isReadable: Bool) -> CellValue {
        guard port != 0 || isReadable else { return .text("unreadable") }
        return .text(FieldTable.portName(port) ?? String(port))
    }

    static func name(_ opening: Opening) -> CellValue { .text(openings[Int(opening.rawValue)]) }

    /// `import` where nothing tells when it was heard, and the time is that of its import.
    static func name(_ source: HeardSource) -> CellValue {
        switch source {
        case .recorded: .text("recorded")
        case .receiver: .text("rx_time")
        case .arrival: .text("arrival")
        case .imported: .text("import")
        }
    }

    /// Made once: the name of a case is looked up in the program's metadata.
    private static let openings: [String] = (0...(Opening.allCases.map(\.rawValue).max() ?? 0)).map { number in
        Opening(rawValue: number).map { "\($0)" } ?? ""
    }
}

/// Makes rows of events with one opener, whose cipher contexts serve all of them.
final class EventRows {
    private let names: [UInt32: String]
    private let opener: PacketOpener
    private var batch = PacketBatch()

    convenience init(_ ledger: Ledger) throws {
        self.init(try Self.sourceNames(ledger), try ledger.openingKnowledge())
    }

    init(_ names: [UInt32: String], _ knowledge: OpeningKnowledge) {
        self.names = names
        opener = knowledge.opener()
    }

    func row(_ event: Event) -> EventRow { row(event.header, event.payload.rawSpan) }

    func row(_ header: EventHeader, _ payload: RawSpan) -> EventRow {
        var row = EventRow(header: header, source: Self.name(header.source, in: names))
        guard !header.isErased, let form = CaptureForm(rawValue: header.encoding.rawValue) else { return row }
        batch.removeAll(keepingCapacity: true)
        opener.decode(payload, form: form, into: &batch)
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

    func source(of header: EventHeader) -> String { Self.name(header.source, in: names) }

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
