internal import EventLog
import Synchronization

/// Packets from clients of a shared radio that the radio has not accepted yet, and other messages for it between them: each
/// client's in order, and one of each client in turn.
///
/// The next packet is sent when the radio has answered the previous one, or after some seconds if it has sent something else since. After a lost connection,
/// unanswered packets are sent again: the radio recognises their ids.
///
/// Synchronization: the mutex guards everything.
final class RadioOutbox: Sendable {
    /// Whose turn it is.
    struct Client: Hashable, Sendable {
        var address: String
        /// nil for what was sent before this process was started.
        var connection: ObjectIdentifier?
    }

    struct Item: Sendable {
        var message: [UInt8]
        /// The packet's number; nil for a message that the radio does not confirm.
        var packet: UInt32?
        /// The event that it is stored as, if it is a packet.
        var event: UInt64?
        var client = Client(address: "")
        /// Since when it waits.
        var since = ContinuousClock.now
        var changesSettings = false
        /// Receives the radio's answer, the FromRadio with the state of its queue.
        var answer: @Sendable ([UInt8]) -> Void = { _ in }
        /// Ascending in the order in which they came.
        fileprivate(set) var number: UInt64 = 0
    }

    /// How many packets may wait, and how many other messages. Half of the places are left to clients from elsewhere.
    private static let (mostOfClient, mostOfAddress, most) = (256, 1_024, 2_048)

    private struct State {
        /// By their numbers.
        var waiting: [Item] = []
        var count: UInt64 = 0
        /// When each client that waits had its last turn.
        var turns: [Client: UInt64] = [:]
        var turn: UInt64 = 0
        var isAnswered = false
        /// The number of the one that has been sent, or is about to be, on this connection.
        var sending: UInt64?
        /// How many packets the radio has room for.
        var free: UInt32 = FromRadioMessage.queueLength

        func hasRoom(for item: Item) -> Bool {
            if waiting.count < mostOfClient { return true }
            var (all, ofAddress, ofClient) = (0, 0, 0)
            for other in waiting where (other.packet == nil) == (item.packet == nil) {
                all += 1
                if other.client.address == item.client.address { ofAddress += 1 }
                if other.client == item.client { ofClient += 1 }
            }
            return all < most && ofAddress < mostOfAddress && ofClient < mostOfClient
        }

        mutating func add(_ item: Item) {
            count += 1
            waiting.append(item)
            waiting[waiting.count - 1].number = count
        }

        /// The first one of the client whose last turn is the longest ago; nil while the radio has no room.
        mutating func startNext() -> Item? {
            (isAnswered, sending) = (false, nil)
            guard free > 0 else { return nil }
            var (clients, previous, next): (Set<Client>, Client?, Item?) = ([], nil, nil)
            for item in waiting where item.client != previous {
                previous = item.client
                guard clients.insert(item.client).inserted else { continue }
                guard let first = next else {
                    next = item
                    continue
                }
                if turns[item.client] ?? 0 < turns[first.client] ?? 0 { next = item }
            }
            guard let next else { return nil }
            turn += 1
            turns = turns.filter { clients.contains($0.key) }
            turns[next.client] = turn
            sending = next.number
            return next
        }
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
            guard state.hasRoom(for: item) else { return false }
            state.add(item)
            return true
        }
        progress.raise()
        return isTaken
    }

    /// Removes what has waited longer than this and is not being sent.
    func takeOld(seconds: Double) -> [Item] {
        state.withLock { state in
            let old = state.waiting.filter {
                $0.number != state.sending && $0.since.duration(to: .now) >= .seconds(seconds)
            }
            if !old.isEmpty {
                let numbers = Set(old.map(\.number))
                state.waiting.removeAll { numbers.contains($0.number) }
            }
            return old
        }
    }

    /// Lets items wait that `takeOld` has taken, where they were.
    func putBack(_ items: [Item]) {
        state.withLock { $0.waiting = ($0.waiting + items).sorted { $0.number < $1.number } }
        progress.raise()
    }

    /// Lets packets wait that clients sent before this process was started, however many.
    func restore(_ items: [Item]) {
        state.withLock { state in for item in items { state.add(item) } }
        progress.raise()
    }

    /// Called when the radio has started again, or on a new connection: what it said of its queue is no longer true.
    func restarted() {
        state.withLock { $0.free = FromRadioMessage.queueLength }
        progress.raise()
    }

    /// Called when the radio reports the state of its queue.
    func status(free: UInt32, packet: UInt32, frame: [UInt8]) {
        let answered: Item? = state.withLock { state in
            state.free = free
            guard packet != 0, let sent = state.waiting.first(where: { $0.number == state.sending }), sent.packet == packet else {
                return nil
            }
            state.isAnswered = true
            return sent
        }
        answered?.answer(frame)
        progress.raise()
    }

    /// Sends waiting packets until the task is cancelled.
    ///
    /// - Parameter silence_s: how long the radio has sent nothing
    func run(silence_s: () -> Double, _ send: (_ message: [UInt8]) async throws -> Void) async throws {
        defer { state.withLock { $0.sending = nil } }
        restarted()
        while !Task.isCancelled {
            let level = progress.value
            guard let next = state.withLock({ $0.startNext() }) else {
                await progress.wait(past: level)
                continue
            }
            try await send(next.message)
            // What fits no frame was not sent, and has no answer.
            guard next.packet != nil, StreamFrame.around(next.message) != nil else {
                remove(next)
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
            remove(next)
        }
    }

    private func remove(_ item: Item) {
        state.withLock { state in
            state.waiting.removeAll { $0.number == item.number }
            state.sending = nil
        }
        if item.changesSettings { changes.raise() }
    }
}
