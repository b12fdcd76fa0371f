public import ProtobufWire

/// Packets decoded together, with one arena for their bytes: a batch costs a handful of allocations, reused by `removeAll`.
///
/// ```swift
/// for packet in batch.packets where packet.port == Port.text { show(batch.string(packet.payload)) }
/// ```
public struct PacketBatch: Sendable {
    public var packets: [DecodedPacket] = []
    /// The packets' bytes; those after `arenaCount` are meaningless.
    public internal(set) var arena: [UInt8] = []
    /// How many bytes of the arena are in use.
    public internal(set) var arenaCount = 0

    /// - Parameters:
    ///   - packets: how many to make room for.
    ///   - bytes: how many bytes to make room for in the arena.
    public init(packets count: Int = 0, bytes: Int = 0) {
        packets.reserveCapacity(count)
        arena = [UInt8](repeating: 0, count: max(bytes, 256))
    }

    public mutating func removeAll(keepingCapacity: Bool = true) {
        packets.removeAll(keepingCapacity: keepingCapacity)
        arenaCount = 0
        if !keepingCapacity { arena = [UInt8](repeating: 0, count: 256) }
    }

    /// The packet's payload, in place.
    @_lifetime(borrow self)
    public func payload(of packet: DecodedPacket) -> RawSpan { arena.rawSpan.bytes(packet.payload) }

    /// Bytes of the arena, in place.
    @_lifetime(borrow self)
    public func bytes(_ range: ByteRange) -> RawSpan { arena.rawSpan.bytes(range) }

    /// A text of the arena, each ill-formed part of its UTF-8 replaced by U+FFFD.
    public func string(_ range: ByteRange) -> String { bytes(range).asRepairedString }

    /// Copies bytes into the arena.
    @inline(__always)
    public mutating func append(bytes: RawSpan) -> ByteRange {
        let count = bytes.byteCount
        guard count > 0 else { return .empty }
        let start = reserve(count)
        unsafe arena.withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                if let from = source.baseAddress, let to = target.baseAddress {
                    unsafe (to + start).copyMemory(from: from, byteCount: count)  // `reserve` has made the room
                }
            }
        }
        arenaCount = start &+ count
        return ByteRange(truncating: start, count)
    }

    /// Reserves `count` more bytes and returns where they begin. Raising `arenaCount` puts them to use.
    @inline(__always)
    mutating func reserve(_ count: Int) -> Int {
        if arena.count &- arenaCount < count { grow(count) }
        return arenaCount
    }

    @inline(never)
    private mutating func grow(_ count: Int) {
        arena += [UInt8](repeating: 0, count: max(count, arena.count))
    }
}
