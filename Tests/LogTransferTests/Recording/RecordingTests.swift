import Foundation
import LMDB
import LogKit
import TestKit
import Testing

@testable import EventLog
@testable import LogTransfer

@Suite(.timeLimit(.minutes(40))) struct RecordingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var file: String { folder.path + "/mesh.recording" }

    func filledLog(_ count: Int, seed: UInt64 = 1) async throws -> EventLog {
        let log = try EventLog.temporary()
        try await fill(log, count, seed: seed)
        return log
    }

    @Test(arguments: [0, 1, 255, 256, 257, 5000])
    func `D24: a recording of the whole log makes an exact copy in an empty one`(_ count: Int) async throws {
        let log = try await filledLog(count)
        try await log.append([], cursor: SourceCursor(key: "file", value: [1, 2, 3]))
        let written = try log.record(to: file)
        #expect(written.eventCount == UInt64(count) && written.ledger == log.identifier)
        #expect(try EventLog.checkRecording(file) == written)
        let copy = try EventLog.temporary()
        let report = try await copy.importRecording(file)
        #expect(report.isExact && report.added == UInt64(count))
        #expect(try content(copy) == content(log))
        #expect(try copy.root(size: copy.head) == log.root(size: log.head))
        #expect(try copy.sources() == log.sources())
        #expect(try copy.cursor("file") == [1, 2, 3])
        if count > 0 {
            #expect(try copy.origin(of: log.head) == EventOrigin(ledger: log.identifier, sequence: log.head))
        }
        #expect(try copy.verify().isIntact)
        await log.close()
        await copy.close()
    }

    @Test func `what was erased since is erased in an exact copy with the next recording, and nowhere in its file`() async throws
    {
        let log = try await filledLog(700)
        let path = folder.path + "/copy"
        let copy = try EventLog.create(at: path)
        try log.record(to: file)
        _ = try await copy.importRecording(file)
        let event = try #require(
            try log.events(in: EventSequence(50)...EventSequence(60)).first { $0.header.source != .log && $0.payload.count > 12 })
        let isThere = { try LogFiles(path: path).contents().values.contains { $0.range(of: Data(event.payload)) != nil } }
        #expect(try isThere())
        let some = try log.events(in: EventSequence(50)...EventSequence(60)).filter { $0.header.source != .log }
        try await log.erase(some.map { $0.sequence...$0.sequence }, reason: "asked for")
        try log.record(to: file)
        let report = try await copy.importRecording(file)
        #expect(report.added == 1 && report.isExact)
        #expect(try content(copy) == content(log))
        #expect(try copy.root(size: copy.head) == log.root(size: log.head))
        #expect(try copy.verify().isIntact && copy.pendingErasure() == nil)
        #expect(try !isThere())
        await log.close()
        await copy.close()
    }

    @Test func `a recording changes no other file beside it, and leaves none when it is stopped`() async throws {
        let log = try await filledLog(700)
        let other = file + ".new"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: other))
        try log.record(to: file)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(throws: EventLogError.self) { try log.record(to: file) { _ in false } }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == Data("precious".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["mesh.recording", "mesh.recording.new"])
        await log.close()
    }

    @Test func `a log's own recording with a source that the log calls otherwise adds nothing`() async throws {
        let (left, right) = try await forked()
        _ = try await left.reserveSource(named: "not stored yet")
        _ = try await right.source(named: "of the other copy")
        try right.record(to: file)
        let (head, sources) = (left.head, try left.sources())
        let error = await #expect(throws: EventLogError.self) { try await left.importRecording(file) }
        #expect(try error?.code == .forked && left.head == head && left.sources() == sources)
        await left.close()
        await right.close()
    }

    @Test func `a selection of few events is read in steps, and what retention drops between two of them is an error`()
        async throws
    {
        let log = try await filledLog(60_000)
        let selection = RecordingSelection(where: { header, _ in header.sequence == log.head }, text: "the last")
        var steps = 0
        let written = try log.record(to: file, selection) { _ in
            steps += 1
            return true
        }
        #expect(written.eventCount == 1 && steps > 2)
        let place = file
        let error = try await onThread {
            var isFirst = true
            return #expect(throws: EventLogError.self) {
                try log.record(to: place, selection) { _ in
                    if isFirst { try? waiting { try await log.cut(through: EventSequence(59_904)) } }
                    isFirst = false
                    return true
                }
            }
        }
        #expect(error?.code == .beyondRetention)
        await log.close()
    }

    @Test func `a recording that names salts far beyond its events is refused before they take memory`() async throws {
        let log = try await filledLog(10)
        try log.record(to: file)
        let own = try log.ledgerID
        for number in [UInt64(1) << 40, 5_000] {
            let place = folder.path + "/forged"
            let descriptor = try OwnedFile.open(place, O_RDWR | O_CREAT | O_TRUNC)
            defer { close(descriptor) }
            var frames = FrameWriter(descriptor, path: place)
            try frames.write(.head, RecordingHead(ledger: own, created: Timestamp(microseconds: 1)).bytes)
            try frames.write(.sources, RecordingPairs().bytes)
            var pairs = RecordingPairs()
            pairs.append(number, [UInt8](repeating: 7, count: 16))
            try frames.write(.tiles, pairs.bytes)
            try frames.flush()
            let error = #expect(throws: EventLogError.self) { try EventLog.checkRecording(place) }
            #expect(error?.detail?.contains("is damaged at byte") == true, "\(number): \(error as Any)")
        }
        await log.close()
    }

    @Test func `importing again adds nothing, and a later recording only what is new`() async throws {
        let log = try await filledLog(700)
        let copy = try EventLog.temporary()
        try log.record(to: file)
        _ = try await copy.importRecording(file)
        var report = try await copy.importRecording(file)
        #expect(report.added == 0 && report.present == 700 && report.isExact)
        try await fill(log, 900, seed: 2)
        _ = try await log.source(named: "a new one")
        try log.record(to: file)
        report = try await copy.importRecording(file)
        #expect(report.added == 900 && report.present == 700 && report.isExact)
        #expect(try copy.root(size: copy.head) == log.root(size: log.head))
        #expect(try copy.sources() == log.sources())
        report = try await log.importRecording(file)
        #expect(report.added == 0 && report.isExact)
        await log.close()
        await copy.close()
    }

    @Test func `into a log with events of its own only what it lacks is appended, which keeps its times and origin`() async throws
    {
        let (log, other) = (try await filledLog(600), try await filledLog(100, seed: 3))
        try log.record(to: file)
        var report = try await other.importRecording(file)
        #expect(report.added == 600 && !report.isExact)
        #expect(other.head == EventSequence(700))
        #expect(try other.origin(of: EventSequence(100)).ledger == other.identifier)
        #expect(try other.origin(of: EventSequence(101)) == EventOrigin(ledger: log.identifier, sequence: EventSequence(1)))
        let (theirs, ours) = (try log.event(EventSequence(7)), try other.event(EventSequence(107)))
        #expect(ours?.payload == theirs?.payload && ours?.header.arrivalTime == theirs?.header.arrivalTime)
        #expect(ours?.header.reception == theirs?.header.reception)
        report = try await other.importRecording(file)
        #expect(report.added == 0 && report.present == 600)
        try await fill(log, 50, seed: 4)
        try log.record(to: file)
        #expect(try await other.importRecording(file).added == 50)
        #expect(try other.verify().isIntact)
        // And what the other log records is known where it came from.
        try other.record(to: file)
        report = try await log.importRecording(file)
        #expect(report.added == 100 && report.present == 650)
        #expect(try log.verify().isIntact)
        await log.close()
        await other.close()
    }

    @Test func `a chosen part is a new log that knows where its events come from`() async throws {
        let log = try await filledLog(3000)
        let chosen = RecordingSelection(where: { header, _ in header.sequence.rawValue.isMultiple(of: 3) }, text: "every third")
        let written = try log.record(to: file, chosen)
        #expect(written.eventCount == 1000 && written.selectedFrom == log.identifier && written.ledger != log.identifier)
        let copy = try EventLog.temporary()
        #expect(try await copy.importRecording(file).isExact)
        #expect(copy.head == EventSequence(1000))
        #expect(try copy.root(size: copy.head) == written.root)
        #expect(try copy.origin(of: EventSequence(5)) == EventOrigin(ledger: log.identifier, sequence: EventSequence(15)))
        try log.record(to: file)
        let report = try await copy.importRecording(file)
        #expect(report.added == 2000 && report.present == 1000)
        #expect(try copy.verify().isIntact)
        await log.close()
        await copy.close()
    }

    @Test func `a range keeps its sequences, and its beginning is an exact copy`() async throws {
        let log = try await filledLog(1000)
        let copy = try EventLog.temporary()
        try log.record(to: file, RecordingSelection(last: EventSequence(300)))
        #expect(try await copy.importRecording(file).isExact)
        #expect(try copy.root(size: EventSequence(300)) == log.root(size: EventSequence(300)))
        try log.record(to: file, RecordingSelection(first: EventSequence(200), last: EventSequence(700)))
        let report = try await copy.importRecording(file)
        #expect(report.isExact && report.added == 400 && report.present == 101)
        #expect(try copy.root(size: EventSequence(700)) == log.root(size: EventSequence(700)))
        try log.record(to: file, RecordingSelection(first: EventSequence(900)))
        #expect(try await !copy.importRecording(file).isExact)
        #expect(copy.head == EventSequence(801))
        await log.close()
        await copy.close()
    }

    @Test func `a copy that went its own way is recognised`() async throws {
        let (left, right) = try await forked()
        try await fill(left, 10, seed: 8)
        try await fill(right, 20, seed: 9)
        try left.record(to: file)
        let error = await #expect(throws: EventLogError.self) { try await right.importRecording(file) }
        #expect(error?.code == .forked)
        #expect(right.head == EventSequence(320))
        await left.close()
        await right.close()
    }

    /// Two logs that begin with the same 300 events.
    private func forked() async throws -> (EventLog, EventLog) {
        let log = try await filledLog(300)
        let path = folder.path + "/fork"
        try log.record(to: file)
        await log.close()
        let fork = try EventLog.create(at: path)
        _ = try await fork.importRecording(file)
        await fork.close()
        try FileManager.default.copyItem(atPath: path, toPath: path + "2")
        return (try EventLog.open(at: path), try EventLog.open(at: path + "2"))
    }

    @Test(arguments: [false, true])
    func `recordings of two copies that went their own ways are not mixed in a third log`(_ hasOwnEvents: Bool) async throws {
        let (left, right) = try await forked()
        let third = try EventLog.temporary()
        if hasOwnEvents { try await fill(third, 20, seed: 7) }
        try await fill(left, 50, seed: 8)
        // Another number of sources, so that no exact copy is possible.
        _ = try await right.source(named: "of the right one")
        try await fill(right, 70, seed: 9)
        try left.record(to: file)
        _ = try await third.importRecording(file)
        let head = third.head
        for first in [1, 200, 310] {
            try right.record(to: file, RecordingSelection(first: EventSequence(UInt64(first))))
            let error = await #expect(throws: EventLogError.self) { try await third.importRecording(file) }
            #expect(error?.code == .forked && third.head == head, "from \(first)")
            #expect(error?.description.contains("event \(max(301, first)) of the ledger") == true, "\(error?.description ?? "")")
        }
        // What both have is no contradiction.
        try right.record(to: file, RecordingSelection(last: EventSequence(300)))
        #expect(try await third.importRecording(file).added == 0)
        for log in [left, right, third] { await log.close() }
    }

    @Test func `every cut and every flipped bit of a recording is found before anything is added`() async throws {
        let log = try await filledLog(40)
        try log.record(to: file)
        await log.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        let copy = try EventLog.temporary()
        func refused(_ data: Data) async throws -> Bool {
            try data.write(to: URL(fileURLWithPath: file))
            do {
                _ = try await copy.importRecording(file)
                return false
            } catch {
                return [.corrupt, .notARecording, .newerFormat].contains(error.code)
            }
        }
        for length in stride(from: 0, to: whole.count, by: 41) {
            #expect(try await refused(whole.prefix(length)), "cut to \(length)")
        }
        for bit in stride(from: 0, to: whole.count * 8, by: 101) {
            var data = whole
            data[bit / 8] ^= 1 << (bit % 8)
            #expect(try await refused(data), "bit \(bit)")
        }
        #expect(try await refused(whole + Data([0])))
        #expect(copy.head == .zero)
        #expect(try copy.sources().isEmpty)
        try whole.write(to: URL(fileURLWithPath: file))
        #expect(try await copy.importRecording(file).added == 40)
        await copy.close()
    }
}

/// Appends random events of random sources, times and sizes.
func fill(_ log: EventLog, _ count: Int, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var left = count
    while left > 0 {
        let source = try await log.source(named: "source \(UInt64.random(in: 1...3, using: &random))")
        let events = (0..<min(left, Int.random(in: 1...200, using: &random))).map { _ in
            let reception: Reception =
                Bool.random(using: &random)
                ? .live : .recorded(Timestamp(microseconds: Int64.random(in: 0...1 << 50, using: &random)))
            return NewEvent(
                random.bytes(Int.random(in: 0...60, using: &random)), encoding: .note,
                source: Int.random(in: 0...9, using: &random) == 0 ? .log : source, reception: reception)
        }
        try await log.append(events)
        left -= events.count
    }
}

/// All events of the log.
func content(_ log: EventLog) throws -> [Event] { try log.events(in: EventSequence(1)...EventSequence(.max)) }
