internal import EventLog
import Synchronization

/// Packets from clients of a shared radio that the radio has not accepted yet, in order, and other messages for it between them.
///
/// The next packet is sent when the radio has answered the previous one, or after some seconds if it has sent something else since. After a lost connection,
/// unanswered packets are sent again: the radio recognises their ids.
///
/// Synchronization: the mutex guards everything.
final class RadioOutbox: Sendable {
    struct Item: Sendable {
        var message: [UInt8]
        /// The packet's number; nil for a message that the radio does not confirm.
        var packet: UInt32?
        /// The event that it is stored as, if it is a packet.
        var event: UInt64?
        /// Since when it waits.
        var since = ContinuousClock.now
        var changesSettings = false
        /// Receives the radio's answer, the FromRadio with the state of its queue.
        var answer: @Sendable ([UInt8]) -> Void = { _ in }
    }

    private static let limit = 256

    private struct State {
        var waiting: [Item] = []
        var isAnswered = false
        /// Whether the first has been sent, or is about to be, on this connection.
        var isSending = false
        /// How many packets the radio has room for.
        var free: UInt32 = FromRadioMessage.queueLength
    }

    private let answerSeconds: Double
    private let state = Mutex(State())
    private let progress = RisingNumber()
    /// Rises when the radio has a packet that changes its settings.
    let changes = RisingNumber()

    init(answerSeconds: Double = 5) { self.answerSeconds = answerSeconds }

    /// The events whose packets the radio has not accepted yet.
    var events: [UInt64] { state.withLock { $0.waiting.compactMap(\.event) } }

    /// - Returns: false if too many are waiting.
    func put(_ item: Item) -> Bool {
        let isTaken = state.withLock { state in
            guard state.waiting.count < Self.limit else { return false }
            state.waiting.append(item)
            return true
        }
        progress.raise()
        return isTaken
    }

    /// Removes the packets that have waited longer than this and are not being sent.
    func takeOld(seconds: Double) -> [Item] {
        state.withLock { state in
            let old = state.waiting.dropFirst(state.isSending ? 1 : 0).filter {
                $0.event != nil && $0.since.duration(to: .now) >= .seconds(seconds)
            }
            if !old.isEmpty {
                let events = Set(old.map(\.event))
                state.waiting.removeAll { $0.event != nil && events.contains($0.event) }
            }
            return old
        }
    }

    /// Lets packets wait again, before all others.
    func putBack(_ items: [Item]) {
        state.withLock { $0.waiting.insert(contentsOf: items, at: $0.isSending ? 1 : 0) }
        progress.raise()
    }

    /// Called when the radio has started again, or on a new connection: what it said of its queue is not true any more.
    func restarted() {
        state.withLock { $0.free = FromRadioMessage.queueLength }
        progress.raise()
    }

    /// Called when the radio reports the state of its queue.
    func status(free: UInt32, packet: UInt32, frame: [UInt8]) {
        let answered: Item? = state.withLock { state in
            state.free = free
            guard packet != 0, let first = state.waiting.first, first.packet == packet else { return nil }
            state.isAnswered = true
            return first
        }
        answered?.answer(frame)
        progress.raise()
    }

    /// Sends waiting packets until the task is cancelled.
    ///
    /// - Parameter silence_s: how long the radio has sent nothing
    func run(silence_s: () -> Double, _ send: (_ message: [UInt8]) async throws -> Void) async throws {
        defer { state.withLock { $0.isSending = false } }
        restarted()
        while !Task.isCancelled {
            let level = progress.value
            let next: Item? = state.withLock { state in
                let next = state.free > 0 ? state.waiting.first : nil
                (state.isAnswered, state.isSending) = (false, next != nil)
                return next
            }
            guard let next else {
                await progress.wait(past: level)
                continue
            }
            try await send(next.message)
            // What fits no frame was not sent, and has no answer.
            guard next.packet != nil, StreamFrame.around(next.message) != nil else {
                removeFirst()
                continue
            }
            let sent = ContinuousClock.now
            while !Task.isCancelled {
                let level = progress.value
                if state.withLock({ $0.isAnswered }) { break }
                // One that says nothing at all may have lost it, which is known once the connection is.
                let waited_s = sent.duration(to: .now) / .seconds(1)
                if waited_s >= answerSeconds, silence_s() < waited_s { break }
                await progress.wait(past: level, seconds: min(1, answerSeconds))
            }
            if Task.isCancelled { return }
            removeFirst()
        }
    }

    private func removeFirst() {
        let first = state.withLock { state in
            state.isSending = false
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        if first?.changesSettings == true { changes.raise() }
    }
}
