public import MeshLedger

extension PacketRow: TableRow {
    public static var tableName: String { "packets" }

    public static func tableColumns(_ context: TableContext) -> [TableColumn<PacketRow>] {
        [
            TableColumn("first_sequence", .number { $0.firstSequence }, meaning: Meaning.firstSequence),
            TableColumn("time", .instant { $0.heard?.microseconds }, meaning: "When the first of its receivers heard it."),
            TableColumn(
                "time_source", .name { $0.firstHeard?.heardSource.text }.named(.these(HeardSource.names)),
                meaning: Meaning.timeSource),
            TableColumn(
                "arrival", .instant { $0.receptions.first?.arrival.microseconds }, meaning: "When it came into the ledger."),
            TableColumn("id", .number { $0.id }, meaning: Meaning.packet),
            TableColumn("from", .addressee { $0.from }, meaning: "The sender's id."),
            TableColumn("to", .addressee { $0.to }, meaning: Meaning.addressee),
            TableColumn(
                "port", .name { FieldTable.portText($0.port, isReadable: $0.opening.isReadable) }.named(.ports),
                meaning: "What it is about."),
            TableColumn("channel", .nameOrNone { $0.channel }, meaning: Meaning.channel),
            TableColumn("opening", .enumeration { $0.opening }, meaning: "How it was opened, or why not."),
            TableColumn("is_damaged", .number { $0.isDamaged }, meaning: "Whether parts of it were altered on the way."),
            TableColumn(
                "receptions", .number { $0.isReplayedState ? 0 : UInt32(clamping: $0.receptions.count) },
                meaning: "How often it was heard."),
            TableColumn(
                "gateways", .texts { $0.receptions.lazy.filter { $0.gateway != 0 }.map { NodeID.text($0.gateway) } },
                meaning: "Those that heard it."),
            TableColumn("sequences", .numbers { $0.receptions.lazy.map(\.sequence) }, meaning: "The events of its receptions."),
            TableColumn(
                "has_conflict", .number { $0.hasConflict }, meaning: "Whether another packet has the same sender, id and hour."),
        ]
    }
}

extension PacketRow {
    /// The reception by which its time is known.
    package var firstHeard: PacketReception? { receptions.min { $0.heard < $1.heard } }
}

extension HeardSource {
    package static let names = [HeardSource.recorded, .receiver, .arrival, .imported].map(\.text)

    /// `import` where nothing tells when it was heard, and the time is that of its import.
    package var text: String {
        switch self {
        case .recorded: "recorded"
        case .receiver: "receiver"
        case .arrival: "arrival"
        case .imported: "import"
        }
    }
}

/// One reception, and its packet.
public struct ReceptionRecord: TableRow {
    public var packet: PacketRow
    public var reception: PacketReception

    public init(packet: PacketRow, reception: PacketReception) {
        self.packet = packet
        self.reception = reception
    }

    package static func all(of packet: PacketRow) -> [ReceptionRecord] {
        packet.heardReceptions.map { ReceptionRecord(packet: packet, reception: $0) }
    }

    public static var tableName: String { "receptions" }

    public static func tableColumns(_ context: TableContext) -> [TableColumn<ReceptionRecord>] {
        let sources = context.sourceNames
        return [
            TableColumn("packet", .number { $0.packet.firstSequence }, meaning: "The first event of the packet."),
            TableColumn("from", .node { $0.packet.from }, meaning: "The sender's id."),
            TableColumn(
                "has_conflict", .number { $0.packet.hasConflict },
                meaning: "Whether another packet has the same sender, id and hour."),
            TableColumn("sequence", .number { $0.reception.sequence }, meaning: "The event of the reception."),
            TableColumn("time", .instant { $0.reception.heard.microseconds }, meaning: "When the gateway heard it."),
            TableColumn(
                "time_source", .name { $0.reception.heardSource.text }.named(.these(HeardSource.names)),
                meaning: Meaning.timeSource),
            TableColumn("arrival", .instant { $0.reception.arrival.microseconds }, meaning: "When it came into the ledger."),
            TableColumn("rx_time", .time { $0.reception.rxTime }, meaning: "When it was received, by the receiver's clock."),
            TableColumn("gateway", .nodeOrNone { $0.reception.gateway }, meaning: "The gateway that heard it."),
            TableColumn(
                "snr", .optional { $0.reception.rssi == nil && $0.reception.snr == 0 ? nil : $0.reception.snr }, unit: "dB",
                meaning: "Signal-to-noise ratio."),
            TableColumn("rssi", .optional { $0.reception.rssi }, unit: "dBm", meaning: "Signal strength."),
            TableColumn("hops_away", .optional { $0.reception.hopsAway.map { UInt32($0) } }, meaning: "Hops to the gateway."),
            TableColumn(
                "relay_node", .positive { UInt32($0.reception.relayNode) },
                meaning: "The last byte of the number of the node that passed it on."),
            TableColumn("is_via_mqtt", .number { $0.reception.isViaMQTT }, meaning: "Whether it came over the internet."),
            TableColumn(
                "source",
                .code(isNullable: false, { $0.reception.source.rawValue }, name: { sources[$0] ?? String($0) })
                    .named(.these(sources.values.sorted())),
                isContextual: true,
                meaning: "Through which it came here."),
        ]
    }
}

/// The index entry of each event with a packet.
extension IndexedEvent: TableRow {
    public static var tableName: String { "packet_events" }

    public static func tableColumns(_ context: TableContext) -> [TableColumn<IndexedEvent>] {
        [
            TableColumn("sequence", .number { $0.sequence }, meaning: "The event."),
            TableColumn("from", .name { $0.hasPacket ? NodeID.addressee($0.from) : nil }, meaning: "The sender's id."),
            TableColumn("to", .name { $0.hasPacket ? NodeID.addressee($0.to) : nil }, meaning: "The id of the addressee."),
            TableColumn("gateway", .nodeOrNone { $0.gateway }, meaning: "The gateway that heard it."),
            TableColumn("channel", .nameOrNone { $0.channel }, meaning: Meaning.channel),
            TableColumn(
                "port", .name { FieldTable.portText($0.port ?? 0, isReadable: $0.port != nil) }.named(.ports),
                meaning: "What it is about."),
            TableColumn("named", .texts { $0.named.map { NodeID.text($0) } }, meaning: "The nodes that its payload names."),
            TableColumn("is_first_reception", .number { $0.isFirstReception }),
            TableColumn("is_first_readable", .number { $0.isFirstReadable }),
            TableColumn(
                "is_repeat", .number { $0.isRepeat }, meaning: "Whether exactly this reception is also an earlier event."),
        ]
    }
}

/// One whole event of the log.
public struct EventRecord: TableRow {
    public var header: EventHeader
    public var source: String
    /// The name of its encoding, or its number.
    public var encoding: String
    /// In base64.
    public var payload: String

    public init(_ header: EventHeader, source: String, encoding: String, payload: String) {
        self.header = header
        self.source = source
        self.encoding = encoding
        self.payload = payload
    }

    public static var tableName: String { "events" }

    public static func tableColumns(_ context: TableContext) -> [TableColumn<EventRecord>] {
        [
            TableColumn("sequence", .number { $0.header.sequence.rawValue }, meaning: "Its number, from 1."),
            TableColumn("arrival", .instant { $0.header.arrivalTime.microseconds }, meaning: "When it came into the ledger."),
            TableColumn("reception", .optionalText { $0.receptionText }, meaning: "live, or the time that its recording states."),
            TableColumn("source", .name { $0.source }, meaning: "Through which it came here."),
            TableColumn("encoding", .name { $0.encoding }, meaning: "The form of its bytes."),
            TableColumn("masked", .number { $0.header.isMasked }, meaning: "Whether secrets in it were zeroed."),
            TableColumn("erased", .number { $0.header.isErased }, meaning: "Whether its bytes were erased."),
            TableColumn("payload_b64", .text { $0.payload }, meaning: "Its bytes, in base64."),
        ]
    }

    private var receptionText: String? {
        switch header.reception {
        case .live: "live"
        case .unrecorded: nil
        case .recorded(let time): ISO8601.text(microseconds: time.microseconds)
        }
    }
}

extension QuarantineRow: TableRow {
    public static var tableName: String { "quarantine" }

    public static func tableColumns(_ context: TableContext) -> [TableColumn<QuarantineRow>] {
        [
            TableColumn("view", .name { $0.view }),
            TableColumn("sequence", .number { $0.sequence }, meaning: "The event that the view could not read."),
            TableColumn("reason", .text { $0.reason }),
        ]
    }
}
