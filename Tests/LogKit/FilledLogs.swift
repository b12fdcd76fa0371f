package import EventLog
import LMDB
import TestKit

/// A log of small events, with every hundredth too large for a leaf page.
package func filledLog(at path: String, events count: Int) async throws -> EventLog {
    let log = try EventLog.create(at: path)
    let source = try await log.source(named: "mqtt://broker/msh")
    _ = try await log.source(named: "a file")
    var generator = SeededGenerator(seed: 3)
    var next = 1
    while next <= count {
        let events = (next..<min(next + 50, count + 1)).map { number in
            let text = Array("event \(number) ".utf8)
            let payload = number % 100 == 0 ? Array(repeating: text, count: 500).flatMap { $0 } : text + generator.bytes(60)
            return NewEvent(
                payload, encoding: .note, source: source,
                reception: number % 3 == 0 ? .recorded(Timestamp(seconds: Int64(number))) : .live)
        }
        try await log.append(events, cursor: SourceCursor(key: "a file", value: [1, 2, 3]))
        next += 50
    }
    return log
}

/// The records of the first events.
package func records(_ log: EventLog, upTo last: UInt64) throws -> RecordRun {
    var run = RecordRun()
    run.begin(at: 1)
    let reader = try log.beginRead()
    var cursor = try reader.cursor()
    while try cursor.next(), cursor.sequence.rawValue <= last { run.append(cursor.record) }
    return run
}

/// Moves the first events into sealed blocks.
@discardableResult
package func seal(_ log: EventLog, upTo last: UInt64, inBlocksOf size: Int = 400) throws -> [EncodedBlock] {
    var run = try records(log, upTo: last)
    let encoder = try BlockEncoder(summariser: nil)
    var blocks: [EncodedBlock] = []
    while run.count > 0 {
        let count = min(run.count, size)
        blocks.append(try encoder.encode(run, count: count))
        run.removeFirst(count)
    }
    var write = try log.store.environment.beginWrite()
    for sequence in 1...last {
        let key = SequenceKey(sequence)
        _ = try write.delete(log.store.events, key: key.span)
    }
    for block in blocks {
        let key = SequenceKey(block.first)
        try write.put(log.store.sealed, key: key.span, value: block.bytes.span.rawBytes, .append)
    }
    try write.commit()
    return blocks
}
