import Projections

/// A known packet: 64 bytes in memory, 48 as a view stores it. There may be a million of them in each view.
struct SeenPacket: Sendable {
    /// The event that it was learned from.
    var record: UInt64 = 0
    /// See `SeenPackets.Hearing`.
    private(set) var packet: UInt64 = 0
    /// When it was first heard; 0 if unknown.
    private(set) var firstTime: UInt32 = 0
    /// How many sequences before the record the first reception is, times sixteen, and four bits.
    private var flags: UInt32 = 0
    /// See `PacketPrint`; 0 if not known yet.
    private var plain: UInt32 = 0
    private var cipher: UInt32 = 0
    private var shape: UInt32 = 0
    /// When the reception of the packet's row was, the row's time, and how many sequences before the record its event is.
    private var rowHeard: UInt32 = 0
    private(set) var rowTime: UInt32 = 0
    private var rowBack: UInt32 = 0
    /// The previous remembered packet of the same sender and mark, and the packet's newest reception; negative where it does not exist.
    var older: Int64 = -1
    var lastReception: Int64 = -1

    private static let readable: UInt32 = 1
    private static let lossy: UInt32 = 2
    private static let replayed: UInt32 = 4
    private static let twin: UInt32 = 8

    init() {}

    init(_ hearing: SeenPackets.Hearing, hasTwin: Bool) {
        (record, packet, firstTime) = (hearing.sequence, hearing.packet, hearing.time)
        flags = (hearing.isReplayedState ? Self.replayed : 0) | (hasTwin ? Self.twin : 0)
        learn(hearing)
    }

    var isReadable: Bool { flags & Self.readable != 0 }
    var isReplayedState: Bool { flags & Self.replayed != 0 }
    /// Another packet had the same sender and id within the hour when this one was first heard.
    var hasTwin: Bool { flags & Self.twin != 0 }
    private var isLossy: Bool { flags & Self.lossy != 0 }
    /// See `PacketMark.key`.
    @inline(__always)
    var mark: UInt64 { PacketMark.key(of: packet) }
    var firstSequence: UInt64 { record &- UInt64(flags >> 4) }
    var rowSequence: UInt64 { record &- UInt64(rowBack) }

    func isWithin(_ seconds: UInt32, of hearing: SeenPackets.Hearing) -> Bool {
        if hearing.isReplayedState || isReplayedState { return hearing.isReplayedState == isReplayedState }
        guard hearing.time != 0, firstTime != 0 else { return true }
        return (hearing.time > firstTime ? hearing.time - firstTime : firstTime - hearing.time) <= seconds
    }

    /// Whether nothing contradicts equal content.
    func hasContent(of hearing: SeenPackets.Hearing) -> Bool {
        var known = PacketPrint()
        (known.plain, known.cipher, known.shape, known.isLossy) = (plain, cipher, shape, isLossy)
        return known.hasContent(of: hearing.print)
    }

    /// Whether this reception should replace the packet's row: it was earlier, its time is the first that is known, or it has all of the content.
    func isSuperseded(by hearing: SeenPackets.Hearing) -> Bool {
        guard isReadable, hearing.isReadable, !hearing.isReplayedState else { return false }
        if isLossy != hearing.print.isLossy { return isLossy }
        return hearing.time != 0 && (rowHeard == 0 || hearing.time < rowHeard)
    }

    /// Whether the other packet, of the same hour, only pretends to be this one, or has the same id by chance.
    func isTwin(of hearing: SeenPackets.Hearing) -> Bool {
        !isReplayedState && !hearing.isReplayedState && firstTime != 0 && hearing.time != 0
    }

    /// The packet updated with another reception of it; nil if that adds nothing.
    func renewed(by hearing: SeenPackets.Hearing) -> SeenPacket? {
        var packet = self
        let makesRow = packet.learn(hearing)
        guard !packet.isSame(as: self) else { return nil }
        packet.record = hearing.sequence
        packet.flags = UInt32(min(hearing.sequence &- firstSequence, UInt64(UInt32.max >> 4))) << 4 | packet.flags & 15
        packet.rowBack = makesRow ? 0 : UInt32(clamping: hearing.sequence &- rowSequence)
        return packet
    }

    /// - Returns: whether the packet's row is of this reception.
    @discardableResult
    private mutating func learn(_ hearing: SeenPackets.Hearing) -> Bool {
        if firstTime == 0 { firstTime = hearing.time }
        let print = hearing.print
        if cipher == 0 { (cipher, shape) = (print.cipher, shape & PacketPrint.portMask | print.shape & ~PacketPrint.portMask) }
        guard hearing.isReadable else { return false }
        let makesRow = !isReadable || isSuperseded(by: hearing)
        if makesRow { (rowHeard, rowTime) = (hearing.time, hearing.rowTime) }
        if !isReadable || isLossy && !print.isLossy {
            plain = print.plain
            shape = shape & ~PacketPrint.portMask | print.shape & PacketPrint.portMask
            flags |= Self.readable
            flags = print.isLossy ? flags | Self.lossy : flags & ~Self.lossy
        }
        return makesRow
    }

    private func isSame(as other: SeenPacket) -> Bool {
        firstTime == other.firstTime && flags == other.flags && plain == other.plain && cipher == other.cipher
            && rowHeard == other.rowHeard && rowTime == other.rowTime
    }

    // MARK: Stored form

    init(_ stored: StageState.Record) {
        record = stored.sequence
        let words = stored.words
        packet = words.first
        (firstTime, flags) = Self.halves(words.second)
        (plain, cipher) = Self.halves(words.third)
        (shape, rowHeard) = Self.halves(words.fourth)
        (rowTime, rowBack) = Self.halves(words.fifth)
    }

    var stored: StageState.Record {
        var words = StageState.Record.Words()
        words.first = packet
        words.second = UInt64(firstTime) << 32 | UInt64(flags)
        words.third = UInt64(plain) << 32 | UInt64(cipher)
        words.fourth = UInt64(shape) << 32 | UInt64(rowHeard)
        words.fifth = UInt64(rowTime) << 32 | UInt64(rowBack)
        return StageState.Record(sequence: record, words: words)
    }

    private static func halves(_ word: UInt64) -> (UInt32, UInt32) {
        (UInt32(truncatingIfNeeded: word >> 32), UInt32(truncatingIfNeeded: word))
    }
}
