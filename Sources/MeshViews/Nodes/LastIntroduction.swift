import Projections
import ProtobufWire

/// What a node said of itself last, byte for byte. Each repeats it every few hours; as long as nothing else was told of the node since, hearing it once more
/// tells nothing but that it still holds, and need not be decoded.
struct LastIntroduction: Sendable, Equatable {
    /// Empty where somebody else told it, or where it is long.
    private var payload: [UInt8] = []
    /// What it tells, all of which is known of the node, and when it was heard last.
    private(set) var fields: NodeFields = []
    var time: UInt32 = 0

    /// Bytes that are remembered; over the air there are 233 at most.
    private static let longest = 256

    /// Something that the node did not say itself.
    init() {}

    init(_ payload: RawSpan) {
        if payload.byteCount <= Self.longest { self.payload = payload.asArray }
    }

    func telling(_ fields: NodeFields, at time: UInt32) -> LastIntroduction {
        var introduction = self
        (introduction.fields, introduction.time) = (fields, time)
        return introduction
    }

    @inline(__always)
    func isJust(_ payload: RawSpan) -> Bool { !self.payload.isEmpty && self.payload.rawSpan.isSame(as: payload) }
}
