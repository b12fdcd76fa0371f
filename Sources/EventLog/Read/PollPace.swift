/// The delays of a reader that polls a file which another process writes: short after a change, when the next one is likely, and longer while nothing changes.
package struct PollPace: Sendable {
    private static let shortest = Duration.milliseconds(2)
    private static let longest = Duration.milliseconds(50)
    /// The number of short delays: on a busy mesh, the next change comes within a view's debounce.
    private static let shortCount = 16

    private var next = Self.shortest
    private var count = 0

    package init() {}

    package mutating func wait() async {
        try? await Task.sleep(for: step())  // cancelled: the caller checks
    }

    /// The next delay.
    mutating func step() -> Duration {
        let delay = next
        count += 1
        if count >= Self.shortCount { next = min(next * 2, Self.longest) }
        return delay
    }
}
