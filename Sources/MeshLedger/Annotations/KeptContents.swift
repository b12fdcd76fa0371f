import EventLog
import MeshViews
import Meshtastic
import ProtobufWire
import ViewQuery

/// The nodes and packets that rows are about.
struct RowSubjects: Hashable {
    var nodes: Set<UInt32> = []
    var packets: Set<PacketName> = []
}

/// Whose contents are kept of rows that are archived: the nodes and packets with which these must be erased.
struct KeptContents<Row: QueryRow> {
    /// Properties that name events: those of the contents.
    private static var sequences: Set<String> { ["sequence", "firstSequence", "requestSequence", "replySequence"] }

    private let owners: [RowColumn<Row>]
    private var packets: PacketNames

    init(_ log: EventLog) {
        packets = PacketNames(log)
        let nodes = Row.columns.filter { $0.kind == .node }
        let declared = nodes.filter { $0.naming != nil }
        owners = declared.isEmpty ? nodes : declared.filter { $0.naming == .owner }
    }

    /// The nodes that own the row, and the senders of its packets; and these packets.
    mutating func subjects(of row: Row) throws(EventLogError) -> RowSubjects {
        var subjects = RowSubjects(nodes: Set(owners.flatMap { $0.nodes(of: row) }))
        for column in Row.columns where Self.sequences.contains(column.name) {
            guard let sequence = column.value(in: row) as? UInt64 else { continue }
            if let packet = try packets.name(at: EventSequence(sequence)) { subjects.packets.insert(packet) }
        }
        // Of an event that retention has dropped, what the row says.
        if let id = Row.columns.first(where: { $0.name == "packetID" })?.value(in: row) as? UInt32, id != 0,
            subjects.packets.isEmpty
        {
            subjects.packets = Set(subjects.nodes.map { PacketName(from: $0, id: id) })
        }
        subjects.nodes.formUnion(subjects.packets.map(\.from))
        return subjects
    }
}

/// Reads the senders and ids of packets, without opening these.
struct PacketNames {
    private let log: EventLog
    private let opener = PacketOpener(keyring: Keyring())
    private var batch = PacketBatch()

    init(_ log: EventLog) { self.log = log }

    /// Nil for an event that the log no longer has, or that is no packet.
    mutating func name(at sequence: EventSequence) throws(EventLogError) -> PacketName? {
        guard sequence >= log.first, let event = try log.event(sequence), !event.header.isErased,
            let form = CaptureForm(rawValue: event.header.encoding.rawValue)
        else { return nil }
        batch.removeAll(keepingCapacity: true)
        opener.decode(event.payload.rawSpan, form: form, into: &batch)
        return batch.packets.first.map { PacketName(from: $0.from, id: $0.id) }
    }
}

extension RowColumn {
    /// The nodes that the property names.
    func nodes(of row: Row) -> [UInt32] {
        let value = value(in: row)
        return (value as? [UInt32] ?? [value as? UInt32 ?? 0]).filter { $0 != 0 }
    }
}
