import Synchronization

/// What clients of a shared radio sent and the radio has not taken yet, in order.
///
/// The next packet goes out when the radio has answered the one before, or after some seconds. What a lost connection left unanswered is sent again: the radio knows its id.
///
/// Synchronization: everything is behind the mutex.
final class RadioOutbox: Sendable {
    struct Item: Sendable {
        var message: [UInt8]
        var packet: UInt32
        /// Told the radio's answer, the FromRadio with the state of its queue.
        var answer: @Sendable ([UInt8]) -> Void
    }

    private static let limit = 256
    private static let answerSeconds = 5.0

    private struct State {
        var waiting: [Item] = []
        var isAnswered = false
        /// Packets for which the radio has room.
        var free: UInt32 = FromRadioMessage.queueLength
    }

    private let state = Mutex(State())
    private let tide = Tide()

    /// - Returns: false where too many wait.
    func put(_ item: Item) -> Bool {
        let isTaken = state.withLock { state in
            guard state.waiting.count < Self.limit else { return false }
            state.waiting.append(item)
            return true
        }
        tide.rise()
        return isTaken
    }

    /// The radio told the state of its queue.
    func status(free: UInt32, packet: UInt32, frame: [UInt8]) {
        let answered: Item? = state.withLock { state in
            state.free = free
            guard packet != 0, let first = state.waiting.first, first.packet == packet else { return nil }
            state.isAnswered = true
            return first
        }
        answered?.answer(frame)
        tide.rise()
    }

    /// Sends what waits, until the task is cancelled.
    func run(_ send: (_ message: [UInt8]) async throws -> Void) async throws {
        while !Task.isCancelled {
            let level = tide.level
            let next: Item? = state.withLock { state in
                state.isAnswered = false
                return state.free > 0 ? state.waiting.first : nil
            }
            guard let next else {
                await tide.wait(past: level)
                continue
            }
            try await send(next.message)
            let end = ContinuousClock.now + .seconds(Self.answerSeconds)
            while !Task.isCancelled, ContinuousClock.now < end, !state.withLock({ $0.isAnswered }) {
                let level = tide.level
                if state.withLock({ $0.isAnswered }) { break }
                await tide.wait(past: level, seconds: 1)
            }
            if Task.isCancelled { return }
            state.withLock { if !$0.waiting.isEmpty { $0.waiting.removeFirst() } }
        }
    }
}
