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
        /// The last event sent to it; nil until it has requested the configuration.
        var place: UInt64?
        var hasAsked = false
    }

    private static let mostAnswers = 1_000
    private static let eventsAtOnce: UInt64 = 256
    private static let notAuthorized: UInt32 = 33

    private struct Left: Error {}

    private let radio: SharedRadio
    let address: String
    private let silenceSeconds: Double
    private let state = Mutex(State())

    init(_ radio: SharedRadio, address: String, silenceSeconds: Double) {
        (self.radio, self.address, self.silenceSeconds) = (radio, address, silenceSeconds)
    }

    /// The last event sent to it; nil for a client that never requested anything, such as a port scanner.
    var place: UInt64? { state.withLock { $0.place } }

    func run(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in try await read(inbound) }
            group.addTask { [self] in try await write(outbound) }
            group.addTask { [self] in try await leaveIfSilent() }
            group.addTask { [self] in await radio.waitWhileAllowed(address) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// A connection that asks for nothing takes no client's place for ever.
    private func leaveIfSilent() async throws {
        while true {
            try await Task.sleep(for: .seconds(silenceSeconds))
            if !state.withLock({ $0.hasAsked }) { throw Left() }
        }
    }

    private func read(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws {
        var framer = StreamFramer()
        for try await chunk in inbound {
            for piece in framer.feed(Array(chunk.readableBytesView)) {
                guard piece.kind == .frame else {
                    tellSkipped(piece.bytes)
                    continue
                }
                let message = ClientMessage(piece.bytes, from: radio.memory.number)
                if message != .other { state.withLock { $0.hasAsked = true } }
                switch message {
                case .wantConfig(let nonce): try answer(.configuration(nonce))
                case .heartbeat: try answer(.frame(FromRadioMessage.queueStatus()))
                case .disconnect: throw Left()
                case .packet(let packet) where packet.isAdmin && !radio.mayAdminister(address):
                    try refuse(packet)
                case .packet(let packet):
                    await radio.take(packet, from: address) { [weak self] frame in
                        try? self?.answer(.frame(frame))  // the client is about to leave
                    }
                case .other: break
                }
            }
        }
        throw Left()
    }

    private func tellSkipped(_ bytes: [UInt8]) {
        if bytes.allSatisfy({ $0 == StreamFrame.wakeUp[0] }) { return }
        radio.tellRefusal(
            "\(bytes.count) bytes from the client \(address) were ignored: they are no frame, which has at most \(StreamFramer.lengthLimit) bytes"
        )
    }

    /// Answers as a radio does that may not be administered.
    private func refuse(_ packet: ClientMessage.Packet) throws {
        try answer(.frame(FromRadioMessage.queueStatus(result: Int32(Self.notAuthorized), packet: packet.id)))
        if packet.wantsAnswer {
            let routing = FromRadioMessage.routing(error: Self.notAuthorized, of: packet.id, by: radio.memory.number)
            try answer(.frame(routing))
        }
        radio.tellRefusal("a request of the client \(address) for settings was refused: share-admin does not name its network")
    }

    /// - Throws: if the client keeps sending requests without reading the answers
    private func answer(_ answer: Answer) throws {
        let fits = state.withLock { state in
            state.answers.append(answer)
            return state.answers.count <= Self.mostAnswers
        }
        radio.tide.rise()
        if !fits { throw Left() }
    }

    private func write(_ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws {
        while !Task.isCancelled {
            let level = radio.tide.level
            var frames: [[UInt8]] = []
            for answer in state.withLock({ state in
                defer { state.answers = [] }
                return state.answers
            }) {
                switch answer {
                case .frame(let frame): frames.append(frame)
                case .configuration(let nonce):
                    frames += try await configuration(nonce)
                    if place == nil {
                        let start = radio.place(ofClientFrom: address)
                        state.withLock { $0.place = start }
                    }
                }
            }
            let start = place
            var last = start
            if let start {
                let (packets, reached) = try packets(after: start)
                frames += packets
                last = reached
            }
            guard !frames.isEmpty || last != start else {
                await radio.tide.wait(past: level)
                continue
            }
            var buffer = ByteBuffer()
            for frame in frames.compactMap(StreamFrame.around) { buffer.writeBytes(frame) }
            // Waits while the client does not read.
            if buffer.readableBytes > 0 { try await outbound.write(buffer) }
            state.withLock { $0.place = last }
        }
    }

    /// Answers its request as soon as the radio itself has reported everything.
    private func configuration(_ nonce: UInt32) async throws -> [[UInt8]] {
        while !Task.isCancelled {
            let level = radio.memory.tide.level
            if let frames = radio.memory.answer(to: nonce) { return frames }
            await radio.memory.tide.wait(past: level)
        }
        throw Left()
    }

    /// The radio's packets after an event.
    private func packets(after last: UInt64) throws -> (frames: [[UInt8]], reached: UInt64) {
        let head = radio.log.head.rawValue
        guard last < head else { return ([], last) }
        let end = min(head, last + Self.eventsAtOnce)
        let source = radio.source
        let events = try radio.log.events(in: EventSequence(rawValue: last + 1)...EventSequence(rawValue: end))
        let frames = events.filter { event in
            guard event.header.source == source, event.header.encoding == PayloadEncoding(.fromRadio) else { return false }
            return FromRadioGlance(event.payload).kind == .packet
        }
        return (frames.map(\.payload), end)
    }
}
