import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Synchronization
import TestKit
import Testing

/// What a ledger as of an event does at the edges of its history.
struct HistoricalQuestions {
    private typealias Packet = MeshPacketBuilder

    private static let start: UInt32 = 1_780_000_000

    private func options(_ distance: UInt64 = 1 << 18) -> LedgerOptions {
        var options = LedgerOptions()
        options.pastDistance = distance
        return options
    }

    private func append(_ count: Int, from node: UInt32, to ledger: Ledger, first: UInt32 = 1) async throws {
        let source = try await ledger.log.source(named: "mesh")
        _ = try await ledger.log.append(
            (0..<UInt32(count)).map { index in
                Packet(
                    from: node, id: first + index, rxTime: Self.start + index, port: Port.position,
                    payload: Packet.position(Int32(1_000 + index), 7)
                ).event(source)
            })
        try await ledger.catchUp()
    }

    @Test func `D22: what was erased is in no answer of the past any more`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger", options: options(100))
        try await append(300, from: 1_001, to: ledger)
        try await append(300, from: 1_002, to: ledger, first: 1_000)
        let then = try ledger.asOf(.sequence(500))
        #expect(try then.nodes().map(\.number).sorted() == [1_001, 1_002])
        let kept = folder.path + "/mesh.ledger/views/nodes/past"
        #expect(try !FileManager.default.contentsOfDirectory(atPath: kept).isEmpty)
        _ = try await ledger.erasure.erase(.node(1_001), reason: "its sender asked for it")
        for past in [then, try ledger.asOf(.sequence(500))] {
            #expect(try past.nodes().map(\.number) == [1_002])
            #expect(try past.positions(of: 1_001).isEmpty)
            #expect(try past.sequences(of: EventSelection(node: 1_001)).isEmpty)
            #expect(try past.positions(of: 1_002).count == 200)
            try await past.close()
        }
        // As a reader leaves it that is killed just after it has made a copy of a state before the erasure.
        let left = kept + "/v7-1-0-500"
        try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
        try Data("erased".utf8).write(to: URL(fileURLWithPath: left))
        try await ledger.close()
        try await Ledger.open(at: folder.path + "/mesh.ledger", options: options(100)).close()
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test func `D22: earlier states that are kept give the same answers, and go with the recipe`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let ledger = try await Ledger.create(at: path, options: options(128))
        try await append(700, from: 1_001, to: ledger)
        func rows(_ sequence: UInt64) async throws -> [NodeRow] {
            let then = try ledger.asOf(.sequence(sequence))
            let rows = try then.nodes()
            try await then.close()
            return rows
        }
        func kept() -> Set<String> {
            Set((try? FileManager.default.contentsOfDirectory(atPath: path + "/views/nodes/past")) ?? [])
        }
        // Who folds keeps some, so that the first question need not fold all.
        #expect(kept().map { $0.split(separator: "-").last } == ["512"])
        #expect(try await rows(600).map(\.receptions) == [600])
        #expect(Set(kept().compactMap { $0.split(separator: "-").last }) == ["512"])
        try FileManager.default.removeItem(atPath: path + "/views/nodes/past")
        let before = try await rows(650)
        #expect(before.map(\.receptions) == [650])
        let names = kept()
        #expect(names.count == 5)
        // The second answer begins with the last copy: without the others it is the same.
        for name in names where !name.hasSuffix("-640") {
            try FileManager.default.removeItem(atPath: path + "/views/nodes/past/" + name)
        }
        #expect(try await rows(650) == before)
        #expect(kept().count == 1)
        // A damaged copy is no answer.
        for name in kept() { try Data("no view".utf8).write(to: URL(fileURLWithPath: path + "/views/nodes/past/" + name)) }
        #expect(try await rows(650) == before)
        try await ledger.keys.set(Keyring.standard.adding(try ChannelKey(name: "Harbour", psk: (0..<32).map { UInt8($0) })))
        try await ledger.catchUp()
        #expect(try await rows(650) == before)
        #expect(kept().isDisjoint(with: names))
        try await ledger.close()
    }

    @Test func `D22: before the first event that is kept there is no answer, and it says so`() async throws {
        let ledger = try await Ledger.temporary()
        try await append(900, from: 1_001, to: ledger)
        try await ledger.retention.retain(through: EventSequence(512))
        try await ledger.catchUp()
        for moment in [PointInTime.sequence(511), .sequence(0), .time(Timestamp(seconds: 1))] {
            let error = #expect(throws: LedgerError.self) { try ledger.asOf(moment) }
            #expect(error?.code == .beyondRetention)
            #expect(error?.description.contains("after event 512") ?? false)
        }
        for count in [UInt64(512), 700] {
            let then = try ledger.asOf(.sequence(count))
            #expect(try then.nodes().map(\.receptions) == [count])
            #expect(try then.positions(of: 1_001).count == Int(count))
            try await then.close()
        }
        let error = #expect(throws: LedgerError.self) { try ledger.asOf(.sequence(10_000)) }
        #expect(error?.code == .missing)
        try await ledger.close()
    }

    @Test func `D22: the time of an arrival means the last event that had arrived by then`() async throws {
        let clock = ManualTime(Timestamp(seconds: 1_790_000_000))
        var options = options()
        options.log.clock = { clock.now }
        let ledger = try await Ledger.temporary(options: options)
        try await append(10, from: 1_001, to: ledger)
        clock.now = Timestamp(seconds: 1_790_000_100)
        try await append(10, from: 1_002, to: ledger, first: 500)
        for (time, count) in [(1_789_999_999, 0), (1_790_000_000, 10), (1_790_000_099, 10), (1_790_000_100, 20)] {
            let then = try ledger.asOf(.arrival(Timestamp(seconds: Int64(time))))
            #expect(then.asOfSequence == EventSequence(UInt64(count)))
            #expect(try then.nodes().map(\.receptions).reduce(0, +) == UInt64(count))
            #expect(then.asOfTime == Timestamp(seconds: Int64(time)))
            try await then.close()
        }
        try await ledger.close()
    }
}

/// A clock that a test sets.
private final class ManualTime: Sendable {
    private let time: Mutex<Timestamp>

    init(_ time: Timestamp) { self.time = Mutex(time) }

    var now: Timestamp {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
