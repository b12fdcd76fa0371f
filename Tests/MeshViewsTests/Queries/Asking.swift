import EventLog
import Foundation
import LMDB
import Logging
import MeshSimulator
import Meshtastic
import Projections
import ProtobufWire
import Synchronization
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// What a ledger can be asked, on a simulated mesh.
@Suite(.timeLimit(.minutes(40))) struct Asking {
    static func ledger(events: Int = 1_500, _ options: LedgerOptions? = nil) async throws -> Ledger {
        let ledger = try await Ledger.temporary(options: options ?? LedgerOptions(log: EventLogOptions(isDurable: false)))
        try await append(events, seed: 5, to: ledger)
        try await ledger.catchUp()
        return ledger
    }

    static func append(_ count: Int, seed: UInt64, to ledger: Ledger) async throws {
        let source = try await ledger.log.source(named: "simulated")
        var simulation = MeshSimulation(SimulationOptions(seed: seed, nodes: 30))
        var batch = EventBatch()
        for _ in 0..<count {
            batch.append(NewEvent(simulation.next().envelope, encoding: .serviceEnvelope, source: source))
        }
        try await ledger.log.append(batch)
    }

    static func text(_ text: String, id: UInt32, replyTo: UInt32 = 0, from: UInt32 = 0x1000_0001, to ledger: Ledger) async throws
    {
        let source = try await ledger.log.source(named: "radio")
        var packet = MeshPacketBuilder(from: from, id: id, payload: Array(text.utf8))
        packet.replyID = replyTo
        _ = try await ledger.log.append(packet.event(source))
    }

    private static func node(_ number: UInt32) -> FetchDescriptor<NodeRow> {
        FetchDescriptor(predicate: #Predicate { $0.number == number })
    }

    private static let orders: [[SortDescriptor<PositionRow>]] = [
        [],
        [
            SortDescriptor(\.node, order: .reverse), SortDescriptor(\.time, order: .reverse),
            SortDescriptor(\.sequence, order: .reverse),
        ],
        [SortDescriptor(\.latitudeE7), SortDescriptor(\.sequence)],
    ]

    @Test func `K23: identifiers are those of the rows, and find them`() async throws {
        let ledger = try await Self.ledger()
        for order in Self.orders {
            var descriptor = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.latitudeE7 > 0 }, sortBy: order)
            descriptor.fetchOffset = 3
            descriptor.fetchLimit = 40
            let (rows, identifiers) = (try ledger.fetch(descriptor), try ledger.fetchIdentifiers(descriptor))
            #expect(!rows.isEmpty)
            #expect(try identifiers.map { try ledger.row($0) } == rows)
            let text = try JSONEncoder().encode(identifiers)
            #expect(try JSONDecoder().decode([RowIdentifier<PositionRow>].self, from: text) == identifiers)
        }
        #expect(try ledger.row(RowIdentifier<PositionRow>(key: [1, 2])) == nil)
        #expect(try ledger.row(RowIdentifier<PositionRow>(key: [])) == nil)
        try await ledger.close()
    }

    @Test func `G31: the first row, and each value once`() async throws {
        let ledger = try await Self.ledger()
        let all = try ledger.fetch(FetchDescriptor<PositionRow>())
        let late = FetchDescriptor<PositionRow>(sortBy: [SortDescriptor(\.time, order: .reverse), SortDescriptor(\.sequence)])
        #expect(try ledger.fetchFirst(late)?.time == all.map(\.time).max())
        #expect(try ledger.fetchFirst(FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 7 })) == nil)
        var seen: Set<UInt32> = []
        #expect(try ledger.fetchDistinct(\PositionRow.node) == all.map(\.node).filter { seen.insert($0).inserted })
        try await ledger.close()
    }

    @Test func `K24 W7: an enumeration gives the rows of a fetch in batches of any size`() async throws {
        let ledger = try await Self.ledger()
        for order in Self.orders {
            for (batch, limit, offset) in [(1, nil, 0), (7, 20, 2), (5_000, nil, 3), (3, 3, 0)] as [(Int, Int?, Int)] {
                var descriptor = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.latitudeE7 > 0 }, sortBy: order)
                (descriptor.fetchLimit, descriptor.fetchOffset) = (limit, offset)
                var rows: [PositionRow] = []
                try await ledger.enumerate(descriptor, batchSize: batch) { rows.append($0) }
                #expect(try rows == ledger.fetch(descriptor))
                var streamed: [PositionRow] = []
                for try await row in ledger.stream(descriptor, batchSize: batch) { streamed.append(row) }
                #expect(streamed == rows)
            }
        }
        try await ledger.close()
    }

    @Test func `W7: rows that stay are enumerated once while others come and go, and no transaction is open`() async throws {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.caps.positions = 10
        let ledger = try await Self.ledger(options)
        let before = Set(try ledger.fetchIdentifiers(FetchDescriptor<NodeRow>()))
        var (seen, round): ([RowIdentifier<NodeRow>], UInt64) = ([], 10)
        try await ledger.enumerate(FetchDescriptor<NodeRow>(), batchSize: 4, allowsMutations: true) { row in
            seen.append(try #require(try ledger.fetchIdentifiers(Self.node(row.number)).first))
            guard seen.count.isMultiple(of: 8) else { return }
            round += 1
            try await Self.append(200, seed: round, to: ledger)
            if round == 12 { try await ledger.maintenance.rebuild(["nodes"]) }
            try await ledger.catchUp()
        }
        #expect(seen.count == Set(seen).count && before.isSubset(of: seen) && round > 12)
        // Nothing was read long before it was given: nodes that came meanwhile are among them.
        #expect(seen.count > before.count)
        try await ledger.close()
    }

    @Test func `W7: a view's file does not grow because a reader goes through its rows slowly`() async throws {
        func size(whileRead: Bool) async throws -> Int {
            let ledger = try await Self.ledger()
            var rounds: UInt64 = 0
            func append() async throws {
                rounds += 1
                try await Self.append(50, seed: 10 + rounds, to: ledger)
                try await ledger.catchUp()
            }
            let nodes = FetchDescriptor<NodeRow>()
            if whileRead {
                try await ledger.enumerate(nodes, batchSize: 4, allowsMutations: true) { _ in
                    if rounds < 60 { try await append() }
                }
            }
            while rounds < 60 { try await append() }
            let status = try #require(try await ledger.maintenance.views().first { $0.name == NodeRow.view })
            try await ledger.close()
            return status.size
        }
        let (slow, none) = (try await size(whileRead: true), try await size(whileRead: false))
        #expect(slow <= none + none / 4, "\(slow) and \(none) bytes")
    }

    @Test func `W8: appending while rows are enumerated throws unless it is allowed`() async throws {
        let ledger = try await Self.ledger()
        let source = try await ledger.log.source(named: "radio")
        let event = MeshPacketBuilder(id: 9, payload: Array("x".utf8)).event(source)
        let head = ledger.log.head
        let task = try await ledger.enumerateOnce { () -> Task<EventSequence, any Error> in
            let one = await #expect(throws: EventLogError.self) { try await ledger.log.append(event) }
            #expect(one?.code == .mutationDuringEnumeration)
            let many = await #expect(throws: EventLogError.self) { try await ledger.log.append([event]) }
            #expect(many?.code == .mutationDuringEnumeration)
            #expect(throws: EventLogError.self) { try ledger.log.submit([event]) }
            #expect(LedgerError(try #require(many)).code == .mutationDuringEnumeration)
            await #expect(throws: EventLogError.self) { try await Task { try await ledger.log.append(event) }.value }
            try await ledger.flush()
            // A task that outlives the enumeration may append again.
            return Task {
                while true {
                    do throws(EventLogError) {
                        return try await ledger.log.append(event)
                    } catch {
                        guard error.code == .mutationDuringEnumeration else { throw error }
                    }
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        }
        #expect(try await task.value.rawValue == head.rawValue + 1)
        try await ledger.enumerate(FetchDescriptor<NodeRow>(), allowsMutations: true) { _ in try await ledger.log.append(event) }
        #expect(ledger.log.head.rawValue > head.rawValue + 1)
        try await ledger.close()
    }

    @Test func `W13: the first row comes before the last is read`() async throws {
        let ledger = try await Self.ledger(events: 4_000)
        var iterator = ledger.stream(FetchDescriptor<PositionRow>()).makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        // A row at the end that cannot be read is met only by those who go there.
        let store = try ledger.store(of: "positions")
        let last = [UInt8](repeating: 255, count: 16)
        try store.environment.write { (transaction) throws(StorageError) in
            try transaction.put(store.table("positions"), key: last.rawSpan, value: [255].rawSpan)
        }
        var stream = ledger.stream(FetchDescriptor<PositionRow>()).makeAsyncIterator()
        #expect(try await stream.next() != nil)
        #expect(throws: LedgerError.self) { try ledger.fetch(FetchDescriptor<PositionRow>()) }
        await #expect(throws: LedgerError.self) { while try await stream.next() != nil {} }
        try await ledger.close()
    }

    @Test func `K19: what is not committed yet is seen by the latest read only`() async throws {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.flushClock = StandingClock()
        let ledger = try await Self.ledger(options)
        let all = FetchDescriptor<PositionRow>()
        let before = try ledger.fetchCount(all)
        let source = try await ledger.log.source(named: "radio")
        var packet = MeshPacketBuilder(from: 77, id: 4_711)
        (packet.port, packet.payload) = (Port.position, MeshPacketBuilder.position(10, 10))
        _ = try await ledger.log.append(packet.event(source))
        #expect(try ledger.fetchCount(all) == before)
        #expect(try await ledger.fetchCount(all, .committed) == before)
        #expect(try await ledger.fetchCount(all, .latest) == before + 1)
        #expect(try await ledger.fetch(FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == 77 }), .latest).count == 1)
        try await ledger.close()
    }

    @Test func `S11: a read that shows nothing instead of an error logs what was being done`() async throws {
        let lines = LogLines()
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.logger = Logger(label: "test") { _ in lines }
        let ledger = try await Self.ledger(options)
        let fine = FetchDescriptor<NodeRow>()
        #expect(try ledger.fetchOrEmpty("the list of nodes", fine) == ledger.fetch(fine))
        #expect(lines.all.isEmpty)
        let store = try ledger.store(of: "nodes")
        let key: [UInt8] = [255, 255, 255, 255]
        try store.environment.write { (transaction) throws(StorageError) in
            try transaction.put(store.table("nodes"), key: key.rawSpan, value: [255].rawSpan)
        }
        #expect(ledger.fetchOrEmpty("the list of nodes", fine).isEmpty)
        let named = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.packets + 1 > 0 })
        #expect(ledger.fetchCountOrZero("the number of names", named) == 0)
        try #require(lines.all.count == 2)
        #expect(lines.all[0].hasPrefix("the list of nodes: a row of nodes") && lines.all[1].hasPrefix("the number of names: "))
        try await ledger.close()
    }

    @Test func `K25: groups and hours sum to the flat result`() async throws {
        let ledger = try await Self.ledger()
        let some = FetchDescriptor<PositionRow>(predicate: #Predicate { $0.latitudeE7 > 0 })
        let rows = try ledger.fetch(some)
        let groups = try ledger.grouped(
            some, by: \.node, [.count, .min(\.altitude), .max(\.latitude), .mean(\.snr), .sum(\.time)])
        #expect(Set(groups.map(\.key)) == Set(rows.map(\.node)) && groups.map(\.count).reduce(0, +) == rows.count)
        for group in groups {
            let members = rows.filter { $0.node == group.key }
            #expect(group.count == members.count && group[0] == Double(members.count))
            #expect(group[1] == members.compactMap(\.altitude).min().map(Double.init))
            #expect(group[2] == members.map(\.latitude).max())
            let mean = members.map { Double($0.snr) }.reduce(0, +) / Double(members.count)
            #expect(abs(try #require(group[3]) - mean) < 1e-9)
            #expect(group[4] == Double(members.map { UInt64($0.time) }.reduce(0, +)))
        }
        let buckets = try ledger.bucketed(some, by: .minutes(10), [.count, .mean(\.snr)], includesEmpty: true)
        #expect(buckets.map(\.count).reduce(0, +) == rows.count)
        for (bucket, next) in zip(buckets, buckets.dropFirst()) { #expect(bucket.end == next.start && bucket.start % 600 == 0) }
        for bucket in buckets {
            let members = rows.filter { Int64($0.time) >= bucket.start && Int64($0.time) < bucket.end }
            #expect(bucket.count == members.count && (bucket.values[1] == nil) == members.isEmpty)
        }
        #expect(try ledger.bucketed(some, by: .minutes(10), [.count, .mean(\.snr)]) == buckets.filter { $0.count > 0 })
        let refused = #expect(throws: LedgerError.self) { try ledger.bucketed(FetchDescriptor<NodeRow>(), by: .hours(1)) }
        #expect(refused?.code == .query)
        #expect(try ledger.bucketed(FetchDescriptor<NodeRow>(), by: .hours(1), time: \.lastHeard).isEmpty == false)
        try await ledger.close()
    }

    @Test func `K21 G30: a snapshot never sees what is written meanwhile, nor do relations in it`() async throws {
        let ledger = try await Self.ledger()
        let all = FetchDescriptor<PositionRow>()
        for round in 0..<4 as Range<UInt64> {
            let before = try ledger.fetchCount(all)
            let gate = DispatchSemaphore(value: 0)
            let done = DispatchSemaphore(value: 0)
            let writer = Task.detached {
                await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                    Thread.detachNewThread {
                        gate.wait()
                        waiter.resume()
                    }
                }
                defer { done.signal() }
                try await Self.append(300, seed: 20 + round, to: ledger)
                try await ledger.catchUp()
            }
            try await onThread {
                try ledger.snapshot(of: ["positions", "nodes"], timeLimit: .seconds(3_600)) { snapshot in
                    let first = try snapshot.fetch(all)
                    let reporters = try snapshot.related(first, PositionRow.reporter)
                    let checkpoint = try snapshot.checkpoint(of: "positions")
                    #expect(try snapshot.checkpoint(of: "nodes") == checkpoint)
                    gate.signal()
                    done.wait()
                    #expect(try ledger.fetchCount(all) > before)
                    #expect(try snapshot.fetch(all) == first && snapshot.fetchCount(all) == first.count && first.count == before)
                    #expect(try snapshot.related(first, PositionRow.reporter) == reporters)
                    #expect(try snapshot.fetchIdentifiers(all).count == first.count)
                    #expect(try snapshot.grouped(all, by: \.node).map(\.count).reduce(0, +) == first.count)
                    #expect(try snapshot.checkpoint(of: "positions") == checkpoint)
                }
            }
            try await writer.value
        }
        try await ledger.close()
    }

    @Test func `G30: a snapshot ends with its closure and after its time`() async throws {
        let ledger = try await Self.ledger()
        let all = FetchDescriptor<PositionRow>()
        let kept = try ledger.snapshot { snapshot in
            _ = try snapshot.fetchCount(all)
            return snapshot
        }
        let ended = #expect(throws: LedgerError.self) { try kept.fetchCount(all) }
        #expect(ended?.code == .snapshotExpired)
        let late = #expect(throws: LedgerError.self) { try ledger.snapshot(timeLimit: .zero) { try $0.fetchCount(all) } }
        #expect(late?.code == .snapshotExpired)
        try await ledger.close()
    }
}

extension Ledger {
    /// What the body gives for the first node, and nothing for the others.
    fileprivate func enumerateOnce<Result>(_ body: () async throws -> Result) async throws -> Result {
        var result: Result?
        try await enumerate(FetchDescriptor<NodeRow>(), batchSize: 1) { _ in if result == nil { result = try await body() } }
        return try #require(result)
    }
}

/// A clock on which no time passes.
private struct StandingClock: LedgerClock {
    var now: Duration { .zero }
    func sleep(until deadline: Duration) async throws { try await Task.sleep(for: .seconds(100_000)) }
}

/// The lines of a log.
private final class LogLines: LogHandler {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.MetadataValue? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) { lines.withLock { $0.append("\(event.message)") } }
}
