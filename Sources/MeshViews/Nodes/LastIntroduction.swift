import Projections
import ProtobufWire

/// What a node said of itself last, byte for byte. Each repeats it every few hours; as long as nothing else was told of the node since, hearing it once more
/// changes nothing, and need not be decoded.
struct LastIntroduction: Sendable, Equatable {
    /// Empty where somebody else told it, or where it is long.
    private var payload: [UInt8] = []

    /// Bytes that are remembered; over the air there are 233 at most.
    private static let longest = 256

    /// Something that the node did not say itself.
    init() {}

    init(_ payload: RawSpan) {
        if payload.byteCount <= Self.longest { self.payload = payload.asArray }
    }

    @inline(__always)
    func isJust(_ payload: RawSpan) -> Bool { !self.payload.isEmpty && self.payload.rawSpan.isSame(as: payload) }
}
