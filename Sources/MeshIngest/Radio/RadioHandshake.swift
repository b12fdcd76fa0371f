/// What to ask a radio, and what its answers mean.
///
/// The first connection asks for the configuration and then for the nodes. A later one asks for the configuration only, so that a radio whose
/// connection breaks often does not send its nodes each time.
struct RadioHandshake: Sendable {
    enum Answer: Equatable {
        case nothing
        /// The next question.
        case ask(UInt32)
        /// Everything that was asked for has come.
        case live
    }

    /// Whether the nodes have been received once.
    private(set) var hasNodes = false
    /// What was asked for and has not come to its end.
    private(set) var asked: UInt32?
    private var hasInfo = false
    /// Heartbeats since something of an answer came.
    private var beats = 0
    /// After so many the end of the answer was lost: the question is asked again.
    private static let patience = 4

    /// The first question of a connection.
    mutating func begin() -> UInt32 {
        (hasInfo, beats) = (false, 0)
        asked = ConfigNonce.configuration
        return ConfigNonce.configuration
    }

    /// It is time for a heartbeat.
    ///
    /// - Returns: the question to ask again instead
    mutating func beat() -> UInt32? {
        guard let asked else { return nil }
        beats += 1
        guard beats >= Self.patience else { return nil }
        beats = 0
        return asked
    }

    mutating func take(_ kind: FromRadioGlance.Kind) -> Answer {
        switch kind {
        case .myInfo, .nodeInfo, .configuration, .configComplete: beats = 0
        default: break
        }
        switch kind {
        case .configComplete(let nonce) where nonce == asked:
            if nonce == ConfigNonce.nodes { hasNodes = true }
            asked = hasNodes ? nil : ConfigNonce.nodes
            return asked.map { .ask($0) } ?? .live
        case .rebooted: return .ask(begin())
        case .myInfo where asked == nil:
            // A radio that reports itself unasked has restarted.
            let question = begin()
            hasInfo = true
            return .ask(question)
        case .myInfo:
            hasInfo = true
            return .nothing
        default: return .nothing
        }
    }
}
