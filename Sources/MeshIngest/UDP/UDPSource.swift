import EventLog
import Foundation
import MeshLedger
import Meshtastic
import NIOCore
import NIOPosix
import Synchronization

/// Where to listen for radios that send their packets to the local network.
public struct UDPOptions: Sendable, Hashable {
    /// The groups of firmware up to 2.7, and from 2.8 on.
    public var groups = ["224.0.0.69", "239.0.0.69"]
    public var port: UInt16 = 4403
    /// Names of network interfaces; nil for all that support multicast.
    public var interfaces: [String]?
    /// How often to look for new interfaces and lost datagrams.
    public var checkSeconds = 5.0

    public init() {}

    /// - Throws: `.badRequest` for an address that is no multicast group, and where nothing is named
    package func check() throws(IngestError) {
        if groups.isEmpty { throw IngestError(.badRequest, subject: "udp", reason: "name the groups to listen to, or all") }
        if interfaces?.isEmpty == true {
            throw IngestError(.badRequest, subject: "udp", reason: "name the interfaces to listen to, or leave them out for all")
        }
        for group in groups {
            let address = try? SocketAddress(ipAddress: group, port: 0)  // nil is refused
            guard let address, address.isMulticast else {
                throw IngestError(.badRequest, subject: group, reason: "this is not a multicast address; radios use 224.0.0.69")
            }
        }
    }
}

/// Listens to the multicast groups to which networked radios send every packet, on each interface, including those that appear later.
///
/// Other programs on this computer may listen to the same port; what only they asked for is ignored. Each sender's address is a separate source.
/// The network does not wait: datagrams that the system or this process had to drop become gap events with their number.
public final class UDPSource: LiveSource {
    /// The receive buffer to request from the system, which grants at most `net.core.rmem_max`.
    private static let systemBuffer: CInt = 4 << 20
    private static let readsAtOnce = 16
    /// In bytes: more than any packet that a radio sends has.
    private static let longestPacket = 512

    public let name: String
    private let options: UDPOptions
    private let filter: MulticastFilter
    private let store: LiveStore
    private let ignored = Atomic(0)

    private var board: SourceBoard { store.board }

    /// - Parameter report: receives each change of state, with one line for people
    public convenience init(
        _ options: UDPOptions = UDPOptions(), into target: IngestTarget,
        report: @escaping @Sendable (SourceStatus, String) -> Void = { _, _ in }
    ) {
        self.init(options, into: target, buffer: LiveBuffer(), report: report)
    }

    init(
        _ options: UDPOptions, into target: IngestTarget, buffer: LiveBuffer, filter: MulticastFilter? = nil,
        report: @escaping @Sendable (SourceStatus, String) -> Void = { _, _ in }
    ) {
        name = "udp:\(options.port)"
        self.options = options
        self.filter = filter ?? MulticastFilter(options)
        store = LiveStore(name: name, target: target, buffer: buffer, board: SourceBoard(name, report: report))
    }

    public var status: SourceStatus {
        var status = board.status
        status.lagSeconds = store.buffer.lagSeconds
        return status
    }

    public func run() async throws(IngestError) {
        try options.check()
        try await store.run { [self] () async throws(IngestError) in
            var backoff = Backoff()
            while !Task.isCancelled {
                board.enter(.connecting, "opening port \(options.port)")
                do {
                    try await listen()
                    if Task.isCancelled { break }
                } catch {
                    if Task.isCancelled { break }
                    let wait_s = backoff.take()
                    let reason = networkErrorText(error)
                    board.fail("UDP port \(options.port) cannot be opened (\(reason))", retrySeconds: wait_s)
                    try? await Task.sleep(for: .seconds(wait_s))  // if cancelled, the loop ends
                }
            }
        }
    }

    private func listen() async throws {
        let channel = try await DatagramBootstrap(group: RadioChannel.loops)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelOption(.socketOption(.so_rcvbuf), value: .init(Self.systemBuffer))
            .channelOption(.datagramVectorReadMessageCount, value: Self.readsAtOnce)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readsAtOnce * Int(UInt16.max) + 1)
            )
            .bind(to: SocketAddress(ipAddress: "0.0.0.0", port: Int(options.port))) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<AddressedEnvelope<ByteBuffer>, AddressedEnvelope<ByteBuffer>>(
                        wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, _ in
            // The system tells a datagram's group and interface only of a bound socket.
            try await channel.channel.setOption(.receivePacketInfo, value: true).get()
            board.connected()
            // Not cancelled with the source: it has to be open still when its losses are counted for the last time.
            let receiving = Task { [self] in
                for try await datagram in inbound where filter.passes(datagram.metadata?.packetInfo) { take(datagram) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await receiving.value }
                group.addTask { [self] in
                    defer { receiving.cancel() }
                    try await watch(MulticastGroups(options, channel.channel, filter))
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func take(_ datagram: AddressedEnvelope<ByteBuffer>) {
        let payload = Array(datagram.data.readableBytesView)
        guard !payload.isEmpty, payload.count <= Self.longestPacket else { return ignore(payload.count) }
        let origin = datagram.remoteAddress.ipAddress.map { IngestRecord.Origin.within($0) } ?? .file
        let record = IngestRecord(payload, .meshPacket, reception: .live, origin: origin)
        if store.buffer.offer(record, lossReason: "datagrams came faster than the ledger stored them") {
            board.received(1)
        } else {
            board.dropped(1)
        }
    }

    /// Another program's datagram. The log says so of the first, and each time that they have doubled.
    private func ignore(_ byteCount: Int) {
        board.skipped(byteCount)
        let count = ignored.add(1, ordering: .relaxed).newValue
        guard count.nonzeroBitCount == 1 else { return }
        board.report("datagrams of other programs are ignored: a packet has 1 to \(Self.longestPacket) bytes (\(count) so far)")
    }

    /// Joins the groups on new interfaces, and counts what the system dropped.
    private func watch(_ groups: MulticastGroups) async throws {
        var groups = groups
        var joined: Set<MulticastGroups.Interface>?
        var looked = Timestamp.now
        while true {
            try await groups.join()
            if joined != groups.joined {
                report(groups, before: Set(joined?.map(\.name) ?? []))
                joined = groups.joined
            }
            try await countLost(&groups, since: looked)
            looked = .now
            do {
                try await Task.sleep(for: .seconds(options.checkSeconds))
            } catch {
                return try await countLost(&groups, since: looked)
            }
        }
    }

    /// Says where it listens now, and which interfaces are gone or were never there.
    private func report(_ groups: MulticastGroups, before: Set<String>) {
        func list(_ names: Set<String>) -> String { names.sorted().joined(separator: ", ") }
        let absent = groups.missingNames.union(before.subtracting(groups.interfaceNames))
        let there =
            groups.isEmpty ? "" : "listening to \(options.groups.joined(separator: ", ")) on \(list(groups.interfaceNames))"
        guard absent.isEmpty, !groups.isEmpty else {
            let gone =
                absent.isEmpty ? "no network interface supports multicast" : "there is no network interface \(list(absent))"
            let text = "\(gone); it is used as soon as there is one\(there.isEmpty ? "" : "; \(there)")"
            if groups.isEmpty { return board.waits(text) }
            board.enter(.live, there)
            return board.troubled(text)
        }
        board.enter(.live, there)
    }

    private func countLost(_ groups: inout MulticastGroups, since: Timestamp) async throws {
        let lost = try await groups.newlyDropped()
        guard lost > 0 else { return }
        board.dropped(lost)
        store.buffer.lost(lost, since: since, reason: "the system dropped datagrams that were not read in time")
    }
}
