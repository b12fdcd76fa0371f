/// Decides what to request from a radio, and interprets its answers.
///
/// The first connection requests the configuration, then the nodes. Later ones request only the configuration, so that a radio whose
/// connection breaks often does not send its nodes every time.
struct RadioHandshake: Sendable {
    enum Answer: Equatable {
        case nothing
        /// The next request.
        case ask(UInt32)
        /// Everything requested has arrived.
        case live
    }

    /// Whether the nodes have been received once.
    private(set) var hasNodes = false
    /// The request whose answer is not complete yet.
    private(set) var asked: UInt32?
    private var hasInfo = false
    /// Heartbeats since the last part of an answer arrived.
    private var beats = 0
    /// After this many, the end of the answer counts as lost, and the request is repeated.
    private static let patience = 4

    /// The first request of a connection.
    mutating func begin() -> UInt32 {
        (hasInfo, beats) = (false, 0)
        asked = ConfigNonce.configuration
        return ConfigNonce.configuration
    }

    /// Called when a heartbeat is due.
    ///
    /// - Returns: the request to repeat instead
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
            // A radio that reports itself without a request has restarted.
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
