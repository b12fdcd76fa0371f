/// How long one waits who polls a file that another process writes: briefly after news, since more often follow, and longer the longer nothing comes.
package struct PollPace: Sendable {
    private static let shortest = Duration.milliseconds(2)
    private static let longest = Duration.milliseconds(50)
    /// How many waits are short: news of a live mesh come within a view's debounce.
    private static let shortCount = 16

    private var next = Self.shortest
    private var count = 0

    package init() {}

    package mutating func wait() async {
        try? await Task.sleep(for: next)  // cancelled: the caller looks
        count += 1
        if count >= Self.shortCount { next = min(next * 2, Self.longest) }
    }
}
