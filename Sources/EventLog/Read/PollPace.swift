/// How long one waits who polls a file that another process writes: briefly after news, since more often follow, and longer the longer nothing comes.
package struct PollPace: Sendable {
    private static let shortest = Duration.milliseconds(2)
    private static let longest = Duration.milliseconds(50)

    private var next = Self.shortest

    package init() {}

    package mutating func wait() async {
        try? await Task.sleep(for: next)  // cancelled: the caller looks
        next = min(next * 2, Self.longest)
    }
}
