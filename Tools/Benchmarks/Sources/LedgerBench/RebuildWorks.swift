import Foundation
import MeshLedger

/// Durable appends of `batch` events each, 5 ms apart, while all views of the same ledger, or of another one, are rebuilt again and again: the
/// same work for the processor, but without shared resources.
func appendWhileRebuilding(_ file: String, _ folder: String, beside other: String, batch: Int, isOwn: Bool) async throws {
    let input = try PacketFile(file, limit: 100_000)
    let options = LedgerOptions(log: optionsWithoutSealing(), isControllable: false)
    let ledger = try await Ledger.open(at: folder, options: options)
    let second = try await Ledger.open(at: other, options: options)
    for ledger in [ledger, second] { try await ledger.catchUp() }
    let source = try await ledger.log.source(named: "bench")
    let events = input.envelopes.map { NewEvent($0, encoding: .serviceEnvelope, source: source) }
    let rebuilding = Task {
        var durations: [Double] = []
        while !Task.isCancelled {
            let begun = secondsNow()
            try await (isOwn ? ledger : second).maintenance.rebuild()
            durations.append(secondsNow() - begun)
        }
        return durations
    }
    var latencies: [Double] = []
    let started = secondsNow()
    for start in stride(from: 0, to: events.count - batch + 1, by: batch).prefix(1_000) {
        let begun = secondsNow()
        _ = try await ledger.log.append(Array(events[start..<start + batch]))
        latencies.append(secondsNow() - begun)
        try await Task.sleep(for: .milliseconds(5))
    }
    let seconds = secondsNow() - started
    rebuilding.cancel()
    let durations = try await rebuilding.value
    try await ledger.close()
    try await second.close()
    latencies.sort()
    let microseconds = { (share: Double) in latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))] * 1e6 }
    report(
        isOwn ? "append-rebuilding" : "append-beside", latencies.count * batch, seconds,
        [
            ("batch", batch), ("p50_us", microseconds(0.5)), ("p99_us", microseconds(0.99)), ("max_us", microseconds(1)),
            ("rebuilds", durations.count), ("rebuild_seconds", durations.sorted().dropFirst(durations.count / 2).first ?? 0),
        ])
}

/// Rebuilds the nodes view again and again.
func rebuildNodes(_ folder: String, rounds: Int) async throws {
    let ledger = try await Ledger.open(at: folder, options: LedgerOptions(log: optionsWithoutSealing(), isControllable: false))
    try await ledger.catchUp()
    let started = secondsNow()
    for _ in 0..<rounds { try await ledger.maintenance.rebuild(["nodes"]) }
    report("rebuild-nodes", rounds, secondsNow() - started, [])
    try await ledger.close()
}

/// Reads nodes as another process does, until its standard input ends, and reports how long the first reads of each new view took.
func readSwaps(_ folder: String) async throws {
    let ledger = try await Ledger.open(at: folder, options: LedgerOptions(access: .readOnly))
    let nodes = try ledger.nodes().map(\.number)
    let place = folder + "/views/nodes/current"
    var (reads, swaps): ([Double], [Double]) = ([], [])
    var name = FileManager.default.contents(atPath: place)
    var last = 0.0
    FileHandle.standardOutput.write(Data("reading\n".utf8))
    let end = Task.detached { while readLine() != nil {} }
    let isOver = EndFlag()
    Task.detached {
        await end.value
        isOver.set()
    }
    var index = 0
    while !isOver.isSet {
        let now = FileManager.default.contents(atPath: place)
        let begun = secondsNow()
        guard try ledger.node(nodes[index % nodes.count]) != nil else { throw BenchError("a node is missing") }
        let seconds = secondsNow() - begun
        if now != name {
            // The swap may have come between the check and the previous read.
            swaps.append(max(seconds, last))
            name = now
        } else {
            reads.append(seconds)
        }
        last = seconds
        index += 1
    }
    try await ledger.close()
    (reads, swaps) = (reads.sorted(), swaps.sorted())
    guard !swaps.isEmpty else { throw BenchError("no view was swapped") }
    report(
        "read-swaps", reads.count, reads.reduce(0, +),
        [
            ("swaps", swaps.count), ("swap_ms", swaps[swaps.count / 2] * 1e3), ("slowest_swap_ms", (swaps.last ?? 0) * 1e3),
            ("read_us", reads[reads.count / 2] * 1e6), ("p999_us", reads[reads.count * 999 / 1_000] * 1e6),
        ])
}
