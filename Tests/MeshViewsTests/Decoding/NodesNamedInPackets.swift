import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// Which nodes the index says that a packet's payload names.
struct NodesNamedInPackets {
    private static let (node, other): (UInt32, UInt32) = (0x1000_0001, 0x2000_0002)

    /// Payloads that name the node, and their ports.
    private static var naming: [(port: UInt32, name: (inout WireWriter) -> Void)] {
        let marks: [UInt32] = [38, 39, 40, 47, 48, 49]
        return marks.map { field in (Port.admin, { $0.uint32(field, node) }) } + [
            (Port.admin, { writer in writer.message(66) { $0.uint32(1, node) } }),
            (Port.admin, { writer in writer.message(67) { $0.uint32(2, node) } }),
            (Port.storeForwardPlusPlus, { $0.uint32(7, node) }), (Port.storeForwardPlusPlus, { $0.uint32(8, node) }),
            (Port.nodeInfo, { $0.string(1, NodeID.text(node)) }), (Port.waypoint, { $0.uint32(5, node) }),
            (Port.neighborInfo, { $0.uint32(2, node) }),
        ]
    }

    /// Payloads with the number in fields that mean something else, with the id of the sender itself, and with what is no id.
    private static var silent: [(port: UInt32, name: (inout WireWriter) -> Void)] {
        [
            (Port.admin, { for field in [37, 41, 46, 50, 68] as [UInt32] { $0.uint32(field, node) } }),
            (Port.admin, { writer in writer.message(66) { $0.uint32(2, node) } }),
            (Port.admin, { writer in writer.message(67) { $0.uint32(1, node) } }),
            (Port.storeForwardPlusPlus, { for field in [6, 9] as [UInt32] { $0.uint32(field, node) } }),
            (Port.nodeInfo, { $0.string(1, NodeID.text(other)) }), (Port.nodeInfo, { $0.string(2, NodeID.text(node)) }),
            (Port.nodeInfo, { $0.string(1, NodeID.text(node) + "0") }), (Port.telemetry, { $0.uint32(5, node) }),
        ]
    }

    @Test func `a packet is found by each node that its payload names, whatever its port`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "radio")
        var events: [NewEvent] = []
        for (port, name) in Self.naming + Self.silent {
            var writer = WireWriter()
            name(&writer)
            let id = UInt32(events.count + 1)
            events.append(MeshPacketBuilder(from: Self.other, id: id, port: port, payload: writer.bytes).event(source))
        }
        try await ledger.log.append(events)
        try await ledger.catchUp()
        let named = try ledger.sequences(of: EventSelection(node: Self.node, roles: .named)).map(\.rawValue)
        #expect(named.sorted() == Array(1...UInt64(Self.naming.count)))
        #expect(try ledger.sequences(of: EventSelection(node: Self.other, roles: .named)).isEmpty)
        try await ledger.close()
    }

    @Test func `a packet is found by the nodes between which it carries its content`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "radio")
        func packet(_ id: UInt32, to destination: UInt32, from origin: UInt32) -> NewEvent {
            MeshPacketBuilder(from: Self.other, id: id, payload: [0x68, 0x69], destination: destination, source: origin)
                .event(source)
        }
        try await ledger.log.append([
            packet(1, to: Self.node, from: 0), packet(2, to: 0, from: Self.node),
            packet(3, to: NodeID.broadcast, from: Self.other),
        ])
        try await ledger.catchUp()
        #expect(try ledger.sequences(of: EventSelection(node: Self.node, roles: .named)).map(\.rawValue).sorted() == [1, 2])
        #expect(try ledger.sequences(of: EventSelection(node: Self.other, roles: .named)).isEmpty)
        #expect(try ledger.sequences(of: EventSelection(node: NodeID.broadcast, roles: .named)).isEmpty)
        try await ledger.close()
    }
}
