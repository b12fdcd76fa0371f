internal import MeshCrypto
internal import ProtobufWire

/// The fields of a Data message.
struct DataFields {
    var port: UInt32 = 0
    var payload = ByteRange.empty
    var destination: UInt32 = 0
    var source: UInt32 = 0
    var requestID: UInt32 = 0
    var replyID: UInt32 = 0
    var emoji: UInt32 = 0
    var bitfield: UInt32 = 0
    var signature = ByteRange.empty
    var flags: PacketFlags = []
    /// Whether an encoder can have written it: each field once, in order, the port first, no unknown field but higher ones; without a payload
    /// only a known port, and the fields that may come without one.
    var isPlausible = true
    /// Whether it begins with a port and a payload.
    var hasHead = false
}

extension DataFields {
    /// Reads the Data message at `range`.
    @inline(__always)
    init(_ bytes: RawSpan, _ range: ByteRange) throws(WireError) {
        var reader = WireReader(bytes, in: range)
        var last: UInt32 = 0
        var needsPayload = false
        while let field = try reader.next() {
            if field.number <= last || (last == 0 && field.number != 1) { isPlausible = false }
            if last == 1, port > 0, field.tag == WireField.tag(2, .lengthDelimited) { hasHead = true }
            last = field.number
            switch field.tag {
            case WireField.tag(1, .varint): port = field.asUInt32
            case WireField.tag(2, .lengthDelimited): payload = field.range
            case WireField.tag(3, .varint):
                flags.set(.wantResponse, field.asBool)
                if field.scalar > 1 { isPlausible = false }
            case WireField.tag(4, .fixed32):
                destination = field.asUInt32
                needsPayload = true
            case WireField.tag(5, .fixed32):
                source = field.asUInt32
                needsPayload = true
            case WireField.tag(6, .fixed32): requestID = field.asUInt32
            case WireField.tag(7, .fixed32):
                replyID = field.asUInt32
                needsPayload = true
            case WireField.tag(8, .fixed32):
                emoji = field.asUInt32
                needsPayload = true
            case WireField.tag(9, .varint):
                bitfield = field.asUInt32
                flags.insert(.hasBitfield)
                if field.scalar > 0xff { isPlausible = false }
            case WireField.tag(10, .lengthDelimited):
                if field.range.count == 64 {
                    signature = field.range
                    flags.insert(.hasSignature)
                } else if !field.range.isEmpty {
                    isPlausible = false
                }
            default:
                if field.number <= 10 || field.number > 31 { isPlausible = false }
                needsPayload = true
            }
        }
        if payload.isEmpty, needsPayload || !Port.isKnown(port) { isPlausible = false }
    }

    /// Whether more than its form shows that it is not accidental.
    var isEvident: Bool {
        guard Port.isKnown(port) else { return false }
        return !payload.isEmpty || flags.contains(.wantResponse) || (flags.contains(.hasBitfield) && bitfield < 16)
    }
}

/// Which content is accepted as the result of a key.
enum Acceptance {
    /// For any key: what an encoder can have written, on a known port, with a payload or the fields of requests without one.
    case fromAnyKey
    /// For a key of the packet's hash: what an encoder can have written.
    case asWritten
    /// For a key of the packet's hash: what official decoders accept, if it begins with a known port and a payload. Some of it may have been altered on
    /// the way.
    case asRead
}

extension PacketOpener {
    /// Fewer bytes than the shortest content that real senders encrypt would let random bytes pass as a bare port number.
    static let shortestPlausible: Int32 = 4

    @inline(__always)
    func open(_ bytes: RawSpan, _ content: PacketContent, _ packet: inout DecodedPacket, _ batch: inout PacketBatch) {
        if packet.id == 0 { Self.identify(bytes, content, packet, &batch) }
        switch content.variant {
        case .decoded: openDecoded(bytes, content, &packet, &batch)
        case .encrypted where content.range.length > 0: openEncrypted(bytes, content, &packet, &batch)
        case .encrypted, .none:
            packet.opening = .empty
            if content.variant == .encrypted { packet.flags.insert(.hasEmptyCiphertext) }
        }
    }

    @inline(never)
    private static func identify(
        _ bytes: RawSpan, _ content: PacketContent, _ packet: DecodedPacket, _ batch: inout PacketBatch
    ) {
        switch content.variant {
        case .none: batch.identify(packet, .none, 0, bytes.bytes(.empty))
        case .decoded: batch.identify(packet, .decoded, 0, bytes.bytes(content.range))
        case .encrypted: batch.identify(packet, .encrypted, packet.channel, bytes.bytes(content.range))
        }
    }

    @inline(__always)
    private func openDecoded(
        _ bytes: RawSpan, _ content: PacketContent, _ packet: inout DecodedPacket, _ batch: inout PacketBatch
    ) {
        packet.flags.insert(.cameDecoded)
        let range = batch.append(bytes: bytes.bytes(content.range))
        let fields: DataFields
        do throws(WireError) {
            fields = try DataFields(batch.arena.rawSpan, range)
        } catch {
            packet.opening = .invalid
            packet.failure = DecodeFailure(.malformedData, error.code, offset: error.offset &- range.start &+ content.range.start)
            return
        }
        packet.opening = .decoded
        packet.take(fields)
        guard fields.port > 0 else {
            packet.failure = DecodeFailure(.malformedData, .invalidValue, offset: content.range.start)
            return
        }
        do throws(WireError) {
            _ = try PayloadCheck.isPlausible(port: fields.port, batch.arena.rawSpan, fields.payload)
        } catch {
            let offset = error.offset &- fields.payload.start
            packet.failure = DecodeFailure(.malformedPayload, error.code, port: fields.port, offset: offset)
            return
        }
        if packet.priority == ReplayedState.priority, ReplayedState.isOne(packet, batch) {
            packet.flags.insert(.isReplayedState)
        }
    }

    @inline(__always)
    private func openEncrypted(
        _ bytes: RawSpan, _ content: PacketContent, _ packet: inout DecodedPacket, _ batch: inout PacketBatch
    ) {
        let isDirect = Self.looksDirect(packet)
        if isDirect, !keyring.privateKeys.isEmpty, openDirect(bytes, content, &packet, &batch) { return }
        let hasChannels = packet.channel <= 0xff
        if hasChannels, openWithFittingKeys(bytes, content.range, .asWritten, &packet, &batch) { return }
        let isAEAD = hasChannels && hasAEAD[Int(packet.channel)]
        if !isAEAD, openOtherwise(bytes, content.range, &packet, &batch) { return }
        if hasChannels, openWithFittingKeys(bytes, content.range, .asRead, &packet, &batch) {
            packet.flags.insert(.isDamaged)
            return
        }
        packet.payload = batch.append(bytes: bytes.bytes(content.range))
        packet.opening = .opaque
        // A direct message also has the hash 0, but another kind of tag.
        if isAEAD, !isDirect {
            packet.opening = .badTag
            packet.failure = DecodeFailure(.badTag)
        }
    }

    /// Tries the channels with the packet's hash: first the one that the envelope names, if any.
    @inline(__always)
    private func openWithFittingKeys(
        _ bytes: RawSpan, _ range: ByteRange, _ acceptance: Acceptance, _ packet: inout DecodedPacket,
        _ batch: inout PacketBatch
    ) -> Bool {
        let hash = Int(packet.channel)
        let first = Int(firstOfHash[hash])
        let end = Int(firstOfHash[hash &+ 1])
        guard first < end else { return false }
        var preferred = -1
        if end &- first > 1, !packet.channelID.isEmpty {
            preferred = channelNamed(packet.channelID, first, end, batch)
            if preferred >= 0, tryChannel(channelsByHash[preferred], bytes, range, acceptance, &packet, &batch) { return true }
        }
        var place = first
        while place < end {
            if place != preferred, tryChannel(channelsByHash[place], bytes, range, acceptance, &packet, &batch) { return true }
            place &+= 1
        }
        return false
    }

    private func channelNamed(_ name: ByteRange, _ first: Int, _ end: Int, _ batch: borrowing PacketBatch) -> Int {
        let wanted = batch.arena.rawSpan.bytes(name)
        for place in first..<end {
            let isIt = unsafe keyring.channels[Int(channelsByHash[place])].name.utf8.span.bytes == wanted
            if isIt { return place }
        }
        return -1
    }

    @inline(__always)
    private func tryChannel(
        _ channel: UInt16, _ bytes: RawSpan, _ range: ByteRange, _ acceptance: Acceptance, _ packet: inout DecodedPacket,
        _ batch: inout PacketBatch
    ) -> Bool {
        let cipher = cipherOfChannel[Int(channel)]
        guard cipher >= 0 else {
            if cipher == Self.aead { return acceptance != .asRead && trySealed(channel, bytes, range, &packet, &batch) }
            guard tryPlaintext(bytes, range, acceptance, &packet, &batch) else { return false }
            packet.keyIndex = channel
            return true
        }
        return tryCipher(Int(cipher), channel, bytes, range, acceptance, &packet, &batch)
    }

    /// Decrypts into the arena. A wrong key leaves the arena as it was.
    @inline(__always)
    private func tryCipher(
        _ cipher: Int, _ channel: UInt16, _ bytes: RawSpan, _ range: ByteRange, _ acceptance: Acceptance,
        _ packet: inout DecodedPacket, _ batch: inout PacketBatch
    ) -> Bool {
        let start = batch.reserve(range.count)
        let input = bytes.bytes(range)
        let iv = (UInt64(packet.id), UInt64(packet.from))
        let context = ciphers[cipher]
        let isDone = unsafe batch.arena.withUnsafeMutableBytes { arena in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: arena[start...])
            return unsafe input.withUnsafeBytes { unsafe context.apply(iv: iv, input: $0, output: target) }
        }
        let place = ByteRange(truncating: start, range.count)
        guard isDone, let fields = plausibleFields(batch.arena.rawSpan, place, acceptance) else { return false }
        batch.arenaCount = place.end
        packet.take(fields)
        packet.opening = .channelKey
        packet.keyIndex = channel
        return true
    }

    private func tryPlaintext(
        _ bytes: RawSpan, _ range: ByteRange, _ acceptance: Acceptance, _ packet: inout DecodedPacket,
        _ batch: inout PacketBatch
    ) -> Bool {
        guard var fields = plausibleFields(bytes, range, acceptance) else { return false }
        let moved = batch.append(bytes: bytes.bytes(range)).offset &- range.offset
        fields.payload.offset &+= moved
        fields.signature.offset &+= moved
        packet.take(fields)
        packet.opening = .plaintext
        return true
    }

    @inline(never)
    private func openOtherwise(
        _ bytes: RawSpan, _ range: ByteRange, _ packet: inout DecodedPacket, _ batch: inout PacketBatch
    ) -> Bool {
        if tryPlaintext(bytes, range, .fromAnyKey, &packet, &batch) { return true }
        for cipher in ciphers.indices {
            let channel = channelOfCipher[cipher]
            if tryCipher(cipher, channel, bytes, range, .fromAnyKey, &packet, &batch) {
                packet.flags.insert(.isUnknownChannelName)
                return true
            }
        }
        return false
    }

    /// The fields of the decrypted content, if it is credible that the key is the right one.
    @inline(__always)
    private func plausibleFields(_ bytes: RawSpan, _ range: ByteRange, _ acceptance: Acceptance) -> DataFields? {
        guard range.length >= Self.shortestPlausible, bytes.byte(at: range.start) == 0x08 else { return nil }
        do throws(WireError) {
            let fields = try DataFields(bytes, range)
            guard fields.port > 0, fields.port <= Port.highest else { return nil }
            switch acceptance {
            case .fromAnyKey, .asWritten:
                if acceptance == .fromAnyKey, !fields.isEvident { return nil }
                guard fields.isPlausible, try PayloadCheck.isPlausible(port: fields.port, bytes, fields.payload) else {
                    return nil
                }
            case .asRead:
                guard fields.hasHead, !fields.payload.isEmpty, Port.isKnown(fields.port) else { return nil }
                _ = try PayloadCheck.isPlausible(port: fields.port, bytes, fields.payload)
            }
            return fields
        } catch { return nil }
    }
}

extension DecodedPacket {
    /// - Parameter fields: with places in the arena.
    @inline(__always)
    mutating func take(_ fields: DataFields) {
        port = fields.port
        payload = fields.payload
        (destination, source) = (fields.destination, fields.source)
        requestID = fields.requestID
        replyID = fields.replyID
        emoji = fields.emoji
        bitfield = fields.bitfield
        signature = fields.signature
        flags.formUnion(fields.flags)
    }
}
