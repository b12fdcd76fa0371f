public import EventLog
import Foundation
import MeshLedger
import Meshtastic
import NIOCore
import NIOPosix
import Synchronization

/// Who may use a shared radio, and where it is offered.
public struct ShareOptions: Sendable, Hashable {
    public var host = "127.0.0.1"
    public var port: UInt16
    /// From where clients may connect.
    public var allowed = NetworkRange.loopback
    /// From where clients may change the radio's settings.
    public var admins: [NetworkRange] = []

    public init(port: UInt16) { self.port = port }
}

/// A radio that is listened to, and shared: many clients speak to it as if each had it alone.
///
/// The radio has one connection, that of `RadioSource`. A client's questions for configuration and nodes are answered from memory; packets come from the log, each once and in order; a client that reads
/// slowly or was away continues where it was. What clients send is stored first and then given to the radio, in order.
public final class SharedRadio: LiveSource {
    private static let mostClients = 64
    /// A client that was away gets so many events at most.
    private static let longestAbsence: UInt64 = 50_000
    private static let mostAddresses = 256

    private let radio: RadioSource
    private let options: ShareOptions
    let log: EventLog
    private let sink: any EventSink

    private struct State {
        var clients = 0
        /// Where the clients of an address ended, to continue there.
        var cursors: [String: UInt64] = [:]
        var present: [String: Int] = [:]
    }

    private let state = Mutex(State())

    public init(_ radio: RadioSource, _ options: ShareOptions, log: EventLog) {
        (self.radio, self.options, self.log, sink) = (radio, options, log, log)
    }

    public var name: String { radio.name }
    public var status: SourceStatus { radio.status }
    var memory: RadioMemory { radio.memory }
    var outbox: RadioOutbox { radio.outbox }
    /// Rises with each append, and each answer to a client.
    var tide: Tide { radio.tide }
    /// How many clients are connected.
    public var clientCount: Int { state.withLock { $0.clients } }

    public func run() async throws(IngestError) {
        let failure = await withTaskGroup(of: IngestError?.self) { group in
            group.addTask { [radio] in
                do throws(IngestError) {
                    try await radio.run()
                    return nil
                } catch {
                    return error
                }
            }
            group.addTask { [self] in
                await serveAgain()
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let failure { throw failure }
    }

    /// Listens; if the port is taken, tries again.
    private func serveAgain() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            do {
                try await serve()
            } catch {
                if Task.isCancelled { return }
                let reason = (error as? IOError).map { errorText($0.errnoCode) } ?? "\(error)"
                let wait_s = backoff.take()
                radio.board.tell(
                    "clients cannot connect to \(options.host):\(options.port) (\(reason)); trying again in \(Int(wait_s + 0.5)) s"
                )
                try? await Task.sleep(for: .seconds(wait_s))  // cancelled: the loop ends
            }
        }
    }

    private func serve() async throws {
        let server = try await ServerBootstrap(group: RadioChannel.loops)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .bind(host: options.host, port: Int(options.port)) { channel in
                channel.eventLoop.makeCompletedFuture { try RadioChannel.Channel(wrappingChannelSynchronously: channel) }
            }
        radio.board.tell("\(name) is shared at \(options.host):\(options.port)")
        try await server.executeThenClose { clients in
            try await withThrowingDiscardingTaskGroup { group in
                for try await client in clients { group.addTask { [self] in await serve(client) } }
                group.cancelAll()
            }
        }
    }

    private func serve(_ channel: RadioChannel.Channel) async {
        let address = channel.channel.remoteAddress?.ipAddress ?? ""
        guard options.allowed.contains(where: { $0.contains(address) }), let start = enter(address) else {
            try? await channel.channel.close()  // it is not let in
            return
        }
        let client = ProxyClient(
            self, address: address, mayAdminister: options.admins.contains { $0.contains(address) }, cursor: start)
        do {
            try await channel.executeThenClose { inbound, outbound in try await client.run(inbound, outbound) }
        } catch {
            // It has gone; the others do not care.
        }
        leave(address, client.position)
    }

    /// - Returns: the last event that the client has seen; nil where there are too many clients.
    private func enter(_ address: String) -> UInt64? {
        let head = log.head.rawValue
        return state.withLock { state in
            guard state.clients < Self.mostClients else { return nil }
            state.clients += 1
            state.present[address, default: 0] += 1
            let saved = state.present[address] == 1 ? state.cursors.removeValue(forKey: address) : nil
            return max(saved ?? head, head - min(head, Self.longestAbsence))
        }
    }

    private func leave(_ address: String, _ cursor: UInt64) {
        state.withLock { state in
            state.clients -= 1
            state.present[address, default: 1] -= 1
            guard state.present[address] == 0 else { return }
            state.present[address] = nil
            if state.cursors.count >= Self.mostAddresses, let oldest = state.cursors.min(by: { $0.value < $1.value }) {
                state.cursors[oldest.key] = nil
            }
            state.cursors[address] = cursor
        }
    }

    /// Stores what a client sends, and gives it to the radio afterwards.
    func take(_ packet: ClientMessage.Packet, from address: String, answer: @escaping @Sendable ([UInt8]) -> Void) async {
        do throws(EventLogError) {
            let source = try await sink.source(named: "\(name)/client \(address)")
            _ = try await sink.append([NewEvent(packet.bytes, encoding: PayloadEncoding(.meshPacket), source: source)])
        } catch {
            radio.board.tell("a packet of the client \(address) was refused: \(error)")
            return answer(FromRadioMessage.queueStatus(result: 8, packet: packet.id, free: 0))
        }
        tide.rise()
        let item = RadioOutbox.Item(message: ToRadioMessage.packet(packet.bytes), packet: packet.id, answer: answer)
        // 5 is the radio's own word for a queue that takes no more.
        if !outbox.put(item) { answer(FromRadioMessage.queueStatus(result: 5, packet: packet.id, free: 0)) }
    }
}
