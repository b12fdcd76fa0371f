import MeshIngest

/// Chooses what `run` logs of a source, so that one whose broker or radio is away for days does not fill the log: the trouble once and then once an hour,
/// and no attempts until it has ended.
struct LastingTrouble {
    private static let pause = Duration.seconds(3_600)

    private var known: (cause: String, logged: ContinuousClock.Instant, unlogged: Int)?

    /// - Returns: the line to log; nil for none.
    mutating func line(_ state: SourceState, _ text: String, at now: ContinuousClock.Instant = .now) -> String? {
        switch state {
        case .connecting: return known != nil && text.hasPrefix("connecting to ") ? nil : text
        case .waiting: break
        default:
            known = nil
            return text
        }
        guard let retry = text.ranges(of: "; trying again in ").last else { return text }
        let cause = String(text[..<retry.lowerBound])
        guard let last = known, last.cause == cause else {
            known = (cause, now, 0)
            return text
        }
        guard last.logged.duration(to: now) >= Self.pause else {
            known?.unlogged += 1
            return nil
        }
        known = (cause, now, 0)
        return "\(text) (\(last.unlogged) attempts failed since this was logged last)"
    }
}
