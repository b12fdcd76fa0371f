internal import ProtobufWire

/// State of other nodes that a 2.8 node sends to its client on connection. It looks like packets, but the ids are computed from the state.
public enum ReplayedState {
    static let priority: UInt8 = 10
    private static let transport: UInt8 = 1

    /// The id of a replay.
    ///
    /// - Parameters:
    ///   - rxTime: of the replayed packet, seconds since 1970.
    ///   - kind: 3 for a position; for telemetry the number of its variant, 2 or 3; 36 for a node's status.
    public static func id(node: UInt32, rxTime: UInt32, kind: UInt32) -> UInt32 {
        let factor: UInt32 = 2_654_435_761
        let hash = (node &* factor &+ rxTime) &* factor &+ kind
        return hash == 0 ? 1 : hash
    }

    /// Whether an unencrypted packet is such state.
    @inline(never)
    static func isOne(_ packet: DecodedPacket, _ batch: borrowing PacketBatch) -> Bool {
        guard packet.isBroadcast, packet.channel == 0, packet.priority == priority, packet.transport == transport else {
            return false
        }
        let kind: UInt32
        switch packet.port {
        case Port.position: kind = 3
        case Port.nodeStatus: kind = 36
        case Port.telemetry: kind = telemetryKind(batch.arena.rawSpan, packet.payload)
        default: return false
        }
        return kind != 0 && packet.id == id(node: packet.from, rxTime: packet.rxTime, kind: kind)
    }

    private static func telemetryKind(_ bytes: RawSpan, _ range: ByteRange) -> UInt32 {
        var kind: UInt32 = 0
        var reader = WireReader(bytes, in: range)
        do throws(WireError) {
            while kind == 0, let field = try reader.next() {
                if field.type == .lengthDelimited, (2...3).contains(field.number) { kind = field.number }
            }
        } catch { return 0 }
        return kind
    }
}
