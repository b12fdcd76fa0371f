import EventLog
import Foundation
import Meshtastic
import NIOCore
import Synchronization

/// One connection to a radio, from the attempt to its loss.
struct RadioSession {
    let store: LiveStore
    let options: RadioOptions
    private(set) var handshake: RadioHandshake
    let isSerial: Bool
    let memory: RadioMemory
    let outbox: RadioOutbox
    let found: @Sendable (SecretMask.Findings) -> Void
    /// How long the connection lasted, if the radio has sent a frame.
    private(set) var heard_s: Double?

    init(
        store: LiveStore, options: RadioOptions, handshake: RadioHandshake, isSerial: Bool, memory: RadioMemory,
        outbox: RadioOutbox, found: @escaping @Sendable (SecretMask.Findings) -> Void
    ) {
        (self.store, self.options, self.handshake, self.isSerial) = (store, options, handshake, isSerial)
        (self.memory, self.outbox, self.found) = (memory, outbox, found)
    }

    private enum End: Error {
        case closed
        case silent
        case refusedByStore
    }

    /// - Returns: why it ended; nil if it was stopped.
    mutating func run(at address: RadioAddress) async -> RadioFailure? {
        let subject = address.text
        let channel: RadioChannel.Channel
        do {
            channel = try await RadioChannel.open(address, options)
        } catch let error as IngestError {
            return RadioFailure(error: error, needsPerson: error.code == .wrongFormat)
        } catch {
            return RadioFailure(
                error: IngestError(
                    .unreachable, subject: subject, reason: "no connection; is the radio on, and is this its address?",
                    cause: networkErrorText(error)))
        }
        store.board.connected()
        store.board.report("connected to \(subject)")
        let connected = ContinuousClock.now
        let life = RadioLife(limit: options.missedHeartbeats)
        let pump = RadioPump(
            store: store, life: life, handshake: Mutex(handshake), memory: memory, outbox: outbox, found: found,
            isHeard: Atomic(false))
        var end: (any Error)?
        do {
            try await channel.executeThenClose { inbound, outbound in
                try await Self.talk(inbound, outbound, pump, options, isSerial: isSerial)
            }
        } catch {
            end = error
        }
        handshake = pump.handshake.withLock { $0 }
        if pump.isHeard.load(ordering: .relaxed) { heard_s = connected.duration(to: .now) / .seconds(1) }
        if Task.isCancelled { return nil }
        return failure(end, subject, life.silence_s)
    }

    private func failure(_ end: (any Error)?, _ subject: String, _ silence_s: Double) -> RadioFailure? {
        let reason =
            switch (end as? End, end) {
            case (.refusedByStore, _): nil as String?
            case (.silent, _):
                "the radio did not answer for \(Int(silence_s.rounded())) s"
                    + (heard_s == nil && store.board.status.skippedBytes > 0 ? "; what it sends is no radio's stream" : "")
            case (.closed, _), (nil, nil):
                isSerial
                    ? "the serial port was closed; the radio was unplugged, or starts again"
                    : "the radio has closed the connection; another client may have taken it"
            case (nil, let other?): "the connection was lost (\(networkErrorText(other)))"
            }
        return reason.map { RadioFailure(error: IngestError(.unreachable, subject: subject, reason: $0)) }
    }

    private static func talk(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ pump: RadioPump, _ options: RadioOptions, isSerial: Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await read(inbound, outbound, pump) }
            group.addTask {
                try await outbound.write(ByteBuffer(bytes: StreamFrame.wakeUp))
                if isSerial { try await Task.sleep(for: .milliseconds(options.wakeMilliseconds)) }
                try await send(ToRadioMessage.wantConfig(pump.handshake.withLock { $0.begin() }), outbound)
                while true {
                    try await Task.sleep(for: .seconds(options.heartbeatSeconds))
                    guard pump.life.beat() else { throw End.silent }
                    // Repeat a request that was sent before the radio was awake, or that was lost.
                    let isHeard = pump.isHeard.load(ordering: .relaxed)
                    let open = pump.handshake.withLock { isHeard ? $0.beat() : $0.asked }
                    if open != nil { try await outbound.write(ByteBuffer(bytes: StreamFrame.wakeUp)) }
                    try await send(open.map(ToRadioMessage.wantConfig) ?? ToRadioMessage.heartbeat, outbound)
                }
            }
            group.addTask {
                try await pump.outbox.run(silence_s: { pump.life.silence_s }) { try await send($0, outbound) }
            }
            group.addTask { try await askAfterChanges(outbound, pump, options) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Asks for the settings again when a client has changed them.
    private static func askAfterChanges(
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ pump: RadioPump, _ options: RadioOptions
    ) async throws {
        var count = pump.outbox.changes.value
        while true {
            await pump.outbox.changes.wait(past: count)
            // Apps change several settings in a row.
            repeat {
                count = pump.outbox.changes.value
                try await Task.sleep(for: .seconds(options.settingsSeconds))
            } while count != pump.outbox.changes.value
            try await send(ToRadioMessage.wantConfig(pump.handshake.withLock { $0.begin() }), outbound)
        }
    }

    private static func read(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ pump: RadioPump
    ) async throws {
        var framer = StreamFramer()
        for try await chunk in inbound {
            let (records, questions) = pump.take(chunk, &framer)
            for question in questions { try await send(ToRadioMessage.wantConfig(question), outbound) }
            // While the ledger has no space, the radio is not read, so it cannot be called silent.
            pump.life.hold()
            guard await pump.store.buffer.put(records) else { throw End.refusedByStore }
            pump.life.goOn()
        }
        if !Task.isCancelled { throw End.closed }
    }

    private static func send(_ message: [UInt8], _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
        guard let frame = StreamFrame.around(message) else { return }
        try await outbound.write(ByteBuffer(bytes: frame))
    }
}

/// State shared by the tasks of one connection.
final class RadioPump: Sendable {
    let store: LiveStore
    let life: RadioLife
    let handshake: Mutex<RadioHandshake>
    private let memory: RadioMemory
    let outbox: RadioOutbox
    private let found: @Sendable (SecretMask.Findings) -> Void
    let isHeard: Atomic<Bool>

    init(
        store: LiveStore, life: RadioLife, handshake: consuming Mutex<RadioHandshake>, memory: RadioMemory, outbox: RadioOutbox,
        found: @escaping @Sendable (SecretMask.Findings) -> Void, isHeard: consuming Atomic<Bool>
    ) {
        (self.store, self.life, self.found) = (store, life, found)
        (self.memory, self.outbox) = (memory, outbox)
        self.handshake = handshake
        self.isHeard = isHeard
    }

    /// Splits bytes into records for the log, and returns the next request to the radio.
    func take(_ chunk: ByteBuffer, _ framer: inout StreamFramer) -> (records: [IngestRecord], questions: [UInt32]) {
        var records: [IngestRecord] = []
        var questions: [UInt32] = []
        var skipped = 0
        func take(_ piece: StreamPiece) {
            guard piece.kind == .frame else {
                skipped += piece.bytes.count
                return
            }
            life.sign()
            if !isHeard.exchange(true, ordering: .relaxed) { store.board.enter(.replaying, "\(store.name) answers") }
            let kind = FromRadioGlance(piece.bytes).kind
            memory.take(kind, piece.bytes)
            if case .queueStatus(_, let free, let packet) = kind { outbox.status(free: free, packet: packet, frame: piece.bytes) }
            switch handshake.withLock({ $0.take(kind) }) {
            case .nothing: break
            case .ask(let nonce):
                questions.append(nonce)
                if nonce == ConfigNonce.configuration {
                    outbox.restarted()
                    store.board.enter(.replaying, "the radio has started again")
                }
            case .live: if store.board.status.state != .live { store.board.enter(.live, "listening to \(store.name)") }
            }
            // The answer to a heartbeat, 2,880 times a day, says nothing about the mesh.
            if case .queueStatus(_, _, packet: 0) = kind { return }
            var record = StreamCutter.record(piece.bytes, reception: .live)
            if let findings = record.findings { found(findings) }
            record.findings = nil
            records.append(record)
        }
        unsafe chunk.withUnsafeReadableBytes { bytes in
            unsafe framer.feed(bytes.bytes) { take($0) }
        }
        if framer.isInFrame { life.sign() }
        if skipped > 0 { store.board.skipped(skipped) }
        if !records.isEmpty { store.board.received(records.count) }
        return (records, questions)
    }
}

/// Tracks whether a radio is alive: heartbeats ask, and any frame is an answer.
final class RadioLife: Sendable {
    private struct State {
        var missed = 0
        var heard = ContinuousClock.now
        var isHeld = false
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Called when it has sent a frame, or a part of one.
    func sign() { state.withLock { ($0.missed, $0.heard) = (0, .now) } }

    /// How long it has been silent.
    var silence_s: Double { state.withLock { $0.heard.duration(to: .now) / .seconds(1) } }

    /// Called before a time in which it is not read, so that nothing can be heard from it.
    func hold() { state.withLock { $0.isHeld = true } }

    func goOn() { state.withLock { $0.isHeld = false } }

    /// - Returns: false if too many heartbeats had no answer.
    func beat() -> Bool {
        state.withLock { state in
            if state.isHeld { return true }
            state.missed += 1
            return state.missed <= limit
        }
    }
}
