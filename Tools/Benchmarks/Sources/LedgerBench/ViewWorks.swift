import Foundation
import MeshLedger
import Synchronization

/// Gives the ledger the keys that the C program has: channel `Harbour` besides the presets.
private func giveKeys(_ folder: String) async throws {
    guard !FileManager.default.fileExists(atPath: folder + "/keys.json") else { return }
    let ledger = try await Ledger.open(at: folder, options: LedgerOptions(log: optionsWithoutSealing()))
    try await ledger.keys.set(Keyring.standard.adding(try ChannelKey(name: "Harbour", psk: (0..<32).map { UInt8($0) })))
    try await ledger.close()
}

/// The views that the C program makes as well.
private let baselineViews = ["nodes", "positions", "telemetry", "messages"]

/// The whole log folded into all views, or only into those that C makes as well, on both cores, from nothing to the last commit.
///
/// - Parameters:
///   - keepsIndexes: whether indexes and searched texts are also made, which C does not make.
///   - customViews: views besides the ledger's.
///   - replayed: called before the rows are counted, since counting takes memory.
func replay(
    _ folder: String, onlyBaselineViews: Bool = false, keepsIndexes: Bool = true, customViews: [any LedgerView.Type] = [],
    replayed: () -> Void = {}
) async throws {
    try await giveKeys(folder)
    var options = LedgerOptions(log: optionsWithoutSealing())
    options.keepsIndexes = keepsIndexes
    options.views = customViews
    if onlyBaselineViews {
        // The other views must be complete, so that nothing is left to do for them.
        let ledger = try await Ledger.open(at: folder, options: options)
        try await ledger.catchUp()
        try await ledger.close()
    }
    for name in onlyBaselineViews ? baselineViews : [""] {
        try? FileManager.default.removeItem(atPath: "\(folder)/views/\(name)")
    }
    let started = secondsNow()
    let ledger = try await Ledger.open(at: folder, options: options)
    try await ledger.catchUp()
    let seconds = secondsNow() - started
    replayed()
    var facts: [(String, Any)] = [("anonymous_kib", memory("RssAnon")), ("peak_rss_kib", memory("VmHWM"))]
    for view in try await ledger.maintenance.views() {
        facts.append((view.name, view.rows[view.name] ?? 0))
        facts.append((view.name + "_digest", "\"\(try ledger.maintenance.digest(of: view.name))\""))
    }
    facts.append(("messages_by_channel", try messagesByChannel(ledger)))
    report("replay", Int(ledger.log.head.rawValue), seconds, facts)
    try await ledger.close()
}

/// The whole log folded into the example of a custom view, while all other views are complete.
func replayCustom(_ folder: String) async throws {
    var options = LedgerOptions(log: optionsWithoutSealing())
    let before = try await Ledger.open(at: folder, options: options)
    try await before.catchUp()
    try await before.close()
    try? FileManager.default.removeItem(atPath: "\(folder)/views/\(PortUse.view)")
    options.views = [PortUses.self]
    let started = secondsNow()
    let ledger = try await Ledger.open(at: folder, options: options)
    try await ledger.catchUp()
    let seconds = secondsNow() - started
    report("replay-custom", Int(ledger.log.head.rawValue), seconds, [("rows", try ledger.fetchCount(FetchDescriptor<PortUse>()))])
    try await ledger.close()
}

/// How many messages each channel has, its direct messages included, as a JSON object: the C program caps them together.
private func messagesByChannel(_ ledger: Ledger) throws -> String {
    var counts: [String: Int] = [:]
    for message in try ledger.messages() { counts[message.channel, default: 0] += 1 }
    return String(decoding: try JSONEncoder().encode(counts), as: UTF8.self)
}

/// The peak of this process's own memory so far, sampled every 5 ms on a separate thread.
private final class MemorySampler: Sendable {
    private let state = Mutex((most: 0, isDone: false))

    func start() {
        Thread.detachNewThread {
            while !self.state.withLock({ $0.isDone }) {
                let now = memory("RssAnon")
                self.state.withLock { $0.most = max($0.most, now) }
                usleep(5_000)
            }
        }
    }

    func stop() -> Int {
        state.withLock { state in
            state.isDone = true
            return state.most
        }
    }
}

/// Like `replay`, and reports the peak of this process's own memory.
func replayMemory(_ folder: String) async throws {
    let sampler = MemorySampler()
    sampler.start()
    var most = 0
    try await replay(folder) { most = sampler.stop() }
    print("{\"work\":\"memory\",\"most_anonymous_kib\":\(most)}")
}

/// The newest 100 positions of random nodes, as Swift rows, a transaction each.
func newestPositions(_ folder: String, count: Int) async throws {
    let ledger = try await Ledger.open(at: folder, options: LedgerOptions(access: .readOnly))
    let nodes = try ledger.nodes().map(\.number)
    var latencies: [Double] = []
    var rows = 0
    var random: UInt64 = 1
    let started = secondsNow()
    for _ in 0..<count {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let begun = secondsNow()
        rows += try ledger.positions(of: nodes[Int(random >> 33) % nodes.count], RowQuery(limit: 100)).count
        latencies.append(secondsNow() - begun)
    }
    let seconds = secondsNow() - started
    latencies.sort()
    report(
        "last100", count, seconds,
        [("rows", rows / count), ("p50_us", latencies[count / 2] * 1e6), ("p99_us", latencies[count * 99 / 100] * 1e6)])
    try await ledger.close()
}

/// Visits all positions and sums their altitudes: what reading a row costs.
func scanPositions(_ folder: String, rounds: Int) async throws {
    let ledger = try await Ledger.open(at: folder, options: LedgerOptions(access: .readOnly))
    var times: [Double] = []
    var (count, sum) = (0, 0)
    for _ in 0..<rounds {
        (count, sum) = (0, 0)
        let started = secondsNow()
        try ledger.forEachPosition(of: nil) { row in
            count += 1
            sum += Int(row.altitude ?? 0)
        }
        times.append(secondsNow() - started)
    }
    times.sort()
    let seconds = times[rounds / 2]
    report("scan-positions", count, seconds, [("us", seconds * 1e6 / Double(max(count, 1))), ("sum", sum)])
    try await ledger.close()
}
