import Projections
import ProtobufWire

/// A node's last announcement about itself, byte for byte. Each node repeats it every few hours; unless another report about the node came since, a
/// repetition only confirms it and need not be decoded.
struct LastIntroduction: Sendable, Equatable {
    /// Empty if another node reported it, or if it is long.
    private var payload: [UInt8] = []
    /// The fields in it, all of which the node's row has, and when it was last heard.
    private(set) var fields: NodeFields = []
    var time: UInt32 = 0

    /// The longest remembered payload, in bytes; over the air there are 233 at most.
    private static let longest = 256

    /// A report that does not come from the node itself.
    init() {}

    init(_ payload: RawSpan) {
        if payload.byteCount <= Self.longest { self.payload = payload.asArray }
    }

    func with(_ fields: NodeFields, at time: UInt32) -> LastIntroduction {
        var introduction = self
        (introduction.fields, introduction.time) = (fields, time)
        return introduction
    }

    @inline(__always)
    func isJust(_ payload: RawSpan) -> Bool { !self.payload.isEmpty && self.payload.rawSpan.isSame(as: payload) }
}
