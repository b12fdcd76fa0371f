import EventLog
import Foundation
import MeshLedger
import Meshtastic
import NIOCore
import Synchronization

/// One client of a shared radio.
///
/// Synchronization: the mutex guards what its reading and its writing task share.
final class ProxyClient: Sendable {
    private enum Answer {
        case frame([UInt8])
        case configuration(UInt32)
    }

    private struct State {
        var answers: [Answer] = []
        var window = SendWindow()
        /// The log's last event when it requested the configuration.
        var joined: UInt64?
        var hasAsked = false
        /// Whether it gets nothing more, since its connection is about to be closed.
        var isLeaving = false
        /// Whether it has closed its end of the connection.
        var hasEnded = false
        /// Whether another client of its address was connected at the same time.
        var hasMet = false
        /// Whether another client has taken over its place.
        var isReplaced = false
        /// Whether another client has begun at its place, which is the same one if this one acknowledges nothing more.
        var isShared = false

        var isEnding: Bool { isLeaving || hasEnded }
        var place: UInt64? { isReplaced ? nil : window.place }
        var lastPlace: UInt64? { isShared ? nil : place }
    }

    private static let mostAnswers = 1_000
    /// Clients ask for the configuration as soon as they are connected.
    private static let askingSeconds = 2.0
    private static let eventsAtOnce: UInt64 = 256
    private static let noAdmin = "share-admin does not name its network"
    /// Errors of Routing.
    private static let (tooLarge, notAuthorized): (UInt32, UInt32) = (7, 33)
    /// A computer may acknowledge up to 40 ms late what it has received.
    private static let (settlings, settling_ms) = (20, 10)

    private struct Left: Error {}

    private let radio: SharedRadio
    let address: String
    private let channel: any Channel
    private let options: ShareOptions
    private let state = Mutex(State())
    private let began = ContinuousClock.now

    init(_ radio: SharedRadio, _ channel: any Channel, _ options: ShareOptions) {
        (self.radio, self.channel, self.options) = (radio, channel, options)
        address = channel.remoteAddress?.ipAddress ?? ""
    }

    /// The last event that it has; nil for a client that never requested anything, such as a port scanner, and for one that was replaced.
    var place: UInt64? { state.withLock { $0.place } }

    /// The same for a client that may have lost what was sent to it since, unless another has begun there.
    var openPlace: UInt64? { state.withLock { $0.window.isOpen ? $0.lastPlace : nil } }

    /// Whether it has asked for nothing although it had time to.
    var isSilent: Bool { !state.withLock { $0.hasAsked } && began.duration(to: .now) > .seconds(Self.askingSeconds) }

    var hasStalled: Bool { state.withLock { $0.window.hasStalled(forSeconds: options.stallSeconds) } }

    /// Whether it is to be disconnected: another has its place, or it has not taken a byte for long. What came before the end of a connection is read first.
    var isGone: Bool {
        state.withLock { $0.isReplaced && !$0.isEnding || $0.window.hasStalled(forSeconds: options.patienceSeconds) }
    }

    /// The place that it leaves: none if another has begun there, and it has acknowledged nothing since.
    var lastPlace: UInt64? { state.withLock { $0.lastPlace } }

    func share() { state.withLock { $0.isShared = true } }

    func meet() { state.withLock { $0.hasMet = true } }

    var wasAlone: Bool { !state.withLock { $0.hasMet } }

    /// Whether its connection has ended, and only what it has sent and still acknowledges is waited for.
    var isLeaving: Bool { state.withLock { $0.isEnding } }

    /// Whether another client has taken over its place.
    var isReplaced: Bool { state.withLock { $0.isReplaced } }

    func begin(at place: UInt64) { state.withLock { $0.window.begin(at: place) } }

    private var queue: RadioOutbox.Client { RadioOutbox.Client(address: address, connection: ObjectIdentifier(self)) }

    func replace() { state.withLock { $0.isReplaced = true } }

    /// Finds out what it has acknowledged, and whether it has closed its end.
    ///
    /// - Returns: whether it may still acknowledge more
    @discardableResult
    func measure() async -> Bool {
        let connection = await channel.connectionState()
        return state.withLock { state in
            state.hasEnded = connection?.hasEnded ?? true
            guard let connection else { return false }
            if state.window.acknowledge(connection.acknowledged) { state.isShared = false }
            return state.window.isOpen
        }
    }

    /// Sends nothing more, and waits a moment for what it has received and not yet acknowledged, so that it does not get that again.
    func settle() async {
        state.withLock { $0.isLeaving = true }
        for _ in 0..<Self.settlings {
            guard await measure() else { return }
            await Uncancelled.run { try? await Task.sleep(for: .milliseconds(Self.settling_ms)) }  // nobody cancels it
        }
    }

    func run(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in try await read(inbound) }
            group.addTask { [self] in try await write(outbound) }
            group.addTask { [self] in try await leaveIfSilent() }
            group.addTask { [self] in await radio.waitWhileAllowed(self) }
            do {
                try await group.next()
            } catch {
                await settle()
                throw error
            }
            await settle()
            group.cancelAll()
        }
    }

    /// A connection that asks for nothing takes no client's place for ever.
    private func leaveIfSilent() async throws {
        while true {
            try await Task.sleep(for: .seconds(options.silenceSeconds))
            if !state.withLock({ $0.hasAsked }) { throw Left() }
        }
    }

    private func read(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws {
        var framer = StreamFramer()
        for try await chunk in inbound {
            for piece in framer.feed(Array(chunk.readableBytesView)) {
                guard piece.kind == .frame else {
                    reportSkipped(piece.bytes)
                    continue
                }
                let message = ClientMessage(piece.bytes, from: radio.memory.number)
                if message != .other { state.withLock { $0.hasAsked = true } }
                switch message {
                case .wantConfig(let nonce): try answer(.configuration(nonce))
                case .heartbeat: try answer(.frame(FromRadioMessage.queueStatus()))
                case .disconnect: throw Left()
                case .packet(let packet) where packet.isAdmin && !radio.mayAdminister(address):
                    try refuseChange(packet)
                case .packet(let packet) where packet.isTooLong:
                    try refuse(
                        packet, Self.tooLarge, .packet,
                        "a packet of the client \(address) was refused: it does not fit the radio's frame")
                case .file where !radio.mayAdminister(address):
                    radio.reportRefusal(
                        .settings, of: address, "a file transfer of the client \(address) was refused: \(Self.noAdmin)")
                case .file(let message), .broker(let message):
                    radio.take(message, from: queue)
                case .packet(let packet):
                    await radio.take(packet, from: queue) { [weak self] frame in
                        try? self?.answer(.frame(frame))  // the client is about to leave
                    }
                case .other: break
                }
            }
        }
        throw Left()
    }

    private func reportSkipped(_ bytes: [UInt8]) {
        if bytes.allSatisfy({ $0 == StreamFrame.wakeUp[0] }) { return }
        radio.reportRefusal(
            .bytes, of: address,
            "ignored \(bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes") from client \(address): not a frame (at most \(StreamFramer.lengthLimit) bytes)"
        )
    }

    private func refuseChange(_ packet: ClientMessage.Packet) throws {
        try refuse(
            packet, Self.notAuthorized, .settings,
            packet.isEncrypted
                ? "a packet of the client \(address) was refused: its content cannot be read, so it may change settings, and \(Self.noAdmin)"
                : "a request of the client \(address) for settings was refused: \(Self.noAdmin)")
    }

    /// Answers as a radio does that refuses a packet.
    private func refuse(_ packet: ClientMessage.Packet, _ error: UInt32, _ kind: RefusalBudget.Kind, _ text: String) throws {
        try answer(.frame(FromRadioMessage.queueStatus(result: Int32(error), packet: packet.id)))
        if packet.wantsAnswer {
            try answer(.frame(FromRadioMessage.routing(error: error, of: packet.id, by: radio.memory.number)))
        }
        radio.reportRefusal(kind, of: address, text)
    }

    /// - Throws: if the client keeps sending requests without reading the answers
    private func answer(_ answer: Answer) throws {
        let fits = state.withLock { state in
            state.answers.append(answer)
            return state.answers.count <= Self.mostAnswers
        }
        radio.progress.raise()
        guard fits else {
            radio.reportRefusal(
                .answers, of: address,
                "the client \(address) was disconnected: \(Self.mostAnswers) answers wait, and it does not read them")
            throw Left()
        }
    }

    private func write(_ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
        var sent: UInt64?
        while !Task.isCancelled, !state.withLock({ $0.isLeaving }) {
            let level = radio.progress.value
            var buffer = ByteBuffer()
            for answer in state.withLock({ state in
                defer { state.answers = [] }
                return state.answers
            }) {
                switch answer {
                case .frame(let frame): add(frame, to: &buffer)
                case .configuration(let nonce):
                    for frame in try await configuration(nonce) { add(frame, to: &buffer) }
                    state.withLock { $0.joined = $0.joined ?? radio.log.head.rawValue }
                }
            }
            var reached = sent
            if let sent { reached = try addPackets(after: sent, to: &buffer) }
            guard buffer.readableBytes > 0 || reached != sent else {
                await radio.progress.wait(past: level)
                continue
            }
            // Waits while the client does not read.
            if buffer.readableBytes > 0 { try await outbound.write(buffer) }
            sent = reached
            if sent == nil, let joined = state.withLock({ $0.joined }) { sent = await begin(joined) }
        }
    }

    private func add(_ message: [UInt8], to buffer: inout ByteBuffer) {
        guard let frame = StreamFrame.around(message) else { return }
        buffer.writeBytes(frame)
        state.withLock { $0.window.write(frame.count) }
    }

    /// - Returns: the event after which its packets begin: for a new client the last one when it joined
    private func begin(_ joined: UInt64) async -> UInt64 {
        let start = await radio.shortened(await radio.begin(self, joined: joined), self)
        begin(at: start)
        return start
    }

    /// Answers its request as soon as the radio itself has reported everything.
    private func configuration(_ nonce: UInt32) async throws -> [[UInt8]] {
        while !Task.isCancelled {
            let level = radio.memory.progress.value
            if let frames = radio.memory.answer(to: nonce) { return frames }
            await radio.memory.progress.wait(past: level)
        }
        throw Left()
    }

    /// What an event is to this client; nil if it is not from its radio, and does not say what became of a packet of its own.
    func kind(of event: Event) -> FromRadioGlance.Kind? {
        guard event.header.encoding == PayloadEncoding(.fromRadio) else { return nil }
        let source = event.header.source
        return source == radio.source || source == radio.source(of: address) ? FromRadioGlance(event.payload).kind : nil
    }

    /// Adds the radio's packets after an event, and what is recorded of this client's packets that the radio did not get.
    ///
    /// - Returns: the last event that was looked at
    private func addPackets(after last: UInt64, to buffer: inout ByteBuffer) throws -> UInt64 {
        let head = radio.log.head.rawValue
        guard last < head else { return last }
        let end = min(head, last + Self.eventsAtOnce)
        let joined = state.withLock { $0.joined ?? head }
        for event in try radio.log.events(in: EventSequence(rawValue: last + 1)...EventSequence(rawValue: end)) {
            let (kind, sequence) = (kind(of: event), event.sequence.rawValue)
            // Errands of the past are done, or nobody waits for them.
            guard kind == .packet || kind == .errand && sequence > joined else { continue }
            add(event.payload, to: &buffer)
            state.withLock { $0.window.mark(sequence) }
        }
        state.withLock { $0.window.mark(end) }
        return end
    }
}
