/// How long a source waits before it reconnects: 1 s, 2 s, 4 s and so on up to 60 s, each randomly up to a fifth shorter or longer, so that
/// clients that lost the same peer do not all return at the same moment. A connection that worked for ten times the first wait begins this again; a peer
/// that hangs up sooner each time is not called every second.
struct Backoff: Sendable {
    var first_s = 1.0
    var longest_s = 60.0
    private var next_s = 0.0

    init(first_s: Double = 1, longest_s: Double = 60) { (self.first_s, self.longest_s) = (first_s, longest_s) }

    /// The seconds to wait now; the next wait is twice as long.
    mutating func take() -> Double {
        let wait_s = min(max(next_s, first_s), longest_s)
        next_s = wait_s * 2
        return min(wait_s * Double.random(in: 0.8...1.2), longest_s)
    }

    /// A connection worked for so many seconds.
    mutating func lasted(_ seconds: Double) { if seconds >= first_s * 10 { next_s = 0 } }
}
