internal import MeshCrypto
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
    /// By index, what identifies packets without an id.
    private var contents: [Int: UInt64] = [:]

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
        if !contents.isEmpty { contents.removeAll() }
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

extension PacketBatch {
    /// In which form the content of a packet came.
    enum ContentForm: UInt8 { case none, decoded, encrypted, json }

    /// What the receptions of a packet have in common: in the upper half the sender, in the lower one the id, or without an id a hash
    /// of what the sender has written.
    package func identity(at index: Int) -> UInt64 {
        let packet = packets[index]
        return packet.id != 0 ? UInt64(packet.from) << 32 | UInt64(packet.id) : contents[index] ?? 0
    }

    /// Records what identifies a packet without an id that is about to be added.
    /// - Parameters:
    ///   - kind: of encrypted content the channel's hash, of JSON the port.
    ///   - content: the bytes as they came, of JSON the payload that was made of it.
    mutating func identify(_ packet: DecodedPacket, _ form: ContentForm, _ kind: UInt32, _ content: RawSpan) {
        let header = packet.from.littleEndianBytes + packet.to.littleEndianBytes + kind.littleEndianBytes + [form.rawValue]
        let hash = XXH3.hash(content, seed: XXH3.hash(header))
        contents[packets.count] = UInt64(packet.from) << 32 | hash & 0xffff_ffff
    }
}
