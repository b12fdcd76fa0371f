import Foundation
import MeshLedger

/// Options under which nothing is sealed unless requested.
func optionsWithoutSealing() -> EventLogOptions {
    var options = EventLogOptions()
    options.sealing.isAutomatic = false
    return options
}

/// Seals a log as far as possible, and reports what that saves.
func seal(_ folder: String) async throws {
    var options = optionsWithoutSealing()
    options.summariser = .meshtastic
    let log = try EventLog.open(at: folder, options: options)
    var payloadBytes = 0
    let before = try log.sealingStatistics()
    let last = log.head.rawValue / 256 * 256
    try log.withEvents(from: EventSequence(before.sealedEvents + 1), count: Int(last - before.sealedEvents), checksums: false) {
        payloadBytes += $1.byteCount
        return true
    }
    let started = secondsNow()
    try await log.seal()
    let seconds = secondsNow() - started
    let after = try log.sealingStatistics()
    let count = Int(after.sealedEvents - before.sealedEvents)
    await log.close()
    report(
        "seal", count, seconds,
        [
            ("blocks", after.blocks), ("payload_bytes", payloadBytes), ("hot_bytes", before.hotBytes),
            ("sealed_bytes", after.sealedBytes),
            ("of_payload", Double(after.sealedBytes - before.sealedBytes) / Double(max(1, payloadBytes))),
        ])
}

/// Durable appends of `batch` events each, one after the other, while everything older than 1,000 events is sealed, or nothing is.
func appendWhileSealing(_ file: String, _ folder: String, batch: Int, limit: Int, seals: Bool) async throws {
    let input = try PacketFile(file, limit: limit)
    var options = optionsWithoutSealing()
    options.summariser = .meshtastic
    if seals { options.sealing = SealingPolicy(hotEvents: 1_000) }
    let log = try EventLog.create(at: folder, options: options)
    let source = try await log.source(named: "bench")
    let events = input.envelopes.map { NewEvent($0, encoding: .serviceEnvelope, source: source) }
    let batches = stride(from: 0, to: events.count, by: batch).map { Array(events[$0..<min($0 + batch, events.count)]) }
    var latencies: [Double] = []
    let started = secondsNow()
    for batch in batches {
        let begun = secondsNow()
        _ = try await log.append(batch)
        latencies.append(secondsNow() - begun)
    }
    let seconds = secondsNow() - started
    let sealed = try log.sealingStatistics().sealedEvents
    await log.close()
    latencies.sort()
    let microseconds = { (share: Double) in latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))] * 1e6 }
    report(
        seals ? "append-sealing" : "append-plain", events.count, seconds,
        [
            ("batch", batch), ("sealed", sealed), ("p50_us", microseconds(0.5)), ("p99_us", microseconds(0.99)),
            ("p999_us", microseconds(0.999)),
        ])
}

/// Durable appends of `batch` events each, one after the other, to a log that has some, while it is compacted again and again, or is not.
func appendWhileCompacting(_ file: String, _ folder: String, batch: Int, limit: Int, compacts: Bool) async throws {
    let input = try PacketFile(file, limit: limit)
    let log = try EventLog.create(at: folder, options: optionsWithoutSealing())
    let source = try await log.source(named: "bench")
    let events = input.envelopes.map { NewEvent($0, encoding: .serviceEnvelope, source: source) }
    for start in stride(from: 0, to: events.count, by: 10_000) {
        _ = try await log.append(Array(events[start..<min(start + 10_000, events.count)]))
    }
    let batches = stride(from: 0, to: events.count - batch + 1, by: batch).map { Array(events[$0..<$0 + batch]) }
    var latencies: [Double] = []
    var compactions: [Double] = []
    let started = secondsNow()
    let compacting = Task {
        var durations: [Double] = []
        while compacts && !Task.isCancelled {
            let begun = secondsNow()
            _ = try await log.compact()
            durations.append(secondsNow() - begun)
        }
        return durations
    }
    // Faster than any busy mesh, but not as fast as possible, since the copy would never catch up.
    for batch in batches.prefix(1_000) {
        let begun = secondsNow()
        _ = try await log.append(batch)
        latencies.append(secondsNow() - begun)
        try await Task.sleep(for: .milliseconds(5))
    }
    let seconds = secondsNow() - started
    compacting.cancel()
    compactions = try await compacting.value
    await log.close()
    latencies.sort()
    let microseconds = { (share: Double) in latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))] * 1e6 }
    report(
        compacts ? "append-compacting" : "append-paced", latencies.count * batch, seconds,
        [
            ("batch", batch), ("p50_us", microseconds(0.5)), ("p99_us", microseconds(0.99)), ("max_us", microseconds(1)),
            ("compactions", compactions.count),
            ("compaction_seconds", compactions.sorted().dropFirst(compactions.count / 2).first ?? 0),
        ])
}
