import ProtobufWire

/// The positions of the parts of a block's value, so that it can be searched in place.
package struct PacketBlockLayout: Sendable {
    let skipped: Int
    let eventCount: Int
    let entryCount: Int
    let nodeCount: Int
    let gatewayCount: Int
    let namingCount: Int
    let nodes: Int
    let gateways: BitColumn
    let senders: BitColumn
    let marks: Int
    let kindColumn: BitColumn
    let backs: BitColumn
    let flags: BitColumn
    let gatewayColumn: BitColumn
    let far: Int
    let farCount: Int
    let naming: Int
    /// See `PacketBlock.latestTime`.
    let latestTime: UInt32?
    /// The end of the part with named nodes, and the flags of each event that has more than two, if the part exists.
    private let namingEnd: Int
    private let moreFlags: [UInt8]
    private(set) var channels: [ChannelIdentity] = []
    private(set) var kinds: [PacketKind] = []

    /// Nil where the bytes are damaged.
    package init?(_ bytes: RawSpan) {
        var reader = ByteWalk(at: 0, end: bytes.byteCount - 8)
        var counts: [Int] = []
        for _ in 0..<9 {
            // More than events with 64 nodes each would need is damage.
            guard let count = reader.varint(bytes), count <= 1 << 22 else { return nil }
            counts.append(Int(count))
        }
        (skipped, eventCount, entryCount, nodeCount) = (counts[0], counts[1], counts[2], counts[3])
        gatewayCount = counts[4]
        namingCount = counts[7]
        farCount = counts[8]
        guard skipped + eventCount <= Int(PacketBlock.eventCount), entryCount <= eventCount else { return nil }
        let nodeWidth = Bits.width(below: nodeCount)
        nodes = reader.skip(nodeCount * 4)
        gateways = reader.column(gatewayCount, width: nodeWidth)
        for _ in 0..<counts[5] {
            guard let channel = reader.channel(bytes) else { return nil }
            channels.append(channel)
        }
        for _ in 0..<counts[6] {
            guard let kind = reader.kind(bytes, channels.count) else { return nil }
            kinds.append(kind)
        }
        senders = reader.column(entryCount, width: nodeWidth)
        marks = reader.skip(entryCount * 3)
        kindColumn = reader.column(entryCount, width: Bits.width(below: kinds.count))
        backs = reader.column(eventCount, width: 4)
        flags = reader.column(eventCount, width: 2)
        gatewayColumn = reader.column(eventCount, width: Bits.width(below: gatewayCount + 1))
        far = reader.skip(farCount)
        naming = reader.at
        let trailer = bytes.littleEndian64(at: reader.end) ?? 0
        let latest = trailer & 0xff_ffff_ffff
        latestTime = latest == 0 ? nil : UInt32(clamping: latest - 1)
        namingEnd = reader.end - Int(trailer >> 40)
        guard naming <= namingEnd else { return nil }
        guard let more = Self.moreFlags(bytes, from: namingEnd, to: reader.end, events: eventCount) else { return nil }
        moreFlags = more
    }

    private static func moreFlags(_ bytes: RawSpan, from start: Int, to end: Int, events: Int) -> [UInt8]? {
        guard start < end else { return [] }
        var flags = [UInt8](repeating: 0, count: events)
        var reader = ByteWalk(at: start, end: end)
        var index = -1
        while reader.at < end {
            guard let between = reader.varint(bytes), between < UInt64(events), reader.at < end else { return nil }
            index += 1 + Int(between)
            guard index < events else { return nil }
            flags[index] = bytes.byte(at: reader.skip(1))
        }
        return flags
    }

    @inline(__always)
    func eventFlags(_ index: Int, in bytes: RawSpan) -> EventFlags {
        EventFlags(
            rawValue: UInt8(truncatingIfNeeded: flags.number(index, in: bytes)) | (moreFlags.isEmpty ? 0 : moreFlags[index]))
    }

    /// How many packets begin in the block; nil if broken packets may be among the first receptions.
    package func packetCount(in bytes: RawSpan) -> Int? {
        guard !kinds.contains(where: { $0.flags.contains(.isBroken) }) else { return nil }
        let firsts: UInt64 = 0x5555_5555_5555_5555
        return stride(from: 0, to: eventCount, by: 32).reduce(0) { count, index in
            let word = bytes.littleEndian64(uncheckedAt: flags.start &+ index / 4)
            let left = eventCount - index
            return count + (word & firsts & (left < 32 ? (1 << UInt64(2 * left)) - 1 : .max)).nonzeroBitCount
        }
    }

    @inline(__always)
    func node(_ place: Int, in bytes: RawSpan) -> UInt32 { bytes.littleEndian32(uncheckedAt: nodes &+ place &* 4) }

    @inline(__always)
    func mark(_ entry: Int, in bytes: RawSpan) -> UInt32 { bytes.littleEndian32(uncheckedAt: marks &+ entry &* 3) & 0xff_ffff }

    /// The place of a node; nil where the block does not have it.
    func place(of node: UInt32, in bytes: RawSpan) -> Int? {
        var (low, high) = (0, nodeCount)
        while low < high {
            let middle = (low + high) / 2
            let found = self.node(middle, in: bytes)
            if found == node { return middle }
            if found < node { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Visits the events in order: the index of each and of its entry, which damage may have made invalid.
    ///
    /// - Parameter entries: in rising order; if they are given, events of other entries may be left out.
    @inline(__always)
    func forEachEvent(of entries: [Int]? = nil, in bytes: RawSpan, _ visitor: (_ index: Int, _ entry: Int) -> Void) {
        var next = 0
        var place = 0
        var reader = ByteWalk(at: far, end: far + farCount)
        for start in stride(from: 0, to: eventCount, by: Self.wordCount) {
            if let entries, start + Self.wordCount <= eventCount {
                while place < entries.count, entries[place] <= next - PacketBlock.nearest { place += 1 }
                let isNear = place < entries.count && entries[place] < next + Self.wordCount
                if !isNear, let count = newEntries(ofWordAt: start, in: bytes) {
                    next += count
                    continue
                }
            }
            for index in start..<min(start + Self.wordCount, eventCount) {
                let back = backs.number(index, in: bytes)
                if back == 0 {
                    visitor(index, next)
                    next &+= 1
                } else if back < PacketBlock.nearest {
                    visitor(index, next >= back ? next &- back : entryCount)
                } else {
                    let further = Int(clamping: reader.varint(bytes) ?? .max)
                    visitor(index, further <= next - back ? next - back - further : entryCount)
                }
            }
        }
    }

    /// The number of events whose four bits of `backs` make a word.
    private static let wordCount = 16

    /// How many events of a word have a new entry; nil where one has a far one.
    @inline(__always)
    private func newEntries(ofWordAt index: Int, in bytes: RawSpan) -> Int? {
        let word = bytes.littleEndian64(uncheckedAt: backs.start &+ index / 2)
        let lowest: UInt64 = 0x1111_1111_1111_1111
        guard word & word >> 1 & word >> 2 & word >> 3 & lowest == 0 else { return nil }
        return Self.wordCount - ((word | word >> 1 | word >> 2 | word >> 3) & lowest).nonzeroBitCount
    }

    /// Visits the entries that name nodes, with the nodes' places, which damage may have made invalid.
    func forEachNaming(in bytes: RawSpan, _ visitor: (_ entry: Int, _ places: [Int32]) -> Void) {
        var reader = ByteWalk(at: naming, end: namingEnd)
        var entry = -1
        var places: [Int32] = []
        for _ in 0..<namingCount {
            guard let between = reader.varint(bytes), let count = reader.varint(bytes) else { return }
            let (next, overflows) = entry.addingReportingOverflow(Int(clamping: between) &+ 1)
            guard !overflows, next > entry, next < entryCount, count <= UInt64(bytes.byteCount) else { return }
            entry = next
            places.removeAll(keepingCapacity: true)
            for _ in 0..<count {
                guard let place = reader.varint(bytes) else { return }
                places.append(Int32(clamping: place))
            }
            visitor(entry, places)
        }
    }
}

/// A moving position in a value.
struct ByteWalk {
    private(set) var at: Int
    let end: Int

    init(at: Int, end: Int) { (self.at, self.end) = (at, end) }

    @inline(__always)
    mutating func varint(_ bytes: RawSpan) -> UInt64? {
        var (number, shift) = (UInt64(0), UInt64(0))
        while at < end, shift < 64 {
            let byte = bytes.byte(at: at)
            at += 1
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }

    /// The start of this many bytes.
    mutating func skip(_ count: Int) -> Int {
        defer { at += count }
        return at
    }

    mutating func column(_ count: Int, width: Int) -> BitColumn {
        BitColumn(start: skip(Bits.byteCount(count, width: width)), width: width)
    }

    mutating func channel(_ bytes: RawSpan) -> ChannelIdentity? {
        guard let length = varint(bytes), length <= UInt64(max(0, end - at)) else { return nil }
        let name = bytes.bytes(ByteRange(truncating: at, Int(length))).asRepairedString
        at += Int(length)
        guard at <= end - 8, let fingerprint = bytes.littleEndian64(at: at) else { return nil }
        at += 8
        guard let hash = varint(bytes) else { return nil }
        return ChannelIdentity(
            name: name, keyFingerprint: fingerprint, hash: hash == 0 ? nil : UInt32(truncatingIfNeeded: hash - 1))
    }

    mutating func kind(_ bytes: RawSpan, _ channelCount: Int) -> PacketKind? {
        guard let channel = varint(bytes), channel <= UInt64(channelCount), let port = varint(bytes), at < end else { return nil }
        let flags = PacketKind.Flags(rawValue: bytes.byte(at: at))
        at += 1
        return PacketKind(channel: Int32(channel) - 1, port: UInt32(truncatingIfNeeded: port), flags: flags)
    }
}
