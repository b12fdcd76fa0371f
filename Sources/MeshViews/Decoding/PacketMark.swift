/// Which packets of a sender the index `packets` does not tell apart: it keeps 24 bits of their ids.
///
/// A packet's identity has the sender in the upper half, and its id in the lower one, or where that is 0 a hash.
enum PacketMark {
    /// The part of an id, or of the hash in its place, that is kept; a search for an id verifies it in the log.
    @inline(__always)
    static func of(id: UInt32) -> UInt32 { (id &* 2_654_435_761) >> 8 }

    @inline(__always)
    static func of(_ identity: UInt64) -> UInt32 { of(id: UInt32(truncatingIfNeeded: identity)) }

    /// What packets of one sender and mark have in common.
    @inline(__always)
    static func key(_ sender: UInt32, _ mark: UInt32) -> UInt64 { UInt64(sender) << 24 | UInt64(mark) }

    @inline(__always)
    static func key(of identity: UInt64) -> UInt64 { key(UInt32(truncatingIfNeeded: identity >> 32), of(identity)) }

    static func sender(ofKey key: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: key >> 24) }
}
