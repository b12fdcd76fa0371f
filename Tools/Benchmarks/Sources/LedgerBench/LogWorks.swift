import Foundation
import MeshLedger
import Synchronization

/// The made-up arrival clock of the C program: 2.6 s a record.
private func reception(_ index: Int) -> Reception {
    .recorded(Timestamp(microseconds: 1_780_000_000_000_000 + Int64(index) * 2_600_000))
}

/// Durable appends, `batch` events in a transaction, from the file's bytes as in the C program.
func append(_ file: String, _ folder: String, batch: Int, limit: Int) async throws {
    let input = try PacketFile(file, limit: limit)
    let log = try EventLog.create(at: folder, options: optionsWithoutSealing())
    let source = try await log.source(named: "bench")
    let started = secondsNow()
    var events = EventBatch()
    for first in stride(from: 0, to: input.ranges.count, by: batch) {
        events.removeAll()
        for index in first..<min(first + batch, input.ranges.count) {
            let payload = input.bytes.span.bytes.extracting(input.ranges[index])
            events.append(payload, encoding: .serviceEnvelope, source: source, reception: reception(index))
        }
        try await log.append(events)
    }
    let seconds = secondsNow() - started
    await log.close()
    report("append", input.ranges.count, seconds, [("batch", batch)])
}

/// The same with an array for each event, as in most callers.
func appendArrays(_ file: String, _ folder: String, batch: Int, limit: Int) async throws {
    let input = try PacketFile(file, limit: limit)
    let log = try EventLog.create(at: folder, options: optionsWithoutSealing())
    let source = try await log.source(named: "bench")
    let events = input.envelopes.enumerated().map {
        NewEvent($1, encoding: .serviceEnvelope, source: source, reception: reception($0))
    }
    let batches = stride(from: 0, to: events.count, by: batch).map { Array(events[$0..<min($0 + batch, events.count)]) }
    let started = secondsNow()
    for batch in batches { _ = try await log.append(batch) }
    let seconds = secondsNow() - started
    await log.close()
    report("append-arrays", events.count, seconds, [("batch", batch)])
}

/// Durable appends of one event each by concurrent tasks, each of which waits for its own.
func appendConcurrently(_ file: String, _ folder: String, tasks: Int, limit: Int) async throws {
    let input = try PacketFile(file, limit: limit)
    let log = try EventLog.create(at: folder, options: optionsWithoutSealing())
    let source = try await log.source(named: "bench")
    let events = input.envelopes.enumerated().map {
        NewEvent($1, encoding: .serviceEnvelope, source: source, reception: reception($0))
    }
    let started = secondsNow()
    try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
            group.addTask {
                for index in stride(from: task, to: events.count, by: tasks) { _ = try await log.append(events[index]) }
            }
        }
        try await group.waitForAll()
    }
    let seconds = secondsNow() - started
    await log.close()
    report("append-tasks", events.count, seconds, [("tasks", tasks)])
}

/// What `appendConcurrently` costs without a log: each task passes its event on and is resumed when all others have done so.
func suspendConcurrently(tasks: Int, count: Int) async throws {
    let meeting = Meeting(size: tasks)
    let count = count / tasks * tasks
    let started = secondsNow()
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks {
            group.addTask {
                for _ in 0..<count / tasks { await meeting.wait() }
            }
        }
        await group.waitForAll()
    }
    report("suspend-tasks", count, secondsNow() - started, [("tasks", tasks)])
}

/// Lets tasks wait until a number of them are waiting.
private final class Meeting: Sendable {
    private let size: Int
    private let waiters = Mutex<[UnsafeContinuation<Void, Never>]>([])

    init(size: Int) { self.size = size }

    func wait() async {
        await withUnsafeContinuation { waiter in
            let all: [UnsafeContinuation<Void, Never>] = waiters.withLock { waiters in
                waiters.append(waiter)
                guard waiters.count == size else { return [] }
                defer { waiters.removeAll(keepingCapacity: true) }
                return waiters
            }
            for waiter in all { waiter.resume() }
        }
    }
}

/// Reads every byte of the log.
func scan(_ folder: String, checksums: Bool) throws {
    var options = EventLogOptions()
    options.access = .readOnly
    let log = try EventLog.open(at: folder, options: options)
    var sum: UInt64 = 0
    var bytes = 0
    let started = secondsNow()
    try log.withEvents(from: EventSequence(1), checksums: checksums) { _, payload in
        sum &+= payload.withUnsafeBytes { touch($0) }
        bytes += payload.byteCount
        return true
    }
    report("scan", Int(log.head.rawValue), secondsNow() - started, [("bytes", bytes), ("sum", sum), ("checksums", checksums)])
}

@inline(__always)
private func touch(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var sum: UInt64 = 0
    var offset = 0
    while offset + 8 <= bytes.count {
        sum &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        offset += 8
    }
    while offset < bytes.count {
        sum &+= UInt64(bytes[offset])
        offset += 1
    }
    return sum
}
