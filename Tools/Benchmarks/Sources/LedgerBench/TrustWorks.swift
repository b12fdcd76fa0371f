import Foundation
import MeshLedger

/// A full check of the log, with all hashes of the tree recomputed, on all cores.
func verify(_ folder: String) throws {
    var options = optionsWithoutSealing()
    options.access = .readOnly
    options.summariser = .meshtastic
    let log = try EventLog.open(at: folder, options: options)
    let started = secondsNow()
    let result = try log.verify()
    let seconds = secondsNow() - started
    guard result.isIntact else { throw BenchError("\(folder) is damaged: \(result.problems.prefix(3))") }
    let sealed = try log.sealingStatistics().sealedEvents
    report("verify", result.eventsChecked, seconds, [("payload_bytes", result.payloadBytes), ("sealed", sealed)])
}

/// Appends the file's packets again and again until the log has `count` events, and reports how long the second million and the last one took.
func appendGrowing(_ file: String, _ folder: String, batch: Int, count: Int) async throws {
    let million = 1_000_000
    guard count >= 3 * million else { throw BenchError("at least 3,000,000 events") }
    let log = try EventLog.create(at: folder, options: optionsWithoutSealing())
    let batches = try await packets(file, log, batch: batch)
    var (number, early, late) = (0, 0.0, 0.0)
    let started = secondsNow()
    while number < count {
        let events = batches[number / batch % batches.count]
        let begun = secondsNow()
        _ = try await log.append(events)
        let seconds = secondsNow() - begun
        if number >= million && number < 2 * million { early += seconds }
        if number >= count - million { late += seconds }
        number += events.count
    }
    let seconds = secondsNow() - started
    await log.close()
    report("append-growth", number, seconds, [("early_seconds", early), ("late_seconds", late), ("late_of_early", late / early)])
}

/// Appends until it is killed, and reports when it has begun.
func appendEndlessly(_ file: String, _ folder: String, batch: Int) async throws {
    var options = EventLogOptions()
    options.summariser = .meshtastic
    let log = try EventLog.open(at: folder, options: options)
    let batches = try await packets(file, log, batch: batch)
    var number = 0
    while true {
        _ = try await log.append(batches[number % batches.count])
        if number == 0 { FileHandle.standardOutput.write(Data("appending\n".utf8)) }
        number += 1
    }
}

private func packets(_ file: String, _ log: EventLog, batch: Int) async throws -> [[NewEvent]] {
    let source = try await log.source(named: "bench")
    let events = try PacketFile(file, limit: 1_000_000).envelopes.map { NewEvent($0, encoding: .serviceEnvelope, source: source) }
    return stride(from: 0, to: events.count - batch + 1, by: batch).map { Array(events[$0..<$0 + batch]) }
}

/// Opens the log for writing, as after a crash, and appends an event.
func openLog(_ folder: String) async throws {
    var options = EventLogOptions()
    options.summariser = .meshtastic
    let started = secondsNow()
    let log = try EventLog.open(at: folder, options: options)
    let opened = secondsNow() - started
    let head = try await log.append(NewEvent([1], encoding: .note, source: .log))
    let appended = secondsNow() - started
    report("open", Int(head.rawValue), opened, [("open_ms", opened * 1e3), ("first_append_ms", appended * 1e3)])
    await log.close()
}
