import EventLog
import Foundation
import MeshIngest
import MeshLedger
import MeshTables
import Meshtastic
import ProtobufWire

/// An event with its packet's header.
struct EventRow: Sendable {
    let header: EventHeader
    let source: String
    var packet: DecodedPacket?
    /// What the receptions of the packet have in common.
    var identity: UInt64 = 0
    /// What distinguishes it from other packets with that identity.
    var print = PacketPrint()
    /// The packet's channel, as all lists call it.
    var channel = ""
    /// What its gateway calls the channel.
    var gatewayChannel = ""
    /// Of a packet that no key opens: the channels with its hash whose keys are known.
    var knownChannels: [String] = []
    /// Only where the rows are made with it: the nodes that it names besides sender, addressee and gateway.
    var named: [UInt32] = []
    /// Only where the rows are made with it: what the packet holds, decoded.
    var content = CellValue.null
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

    /// Made once: the name of a case is looked up in the program's metadata.
    private static let openings = (0...UInt8.max).map { number in
        Opening(rawValue: number).map { CellValue.text("\($0)") } ?? .null
    }

    var heard: Timestamp { header.heard(rxTime: packet?.rxTime ?? 0) }

    private var heardSource: HeardSource { header.heardSource(rxTime: packet?.rxTime ?? 0) }

    /// Whether nothing tells when it was heard.
    var isTimeOfImport: Bool { heardSource == .imported }

    private func node(_ number: (DecodedPacket) -> UInt32) -> CellValue {
        guard let packet, packet.hasPacket else { return .null }
        return .text(NodeID.addressee(number(packet)))
    }

    static var columns: [Column<EventRow>] { columns(by: .heard) }

    /// The columns of stored events, whose sources are known.
    static func columns(by clock: EventOrder.Clock = .heard, in ledger: Ledger) throws -> [Column<EventRow>] {
        let sources = try EventRows.sourceNames(ledger).values.sorted()
        return columns(by: clock).map { $0.name == "source" ? $0.named(.these(sources)) : $0 }
    }

    /// A table shows the time by which it is sorted.
    static func columns(by clock: EventOrder.Clock) -> [Column<EventRow>] {
        [
            Column("sequence") { .unsigned($0.header.sequence.rawValue) },
            Column("time", isDetail: clock != .heard, isMain: true, isOfImport: \.isTimeOfImport) { .instant($0.heard) },
            Column("time_source", isDetail: clock != .heard, isMinor: true) {
                .text($0.heardSource.text)
            }.named(.these(HeardSource.names)),
            Column("arrival", isDetail: clock != .arrival, isMain: true) {
                .instant($0.header.arrivalTime)
            },
            Column("reception", isDetail: true) { $0.receptionValue },
            Column("from", isMain: true) { $0.node(\.from) },
            Column("to") { $0.node(\.to) },
            Column("port", isMain: true) { row in
                guard let packet = row.packet, packet.hasPacket else { return .null }
                return .text(FieldTable.portText(packet.port, isReadable: packet.opening.isReadable))
            }.named(.ports),
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("opening", heading: "opened", canCut: true, isMinor: true) { row in
                row.packet.map { openings[Int($0.opening.rawValue)] } ?? .null
            }
            .named(.cases(Opening.self)),
            Column("form", canCut: true, isMinor: true) { .text($0.encodingName) }.named(.encodings),
            Column("bytes", isMinor: true) { .unsigned(UInt64($0.header.payloadLength)) },
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

    /// How its packet was received.
    static var signalColumns: [Column<EventRow>] {
        func packet(_ row: EventRow) -> DecodedPacket? { row.packet.flatMap { $0.hasPacket ? $0 : nil } }
        return [
            Column("snr", unit: "dB") { row in
                packet(row).map { $0.rxSNR == 0 && !$0.hasRSSI ? .null : .float($0.rxSNR) } ?? .null
            },
            Column("rssi", unit: "dBm") { row in packet(row).map { $0.hasRSSI ? .number($0.rxRSSI) : .null } ?? .null },
            Column("hops_away", heading: "hops") { .number((packet($0)?.hopsAway).map { UInt32($0) }) },
        ].map(\.onRequest)
    }

    /// A table is a line for each packet, with what it holds instead of how it came.
    static func liveColumns(by clock: EventOrder.Clock) -> [Column<EventRow>] {
        (columns(by: clock) + [contentColumn]).map { column in
            var column = column
            if ["time_source", "opening", "form", "bytes", "source", "failure"].contains(column.name) { column.isDetail = true }
            if ["sequence", "gateway"].contains(column.name) { column.isMinor = true }
            if column.name == "gateway" { column.isDetail = false }
            return column
        }
    }

    /// What the packet holds; in tables, also why it cannot be read.
    static var contentColumn: Column<EventRow> { Column("content", isText: true, shown: { $0.contentText }) { $0.content } }

    private var contentText: String {
        if content != .null { return content.forPeople.summary }
        if let failure = packet?.failure { return failure.reason }
        guard let packet, packet.opening == .opaque else { return "" }
        return "no known key opens it"
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

/// Makes rows of events with one opener, whose cipher contexts serve all of them.
final class EventRows {
    /// The parts of rows that are made only on request.
    struct Parts: OptionSet {
        let rawValue: Int

        static let named = Parts(rawValue: 1)
        static let content = Parts(rawValue: 2)
    }

    private var names: [UInt32: String]
    private let ledger: Ledger
    private let opener: PacketOpener
    private let channels: ChannelReader
    private let keys: [ChannelKey]
    private let parts: Parts
    private var batch = PacketBatch()

    convenience init(_ ledger: Ledger, with parts: Parts = []) throws {
        self.init(ledger, try Self.sourceNames(ledger), try ledger.openingKnowledge(), with: parts)
    }

    init(_ ledger: Ledger, _ names: [UInt32: String], _ knowledge: OpeningKnowledge, with parts: Parts = []) {
        self.names = names
        self.ledger = ledger
        self.parts = parts
        opener = knowledge.opener()
        channels = ChannelReader(ledger)
        keys = ledger.keys.keyring.channels
    }

    func row(_ event: Event) -> EventRow { row(event.header, event.payload.rawSpan) }

    func row(_ header: EventHeader, _ payload: RawSpan) -> EventRow {
        if names[header.source.rawValue] == nil { readNames(header.source.rawValue) }
        var row = EventRow(header: header, source: Self.name(header.source, in: names))
        guard !header.isErased, let form = CaptureForm(rawValue: header.encoding.rawValue) else { return row }
        batch.removeAll(keepingCapacity: true)
        opener.decode(payload, form: form, into: &batch)
        guard let packet = batch.packets.first else { return row }
        (row.packet, row.identity) = (packet, batch.identity(at: 0))
        if parts.contains(.content) {
            row.print = PacketPrint(packet, batch.payload(of: packet), isJSON: form == .mqttJSON)
        }
        // The JSON form states only a channel's index; its name is in the topic that ends the source's name.
        let topic = form == .mqttJSON ? Topic(parsing: row.source)?.channel : nil
        row.channel = channels.title(header.sequence.rawValue, packet, in: batch, topic: topic)
        if !packet.opening.isReadable, !packet.channelID.isEmpty { row.gatewayChannel = batch.string(packet.channelID) }
        if packet.opening == .opaque {
            row.knownChannels = keys.filter { UInt32($0.hash) == packet.channel }.map(\.name).withoutRepeats
        }
        if parts.contains(.named) { row.named = NamedNodes.of(packet, in: batch) }
        if parts.contains(.content), packet.failure == nil {
            row.content = Dissector.dissectEvent(form: form, bytes: payload, opener: opener).content
        }
        return row
    }

    /// A source may have come since.
    private func readNames(_ source: UInt32) {
        guard source > names.keys.max() ?? 0 else { return }
        names = (try? Self.sourceNames(ledger)) ?? names  // if they cannot be read, its number is shown
    }

    /// The source of that name, or the only one whose name contains it.
    static func source(_ text: String, _ names: [UInt32: String]) throws -> UInt32 {
        if let known = try knownSource(text, names) { return known }
        let name = try KnownName.find(text, "source", among: names.values.sorted())
        return names.first { $0.value == name }?.key ?? 0
    }

    /// The source of that name, or the only one whose name contains it; nil if no source has such a name.
    static func knownSource(_ text: String, _ names: [UInt32: String]) throws -> UInt32? {
        let exact = names.filter { $0.value == text }
        let found = exact.isEmpty ? names.filter { $0.value.contains(text) } : exact
        guard found.count > 1 else { return found.first?.key }
        let list = found.values.sorted().prefix(5).joined(separator: ", ")
        throw CommandError(.usage, "\(found.count) sources have this name: \(list)")
    }

    func source(of header: EventHeader) -> String { Self.name(header.source, in: names) }

    func dissect(_ event: Event) -> DissectedEvent? {
        guard !event.header.isErased, let form = CaptureForm(rawValue: event.header.encoding.rawValue) else { return nil }
        return Dissector.dissectEvent(form: form, bytes: event.payload.rawSpan, opener: opener)
    }

    static func sourceNames(_ ledger: Ledger) throws -> [UInt32: String] {
        Dictionary(uniqueKeysWithValues: try ledger.log.sources().map { ($0.id.rawValue, $0.name) })
    }

    static func name(_ source: SourceID, in names: [UInt32: String]) -> String {
        names[source.rawValue] ?? String(source.rawValue)
    }
}

extension DissectedEvent {
    /// The content of the packet's payload, or a radio's report; null if it cannot be read.
    var content: CellValue {
        guard let message else { return .null }
        return CellValue(message.json).heldContent
    }
}

extension CellValue {
    fileprivate subscript(name: String) -> CellValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text for people: places in degrees, routes as ids of nodes and decibels, without keys and technical fields.
    fileprivate var forPeople: CellValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.filter { $0.name != "public_key" && !$0.name.contains("@") }.map { member in
                if let route = member.value.route(member.name) { return CellMember(name: member.name, value: route) }
                guard ["latitude_i", "longitude_i"].contains(member.name), let number = Double(member.value.plain) else {
                    return CellMember(name: member.name, value: member.value.forPeople)
                }
                let degrees = CellValue.double((number / 100).rounded() / 100_000)
                return CellMember(name: String(member.name.dropLast(2)), value: degrees)
            })
    }

    /// In quarters of a decibel.
    private static let unknownStrength: Int32 = -128

    /// The hops of a trace route, or how well each heard the one before it; nil for anything else. A `?` is unknown, as in `links traceroutes`.
    private func route(_ name: String) -> CellValue? {
        guard case .list(let values) = self else { return nil }
        switch name {
        case "route", "route_back":
            let nodes = values.map { value in
                UInt32(value.plain).map { $0 == NodeID.broadcast ? "?" : NodeID.text($0) } ?? value.plain
            }
            return .list(nodes.map { .text($0) })
        case "snr_towards", "snr_back":
            let decibels = values.map { value in
                Int32(value.plain).map { $0 == Self.unknownStrength ? "?" : "\(Double($0) / 4)" } ?? value.plain
            }
            return .text("{\(decibels.joined(separator: " "))} dB")
        default: return nil
        }
    }

    /// Within an envelope, a packet and its data.
    fileprivate var heldContent: CellValue {
        let packet = self["packet"] ?? self
        guard let data = packet["decoded"] ?? packet["encrypted@content"] else {
            return packet["encrypted"] == nil && packet["from"] == nil ? packet : .null
        }
        return data["payload@content"] ?? data["payload"] ?? .null
    }
}
