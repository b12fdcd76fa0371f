public import EventLog
import Foundation
import MeshLedger
import Meshtastic
import NIOCore
import NIOPosix
import Synchronization

/// A radio that many clients use at once, each as if it were the only one.
///
/// The radio has a single connection, that of `RadioSource`. Requests for configuration and nodes are answered from memory; packets come from the log,
/// each once and in order. A client that reads slowly or was away continues where it stopped (see `ClientPlaces`), even if this process was restarted
/// in between. After a crash it receives the packets of the last
/// seconds again, since clients do not say what they have read. What clients send is stored first, then passed to the radio in order; the radio's
/// answers, including acknowledgements from the mesh, are packets like all others.
public final class SharedRadio: LiveSource {
    static let mostClients = 64
    /// Half of the places are left to clients from elsewhere.
    static let mostOfAddress = 32
    /// The most events that a client gets that was away.
    private static let longestAbsence: UInt64 = 50_000
    /// How often the positions of clients are stored, if they have changed.
    private static let savingSeconds = 1.0
    /// Refusals are told this often, since anyone can cause many.
    private static let refusalSeconds = 60.0

    private let radio: RadioSource
    let log: EventLog
    private let sink: any EventSink
    /// Rises when it is shared in another way.
    let changes = Tide()

    private struct State {
        var options: ShareOptions?
        var clients: [ObjectIdentifier: ProxyClient] = [:]
        var away = ClientPlaces()
        var saved: [UInt8] = []
        var source: SourceID?
        /// Why clients cannot connect.
        var listenFailure: (text: String, time: Timestamp)?
        /// When a refusal was told, and how many were not told since.
        var refusals: (told: ContinuousClock.Instant, untold: Int)?
    }

    private let state: Mutex<State>

    /// - Parameter options: nil if it is not shared for now
    public init(_ radio: RadioSource, _ options: ShareOptions?, log: EventLog) {
        (self.radio, self.log, sink) = (radio, log, log)
        state = Mutex(State(options: options))
    }

    /// Shares it in another way from now on, or no longer. Clients that may connect there as before stay connected, as does the radio.
    public func share(_ options: ShareOptions?) {
        let isNew = state.withLock { state in
            defer { state.options = options }
            if state.options?.isSamePlace(as: options) != true { state.listenFailure = nil }
            return state.options != options
        }
        if isNew { changes.rise() }
    }

    public var name: String { radio.name }
    public var status: SourceStatus {
        var status = radio.status
        let (count, failure) = state.withLock { ($0.options == nil ? nil : $0.clients.count, $0.listenFailure) }
        status.clientCount = count
        if let failure { (status.lastError, status.lastErrorTime) = (failure.text, failure.time) }
        return status
    }
    var memory: RadioMemory { radio.memory }
    var outbox: RadioOutbox { radio.outbox }
    /// Rises with each append and each answer to a client.
    var tide: Tide { radio.tide }
    /// The number of connected clients.
    public var clientCount: Int { state.withLock { $0.clients.count } }
    /// The number of the radio's source in the log.
    var source: SourceID? { state.withLock { $0.source } }
    private var placesKey: String { "share/\(name)".utf8.count <= 500 ? "share/\(name)" : "share" }

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
            await group.waitForAll()
            return first
        }
        if let failure { throw failure }
    }

    /// Reads the positions of clients, retrying until the ledger can be read.
    private func begin() async throws {
        let source = try await sink.source(named: name)
        let saved = try await sink.storedCursor(placesKey) ?? []
        state.withLock { state in
            guard state.source == nil else { return }
            (state.source, state.saved, state.away) = (source, saved, ClientPlaces(saved))
        }
    }

    /// Stores the positions of all clients, connected or not.
    private func save() async {
        let bytes: [UInt8]? = state.withLock { state in
            var places = state.away
            for client in state.clients.values { if let place = client.place { places.leave(client.address, at: place) } }
            let bytes = places.bytes
            guard state.source != nil, bytes != state.saved else { return nil }
            state.saved = bytes
            return bytes
        }
        guard let bytes else { return }
        do throws(EventLogError) {
            _ = try await sink.append([], cursor: SourceCursor(key: placesKey, value: bytes))
        } catch {
            // If there is no space, they are stored with the next ones.
            state.withLock { $0.saved = [] }
        }
    }

    /// Listens where it is shared, retrying while the port is taken.
    private func serveAgain() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            let level = changes.level
            guard let options = state.withLock({ $0.options }) else {
                await changes.wait(past: level)
                continue
            }
            do {
                try await serveUntilMoved(options)
            } catch {
                if Task.isCancelled { break }
                let reason = networkErrorText(error)
                let wait_s = backoff.take()
                let text = "clients cannot connect to \(options.place) (\(reason))"
                state.withLock { $0.listenFailure = (text, .now) }
                radio.board.tell("\(text); trying again in \(Int(wait_s + 0.5)) s")
                await changes.wait(past: level, seconds: wait_s)
            }
            await Uncancelled.run { [self] in await save() }
        }
    }

    private func serveUntilMoved(_ options: ShareOptions) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in try await serve(options) }
            group.addTask { [self] in await wait { $0?.isSamePlace(as: options) == true } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits as long as the way in which it is shared meets a condition.
    private func wait(while isMet: (ShareOptions?) -> Bool) async {
        while !Task.isCancelled {
            let level = changes.level
            guard isMet(state.withLock { $0.options }) else { return }
            await changes.wait(past: level)
        }
    }

    /// Returns once clients from this address may no longer connect.
    func waitWhileAllowed(_ address: String) async { await wait { $0?.allows(address) == true } }

    func mayAdminister(_ address: String) -> Bool {
        state.withLock { $0.options?.admins.contains { $0.contains(address) } == true }
    }

    private func serve(_ options: ShareOptions) async throws {
        try await begin()
        let server = try await ServerBootstrap(group: RadioChannel.loops)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .bind(host: options.host, port: Int(options.port)) { channel in
                channel.eventLoop.makeCompletedFuture { try RadioChannel.Channel(wrappingChannelSynchronously: channel) }
            }
        state.withLock { $0.listenFailure = nil }
        radio.board.tell("\(name) is shared at \(options.place)")
        try await server.executeThenClose { clients in
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { [self] in
                    while !Task.isCancelled {
                        try? await Task.sleep(for: .seconds(Self.savingSeconds))  // if cancelled, the loop ends
                        await save()
                    }
                }
                for try await client in clients { group.addTask { [self] in await serve(client, options.silenceSeconds) } }
                group.cancelAll()
            }
        }
    }

    private func serve(_ channel: RadioChannel.Channel, _ silenceSeconds: Double) async {
        let address = channel.channel.remoteAddress?.ipAddress ?? ""
        let isAllowed = state.withLock { $0.options?.allows(address) == true }
        guard isAllowed, let client = enter(address, silenceSeconds) else {
            // Closed in any other way, the unfinished writer would trap and end the process.
            try? await channel.executeThenClose { _, _ in }  // the client is not let in
            return
        }
        do {
            try await channel.executeThenClose { inbound, outbound in try await client.run(inbound, outbound) }
        } catch {
            // The client has gone, which does not affect the others.
        }
        leave(client)
    }

    /// - Returns: nil if there are too many clients.
    private func enter(_ address: String, _ silenceSeconds: Double) -> ProxyClient? {
        let client = ProxyClient(self, address: address, silenceSeconds: silenceSeconds)
        let refusal: String? = state.withLock { state in
            guard state.clients.count < Self.mostClients else { return "\(Self.mostClients) clients are connected" }
            guard state.clients.values.count(where: { $0.address == address }) < Self.mostOfAddress else {
                return "\(Self.mostOfAddress) clients are connected from there"
            }
            state.clients[ObjectIdentifier(client)] = client
            return nil
        }
        guard let refusal else { return client }
        tellRefusal("a client from \(address) was refused: \(refusal)")
        return nil
    }

    /// Tells of what was refused, and how often that happened meanwhile.
    func tellRefusal(_ text: String) {
        let untold: Int? = state.withLock { state in
            if let last = state.refusals, last.told.duration(to: .now) < .seconds(Self.refusalSeconds) {
                state.refusals?.untold += 1
                return nil
            }
            defer { state.refusals = (.now, 0) }
            return state.refusals?.untold ?? 0
        }
        guard let untold else { return }
        radio.board.tell(text + (untold > 0 ? "; \(untold) more refusals since the last one that was told" : ""))
    }

    private func leave(_ client: ProxyClient) {
        let place = client.place
        state.withLock { state in
            state.clients[ObjectIdentifier(client)] = nil
            if let place { state.away.leave(client.address, at: place) }
        }
    }

    /// The last event that a client from this address has seen: where one of them stopped, otherwise the newest.
    func place(ofClientFrom address: String) -> UInt64 {
        let head = log.head.rawValue
        let place = state.withLock { $0.away.take(address) }
        return max(min(place ?? head, head), head - min(head, Self.longestAbsence))
    }

    /// Stores what a client sends, then passes it to the radio.
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
        // 5 is the code with which a radio reports a full queue.
        if !outbox.put(item) { answer(FromRadioMessage.queueStatus(result: 5, packet: packet.id, free: 0)) }
    }
}
