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
/// each once and in order. A client that reads slowly or was away continues after the last packet that its computer has acknowledged (see `SendWindow` and
/// `ClientPlaces`), even if this process was restarted in between. After a crash it receives the packets of the last second again. What clients
/// send is stored first, then passed to the radio in order; the radio's answers, including acknowledgements from the mesh, are packets like all others.
public final class SharedRadio: LiveSource {
    static let mostClients = 64
    /// Half of the places are left to clients from elsewhere.
    static let mostOfAddress = 32
    /// How many events are read at once.
    static let chunk: UInt64 = 4_096
    /// How often the positions of clients are stored, if they have changed.
    private static let savingSeconds = 1.0
    /// The most events in which packets are looked for after a kill.
    private static let mostSearched: UInt64 = 100_000

    private let radio: RadioSource
    let log: EventLog
    let sink: any EventSink
    /// Rises when it is shared in another way.
    let changes = RisingNumber()

    private struct State {
        var options: ShareOptions?
        var clients: [ObjectIdentifier: ProxyClient] = [:]
        var away = ClientPlaces()
        var savedPlaces: [UInt8] = []
        /// For each packet that is being stored, the event that it gets at the earliest.
        var storing: [UInt64] = []
        /// Whether a packet was stored since this was saved last.
        var isUnsaved = true
        var savedUnsent: UnsentPackets?
        var source: SourceID?
        /// The sources of what clients sent, by their addresses.
        var clientSources: [String: SourceID] = [:]
        /// Why clients cannot connect.
        var listenFailure: (text: String, time: Timestamp)?
        var refusals = RefusalBudget()
    }

    private let state: Mutex<State>

    /// - Parameter options: nil if it is not shared for now
    public init(_ radio: RadioSource, _ options: ShareOptions?, log: EventLog) {
        (self.radio, self.log, sink) = (radio, log, log)
        state = Mutex(State(options: options))
        radio.memory.share(options != nil)
    }

    /// Shares it in another way from now on, or no longer. Clients that may connect there as before stay connected, as does the radio.
    public func share(_ options: ShareOptions?) {
        radio.memory.share(options != nil)
        let isNew = state.withLock { state in
            defer { state.options = options }
            if state.options?.isSamePlace(as: options) != true { state.listenFailure = nil }
            return state.options != options
        }
        if isNew { changes.raise() }
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
    var progress: RisingNumber { radio.progress }
    /// The number of connected clients.
    public var clientCount: Int { state.withLock { $0.clients.count } }
    /// The number of the radio's source in the log.
    var source: SourceID? { state.withLock { $0.source } }
    /// How old a packet may be to be sent; nil if the radio is not shared.
    var unsentSeconds: Double? { state.withLock { $0.options?.oldestUnsentSeconds } }
    /// The source in the log of what a client at this address has sent, if there is one.
    func source(of address: String) -> SourceID? { state.withLock { $0.clientSources[address] } }
    func know(_ source: SourceID, of address: String) { state.withLock { $0.clientSources[address] = source } }
    /// What the names of these sources begin with.
    var clientPrefix: String { ClientSourceName.prefix(radio: name) }
    private var placesKey: String { key("share") }
    /// Where the events of the packets are stored that the radio has not accepted.
    var unsentKey: String { key("unsent") }

    private func key(_ kind: String) -> String { "\(kind)/\(name)".utf8.count <= 500 ? "\(kind)/\(name)" : kind }

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
        reportUnsent()
        if let failure { throw failure }
    }

    /// Reads the positions of clients and what they sent before, retrying until the ledger can be read.
    private func begin(_ options: ShareOptions) async throws {
        guard source == nil else { return }
        let source = try await sink.source(named: name)
        let places = try await sink.storedCursor(placesKey) ?? []
        for known in try log.sources() where known.name.hasPrefix(clientPrefix) {
            know(known.id, of: String(known.name.dropFirst(clientPrefix.count)))
        }
        let unsent = UnsentPackets(try await sink.storedCursor(unsentKey) ?? [])
        try await sendAgain(unsent, from: source, oldest_s: options.oldestUnsentSeconds)
        state.withLock { state in
            (state.source, state.away, state.savedPlaces) = (source, ClientPlaces(places), places)
        }
        await saveUnsent()
    }

    /// Called before a client's packet is stored, so that it is not missed when what waits for the radio is saved meanwhile.
    ///
    /// - Returns: for `endStoring`
    func beginStoring() -> UInt64 {
        state.withLock { state in
            let next = log.head.rawValue + 1
            state.storing.append(next)
            state.isUnsaved = true
            return next
        }
    }

    /// Called when it waits for the radio, or was refused.
    func endStoring(_ next: UInt64) {
        state.withLock { state in
            if let index = state.storing.firstIndex(of: next) { state.storing.remove(at: index) }
        }
    }

    /// What waits for the radio.
    var unsent: UnsentPackets {
        let next = state.withLock { $0.storing.min() ?? log.head.rawValue + 1 }
        return UnsentPackets(from: next, outbox.events.sorted())
    }

    /// Stores the positions of all clients, connected or not, and which of their packets the radio does not have yet.
    private func save() async {
        guard source != nil else { return }
        await measureAll()
        await giveUpOld()
        let places = state.withLock { state in
            var places = state.away
            for client in state.clients.values { if let place = client.place { places.leave(client.address, at: place) } }
            return places
        }
        if state.withLock({ $0.savedPlaces != places.bytes }), await save(places.bytes, placesKey) {
            state.withLock { $0.savedPlaces = places.bytes }
        }
        await saveUnsent()
    }

    private func saveUnsent() async {
        let isUnsaved = state.withLock { state in
            defer { state.isUnsaved = false }
            return state.isUnsaved
        }
        let (unsent, saved) = (self.unsent, state.withLock { $0.savedUnsent })
        let searched = (unsent.next ?? 0) - min(unsent.next ?? 0, saved?.next ?? 0)
        guard isUnsaved || unsent.events != saved?.events || searched > Self.mostSearched else { return }
        let isSaved = await save(unsent.bytes, unsentKey)
        state.withLock { state in
            if isSaved { state.savedUnsent = unsent } else { state.isUnsaved = true }
        }
    }

    /// - Returns: false if it could not be saved now, as without space
    private func save(_ bytes: [UInt8], _ key: String) async -> Bool {
        do throws(EventLogError) {
            _ = try await sink.append([], cursor: SourceCursor(key: key, value: bytes))
            return true
        } catch {
            return false
        }
    }

    /// Finds out which clients have received what, and disconnects those that have taken nothing for long.
    private func measureAll() async {
        let clients = state.withLock { Array($0.clients.values) }
        for client in clients { await client.measure() }
        if clients.contains(where: \.isGone) { changes.raise() }
    }

    /// Listens where it is shared, retrying while the port is taken.
    private func serveAgain() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            let level = changes.value
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
                radio.board.report("\(text); trying again in \(Int(wait_s + 0.5)) s", isTrouble: true)
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
            let level = changes.value
            guard isMet(state.withLock { $0.options }) else { return }
            await changes.wait(past: level)
        }
    }

    /// Returns once a client may not stay connected.
    func waitWhileAllowed(_ client: ProxyClient) async { await wait { $0?.allows(client.address) == true && !client.isGone } }

    func mayAdminister(_ address: String) -> Bool {
        state.withLock { $0.options?.admins.contains { $0.contains(address) } == true }
    }

    private func serve(_ options: ShareOptions) async throws {
        try await begin(options)
        let accepted = AcceptedChannels()
        defer { accepted.closeAll() }
        let server = try await ServerBootstrap(group: RadioChannel.loops)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // Otherwise the socket is closed before what the client has acknowledged is known.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.autoRead, value: false)
            .bind(host: options.host, port: Int(options.port)) { channel in
                accepted.add(channel)
                return channel.eventLoop.makeSucceededFuture(channel)
            }
        state.withLock { $0.listenFailure = nil }
        radio.board.report("\(name) is shared at \(options.place)")
        try await withTaskCancellationHandler {
            try await server.executeThenClose { try await serve($0, accepted, options) }
        } onCancel: {
            // Clients that connect while others still leave would wait in vain.
            server.channel.close(promise: nil)
            accepted.closeAll()
        }
    }

    private func serve(
        _ clients: NIOAsyncChannelInboundStream<any Channel>, _ accepted: AcceptedChannels, _ options: ShareOptions
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { [self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(Self.savingSeconds))  // if cancelled, the loop ends
                    await save()
                }
            }
            for try await client in clients {
                accepted.remove(client)
                group.addTask { [self] in await serve(client, options) }
            }
            group.cancelAll()
        }
    }

    private func serve(_ channel: any Channel, _ options: ShareOptions) async {
        let client = ProxyClient(self, channel, options)
        let isAllowed = state.withLock { $0.options?.allows(client.address) == true }
        if !isAllowed {
            reportRefusal(
                .connection, of: client.address,
                "a client from \(client.address) was refused: share-allow does not name its network")
        }
        guard isAllowed, enter(client) else { return channel.close(promise: nil) }
        do {
            let stream = try await channel.eventLoop.submit {
                try RadioChannel.Channel(wrappingChannelSynchronously: channel)
            }.get()
            try await stream.executeThenClose { inbound, outbound in
                try await channel.setOption(.autoRead, value: true).get()
                try await client.run(inbound, outbound)
            }
        } catch {
            // The client has gone, which does not affect the others.
            channel.close(promise: nil)
        }
        leave(client)
    }

    /// - Returns: false if there are too many clients.
    private func enter(_ client: ProxyClient) -> Bool {
        let refusal: String? = state.withLock { state in
            Self.makeRoom(for: client, in: &state)
            guard state.clients.count < Self.mostClients else { return "\(Self.mostClients) clients are connected" }
            guard state.clients.values.count(where: { $0.address == client.address }) < Self.mostOfAddress else {
                return "\(Self.mostOfAddress) clients are connected from there"
            }
            state.clients[ObjectIdentifier(client)] = client
            return nil
        }
        guard let refusal else {
            changes.raise()
            return true
        }
        reportRefusal(.connection, of: client.address, "a client from \(client.address) was refused: \(refusal)")
        return false
    }

    /// Where there is no room for another client, one that has asked for nothing goes: of its own address if that has too many.
    private static func makeRoom(for client: ProxyClient, in state: inout State) {
        let ofAddress = state.clients.filter { $0.value.address == client.address }
        let isOwn = ofAddress.count >= mostOfAddress
        guard isOwn || state.clients.count >= mostClients else { return }
        guard let silent = (isOwn ? ofAddress : state.clients).first(where: { $0.value.isSilent }) else { return }
        silent.value.replace()
        state.clients[silent.key] = nil
    }

    /// Reports what was refused, and how often that happened meanwhile.
    func reportRefusal(_ kind: RefusalBudget.Kind, of address: String, _ text: String) {
        guard let unnamed = state.withLock({ $0.refusals.take(kind, of: address) }) else { return }
        report(text + (unnamed > 0 ? "; \(unnamed) more like this since the last such message" : ""))
    }

    func report(_ text: String) { radio.board.report(text) }

    private func leave(_ client: ProxyClient) {
        reportDropped(
            state.withLock { state in
                state.clients[ObjectIdentifier(client)] = nil
                return Self.putAway(client, &state)
            })
    }

    /// Begins a client after the last event that it has seen: where one from its address stopped, otherwise the newest when it joined.
    ///
    /// One that is still connected may be the same client. If its connection has ended, the new one begins where it has stopped, however long its tasks
    /// still take on a busy computer. If it does not take what is sent to it, its connection may have died: the new one begins where it has stopped, too,
    /// and once that has lasted, it counts as away.
    ///
    /// - Returns: that event
    func begin(_ client: ProxyClient, joined: UInt64) async -> UInt64 {
        let others = state.withLock { state in
            state.clients.values.filter { $0 !== client && $0.address == client.address }
        }
        for other in others where await other.measure() && other.isLeaving { await other.settle() }
        let head = log.head.rawValue
        let (place, dropped): (UInt64, String?) = state.withLock { state in
            // Another has taken over its place before it had one.
            if client.isReplaced { return (joined, nil) }
            let others = others.filter { state.clients[ObjectIdentifier($0)] != nil && !$0.isReplaced }
            var dropped: String?
            for other in others where other.isLeaving { dropped = Self.putAway(other, &state) ?? dropped }
            for other in others where !other.isReplaced {
                other.meet()
                client.meet()
                if other.hasStalled { dropped = Self.putAway(other, &state) ?? dropped }
            }
            let place = min(Self.takePlace(client.address, of: others, &state) ?? joined, head)
            client.begin(at: place)
            return (place, dropped)
        }
        changes.raise()
        reportDropped(dropped)
        return place
    }

    /// Where a client stopped is for the next one of its address from now on.
    ///
    /// - Returns: the address that lost a place since there are too many, if one did
    @discardableResult
    private static func putAway(_ client: ProxyClient, _ state: inout State) -> String? {
        let place = client.lastPlace
        client.replace()
        return place.flatMap { state.away.leave(client.address, at: $0, wasAlone: client.isLeaving ? client.wasAlone : nil) }
    }

    /// The earliest place of the clients of an address that are away, or that may have lost what was sent to them.
    private static func takePlace(_ address: String, of others: [ProxyClient], _ state: inout State) -> UInt64? {
        let open = others.compactMap { other in other.openPlace.map { (client: other, place: $0) } }
        let stopped = open.min { $0.place < $1.place }
        guard let stopped, stopped.place < state.away.places[address]?.first ?? .max else { return state.away.take(address) }
        stopped.client.share()
        return stopped.place
    }

    private func reportDropped(_ address: String?) {
        guard let address else { return }
        reportRefusal(.place, of: address, "too many clients are away: one of \(address) does not get what it has missed")
    }

    /// Where a client begins that stopped at a place: there, or behind it if more packets have come since than a client gets. The log says so.
    func shortened(_ place: UInt64, _ client: ProxyClient) async -> UInt64 {
        let (head, most) = (log.head.rawValue, state.withLock { $0.options?.mostMissed ?? 0 })
        guard place < head, head - place > UInt64(most), most > 0 else { return place }
        // From the newest back, so that no more of the log is read than the packets that it gets.
        var (first, left) = (head + 1, most)
        while first > place + 1, !Task.isCancelled {
            let last = first - 1
            first = max(place + 1, first - min(first, Self.chunk))
            let range = EventSequence(rawValue: first)...EventSequence(rawValue: last)
            guard let events = try? log.events(in: range) else { return place }  // its connection ends when it reads them itself
            let packets = events.filter { client.kind(of: $0) == .packet }
            if packets.count > left {
                report("client \(client.address) missed more than \(most) packets, and gets the last \(most); the log has all")
                return packets[packets.count - left - 1].sequence.rawValue
            }
            left -= packets.count
            await Task.yield()
        }
        return place
    }
}
