import EventLog
import Foundation
import LogKit
import MeshLedger
import Meshtastic
import Projections
import Synchronization
import TestKit
import Testing

/// Views of a ledger whose oldest events are dropped now and then, against those of one that keeps all.
struct RetainedViews {
    private static let views = Ledger.viewNames
    private static let caps = ViewCaps(
        nodes: 14, positions: 25, telemetry: 10, messages: 40, waypoints: 25, traceRoutes: 60, links: 90, gateways: 2,
        gatewayNodes: 25, mapReports: 9, sensors: 20, nodeHistory: 5)

    private func digests(_ ledger: Ledger) throws -> [String] { try Self.views.map { try ledger.maintenance.digest(of: $0) } }

    private func options(_ caps: ViewCaps = RetainedViews.caps) -> LedgerOptions {
        // One clock for both ledgers: the checksums of their records are part of what is compared.
        LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: 1_790_000_000) }), caps: caps)
    }

    /// Of more nodes than a view keeps.
    private let traffic = RandomPackets(ids: 1..<900, waypoints: 1...40, secondsApart: 5)

    @Test(.timeLimit(.minutes(40)), arguments: 1...6 as ClosedRange<UInt64>)
    func `cut at any time, views that follow and views that are built again are those of the whole log`(seed: UInt64) async throws
    {
        var random = SeededGenerator(seed: seed &* 31)
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path, options: options())
        let whole = try await Ledger.temporary(options: options())
        let all = traffic.packets(5_000, seed: seed)
        var next = 0
        while next < all.count {
            let count = min(all.count - next, Int.random(in: 200...900, using: &random))
            for target in [ledger, whole] {
                let source = try await target.log.source(named: "test")
                _ = try await target.log.append(all[next..<next + count].map { $0.event(source) })
            }
            next += count
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let (lowest, highest) = (ledger.log.first.rawValue / 256 + 1, ledger.log.head.rawValue / 256)
                guard lowest <= highest, next < all.count else { continue }
                try await ledger.retention.retain(
                    through: EventSequence(256 * UInt64.random(in: lowest...highest, using: &random)))
                // What stands in its place in the other ledger is no packet either.
                _ = try await whole.log.append(NewEvent([], encoding: .note, source: .log))
            case 2:
                try await ledger.close()
                ledger = try await Ledger.open(at: path, options: options())
            default: try await ledger.maintenance.rebuild(Array(Self.views.shuffled(using: &random).prefix(2)))
            }
        }
        try await whole.catchUp()
        let expected = try digests(whole)
        try await ledger.catchUp()
        try expect(ledger, expected, "seed \(seed), incremental")
        try await ledger.maintenance.rebuild()
        try expect(ledger, expected, "seed \(seed), rebuilt")
        try await ledger.close()
        try FileManager.default.removeItem(atPath: path + "/views")
        ledger = try await Ledger.open(at: path, options: options())
        try await ledger.catchUp()
        try expect(ledger, expected, "seed \(seed), from nothing")
        #expect(try ledger.log.verify().isIntact)
        #expect(try Self.views.allSatisfy { try ledger.maintenance.rowOrigins(of: $0).isEmpty })
        try await ledger.close()
        try await whole.close()
    }

    private func expect(_ ledger: Ledger, _ expected: [String], _ note: String) throws {
        let found = try digests(ledger)
        #expect(found == expected, "\(note): \(found) instead of \(expected)")
    }

    @Test func `rows that an older recipe made are marked, and those of kept events are rebuilt`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path, options: options())
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(3_000, seed: 4).map { $0.event(source) })
        let retention = try await ledger.retention.retain(through: EventSequence(2_048))
        #expect(retention.baselines.map(\.view).sorted() == Self.views.sorted())
        #expect(try await ledger.maintenance.views().allSatisfy { $0.origins.isEmpty && $0.lost == 0 })
        try await ledger.close()
        var more = Self.caps
        more.positions = 60
        ledger = try await Ledger.open(at: path, options: options(more))
        try await ledger.catchUp()
        let origins = try ledger.maintenance.rowOrigins(of: "positions")
        let made = try #require(retention.baselines.first { $0.view == "positions" }).recipe
        #expect(origins.origins.map(\.through) == [2_048] && origins.origins.map(\.recipe) == [made])
        #expect(origins.olderRecipe(of: 2_048) == made && origins.olderRecipe(of: 2_049) == nil)
        #expect(try ledger.maintenance.rowOrigins(of: "messages").isEmpty)
        // A second cut builds on the first baseline, and the mark goes on.
        try await ledger.retention.retain(through: EventSequence(2_560))
        try await ledger.maintenance.rebuild()
        #expect(try ledger.maintenance.rowOrigins(of: "positions").origins == origins.origins)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/baselines") == ["2560"])
        try await ledger.close()
        // Back to the first recipe: what the second one made is marked now.
        ledger = try await Ledger.open(at: path, options: options())
        try await ledger.catchUp()
        let back = try ledger.maintenance.rowOrigins(of: "positions")
        #expect(back.origins.map(\.through) == [2_048, 2_560])
        try await ledger.close()
    }

    @Test func `rows of dropped events beyond a cap that was lowered go, too`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path, options: options())
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(3_000, seed: 9).map { $0.event(source) })
        try await ledger.retention.retain(through: EventSequence(2_816))
        try await ledger.close()
        let less = ViewCaps(nodes: 6, positions: 3, telemetry: 3, messages: 5)
        ledger = try await Ledger.open(at: path, options: options(less))
        try await ledger.catchUp()
        #expect(try ledger.nodes().count == 6)
        var positions: [UInt32: Int] = [:]
        try ledger.forEachPosition(of: nil) { positions[$0.node, default: 0] += 1 }
        #expect(positions.values.max() == 3)
        let threads = Dictionary(grouping: try ledger.messages(), by: \.thread)
        #expect(threads.values.map(\.count).max() == 5)
        try await ledger.close()
    }

    @Test(arguments: ["missing", "changed"])
    func `a baseline that is missing or changed is not used, and the view says what it lacks`(kind: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path, options: options())
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(2_000, seed: 5).map { $0.event(source) })
        try await ledger.retention.retain(through: EventSequence(1_024))
        try await ledger.close()
        let file = path + "/baselines/1024/positions/data.mdb"
        if kind == "missing" {
            try FileManager.default.removeItem(atPath: file)
        } else {
            var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(fileURLWithPath: file))
        }
        try FileManager.default.removeItem(atPath: path + "/views")
        ledger = try await Ledger.open(at: path, options: options())
        try await ledger.catchUp()
        let views = try await ledger.maintenance.views()
        #expect(views.filter { $0.lost == 1_024 }.map(\.name) == ["positions"])
        #expect(views.allSatisfy { $0.checkpoint == 2_001 })
        var sequences: [UInt64] = []
        try ledger.forEachPosition(of: nil) { sequences.append($0.sequence) }
        #expect(!sequences.isEmpty && sequences.allSatisfy { $0 > 1_024 })
        #expect(try ledger.messages().contains { $0.sequence <= 1_024 })
        try await ledger.close()
    }

    @Test func `D3: beyond a cap the view is capped and the log is whole`() async throws {
        // About a thousand positions of twenty nodes.
        let ledger = try await ledger(of: traffic.packets(9_000, seed: 6), options: options())
        #expect(try await ledger.maintenance.views().first { $0.name == "positions" }?.rows["positions"] == 20 * 25)
        #expect(ledger.log.first == EventSequence(1) && ledger.log.head == EventSequence(9_000))
        #expect(try ledger.log.events(in: EventSequence(1)...EventSequence(9_000)).count == 9_000)
        #expect(try ledger.retention.policy().isOff)
        #expect(try ledger.retention.plan(RetentionPolicy()) == nil)
        try await ledger.close()
    }

    @Test(.timeLimit(.minutes(40))) func `a policy is applied by whatever writes to the ledger`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var options = LedgerOptions()
        options.retentionPeriod = .milliseconds(30)
        let ledger = try await Ledger.create(at: path, options: options)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(8_000, seed: 7).map { $0.event(source) })
        let size = try ledger.log.size()
        // Without a policy, looking for one leaves no trace that could be waited for.
        try await Task.sleep(for: .milliseconds(100))
        #expect(ledger.log.first == EventSequence(1))
        try ledger.retention.setPolicy(RetentionPolicy(largestBytes: size / 2))
        try await eventually { ledger.log.first > EventSequence(1) }
        try await eventually { try ledger.log.size() <= size / 2 }
        try ledger.retention.setPolicy(RetentionPolicy())
        try await ledger.close()
        #expect(!FileManager.default.fileExists(atPath: path + "/retention"))
    }

    @Test(.timeLimit(.minutes(20))) func `a policy that is changed is applied before the hour is over`() async throws {
        var options = LedgerOptions()
        options.policyLookInterval = .milliseconds(50)
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(8_000, seed: 7).map { $0.event(source) })
        let size = try ledger.log.size()
        // The first may be applied as what was there when the ledger was opened; each later one is a change.
        for part in [2, 4, 8] {
            let first = ledger.log.first
            try ledger.retention.setPolicy(RetentionPolicy(largestBytes: size / part))
            try await eventually { ledger.log.first > first }
        }
        try await ledger.close()
    }

    private final class CutWork: Sendable {
        let isOver = Mutex(false)
        let cuts = Mutex(0)
    }

    @Test(.timeLimit(.minutes(30)))
    func `18.2: a policy beside cuts by hand and appends loses no row, also when all is built again`()
        async throws
    {
        let folder = try TemporaryFolder()
        var options = options()
        options.retentionPeriod = .milliseconds(5)
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger", options: options)
        let whole = try await Ledger.temporary(options: self.options())
        let all = traffic.packets(6_000, seed: 12)
        let source = try await ledger.log.source(named: "test")
        let other = try await whole.log.source(named: "test")
        for start in stride(from: 0, to: all.count, by: 500) {
            _ = try await whole.log.append(all[start..<start + 500].map { $0.event(other) })
        }
        try await whole.catchUp()
        try ledger.retention.setPolicy(RetentionPolicy(largestBytes: 300_000))
        let work = CutWork()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { work.isOver.withLock { $0 = true } }
                for start in stride(from: 0, to: all.count, by: 250) {
                    _ = try await ledger.log.append(all[start..<start + 250].map { $0.event(source) })
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    while !work.isOver.withLock({ $0 }) {
                        let last = ledger.log.head.rawValue / 256 * 256
                        await Task.yield()
                        guard last >= ledger.log.first.rawValue else { continue }
                        // Where the policy has dropped more meanwhile, this does nothing.
                        try await ledger.retention.retain(through: EventSequence(last))
                        work.cuts.withLock { $0 += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(work.cuts.withLock { $0 } > 1)
        func rows(_ ledger: Ledger) async throws -> [String] {
            try await ledger.maintenance.views().map { "\($0.name) \($0.rows.sorted { $0.key < $1.key })" }
        }
        let expected = try await rows(whole)
        try await ledger.catchUp()
        #expect(try await rows(ledger) == expected)
        #expect(try Ledger.Maintenance.problemsOfBaselines(ledger.log).isEmpty)
        try await ledger.maintenance.rebuild()
        #expect(try await rows(ledger) == expected)
        // The policy may be making a last cut, beside the baselines in force.
        try ledger.retention.setPolicy(RetentionPolicy())
        func left() throws -> [String] {
            let inForce = String(ledger.log.first.rawValue - 1)
            return try FileManager.default.contentsOfDirectory(atPath: ledger.path + "/baselines").filter { $0 != inForce }
        }
        try await eventually { try left().isEmpty }
        try await ledger.close()
        try await whole.close()
    }

    @Test(arguments: [true, false]) func `18.8: a policy drops nothing young while the clock is ahead`(isMeasured: Bool)
        async throws
    {
        let folder = try TemporaryFolder()
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        var options = LedgerOptions()
        options.retentionPeriod = .milliseconds(20)
        let looks = Mutex(0)
        options.log.clock = {
            looks.withLock { $0 += 1 }
            return clock.read()
        }
        /// Each time that the policy is applied begins with a look at the clock or two.
        func waitForPolicy() async throws {
            let before = looks.withLock { $0 }
            try await eventually { looks.withLock { $0 } >= before + 20 }
        }
        if isMeasured { options.log.steadyClock = { 1_000_000 } }
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger", options: options)
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(2_000, seed: 9).map { $0.event(source) })
        try ledger.retention.setPolicy(RetentionPolicy(longestSeconds: 90 * 86_400))
        clock.advance(seconds: 200 * 86_400)
        _ = try await ledger.log.append(traffic.packets(20, seed: 10).map { $0.event(source) })
        #expect(
            try ledger.retention.plan(RetentionPolicy(longestSeconds: 90 * 86_400), now: clock.read(), trustsClock: true) != nil)
        try await waitForPolicy()
        #expect(ledger.log.first == EventSequence(1))
        #expect(try ledger.log.clockJumps().count == (isMeasured ? 1 : 0))
        clock.advance(seconds: -200 * 86_400)
        _ = try await ledger.log.append(traffic.packets(20, seed: 11).map { $0.event(source) })
        try await waitForPolicy()
        #expect(ledger.log.first == EventSequence(1))
        // Of the events that are asked for by their time, those that came while the clock was ahead are elsewhere.
        let ahead = Timestamp(seconds: 1_780_000_000).adding(seconds: 100 * 86_400)
        let late = try ledger.log.runs(arrivedFrom: ahead, before: nil)
        #expect(late.count == 1 && late[0].lowerBound > EventSequence(2_000) && late[0].upperBound <= EventSequence(2_021))
        #expect(try ledger.log.runs(arrivedFrom: nil, before: ahead).count == 2)
        try await ledger.close()
    }

    @Test func `D9: what arrived before a time goes, whatever the size`() async throws {
        let clock = ManualClock(Timestamp(seconds: 1_780_000_000))
        var options = LedgerOptions()
        options.log.clock = clock.read
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "test")
        let all = traffic.packets(3_000, seed: 8)
        for start in stride(from: 0, to: all.count, by: 500) {
            _ = try await ledger.log.append(all[start..<start + 500].map { $0.event(source) })
            clock.advance(seconds: 86_400)
        }
        // Six parts, the first six days ago; parts of 500 events end between multiples of 256.
        let plan = try #require(try ledger.retention.plan(RetentionPolicy(longestSeconds: 4 * 86_400), now: clock.read()))
        #expect(plan.last == EventSequence(768) && plan.count == 768)
        #expect(try ledger.retention.plan(RetentionPolicy(longestSeconds: 7 * 86_400), now: clock.read()) == nil)
        try await ledger.retention.retain(through: plan.last)
        #expect(try ledger.retention.plan(RetentionPolicy(longestSeconds: 4 * 86_400), now: clock.read()) == nil)
        try await ledger.close()
    }
}
