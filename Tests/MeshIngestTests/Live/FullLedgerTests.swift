import EventLog
import Meshtastic
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// What a live source says while its ledger has no space.
@Suite(.timeLimit(.minutes(3)))
struct FullLedgerTests {
    /// A log that finds no space for some appends.
    private final class FullSink: EventSink {
        private let count = Mutex(0)
        private let isFull: @Sendable (_ append: Int) -> Bool

        /// - Parameter isFull: for which appends, counted from 1
        init(_ isFull: @escaping @Sendable (_ append: Int) -> Bool) { self.isFull = isFull }

        func source(named name: String) async throws(EventLogError) -> SourceID { SourceID(rawValue: 1) }
        func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { nil }

        func append(
            _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
        ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if isFull(number) { throw EventLogError(.diskFull, path: "disk") }
            return nil
        }
    }

    @Test func `a disk that is nearly full for a while is reported once, and so is its end`() async throws {
        let isFull = Atomic(true)
        let sink = FullSink { !$0.isMultiple(of: 2) && isFull.load(ordering: .relaxed) }
        let notices = Mutex<[String]>([])
        let log = PatientSink(sink, pauses: 0.001...0.01, quietSeconds: 0.5) { notice in
            notices.withLock { $0.append("\(notice)") }
        }
        for _ in 0..<50 { _ = try await log.append([]) }
        #expect(notices.withLock { $0.count } == 1)
        isFull.store(false, ordering: .relaxed)
        _ = try await log.append([])
        try await eventually { notices.withLock { $0.count } >= 2 }
        #expect(notices.withLock { $0.last } == SpaceNotice.roomAgain.description)
        isFull.store(true, ordering: .relaxed)
        for _ in 0..<4 { _ = try await log.append([]) }
        #expect(notices.withLock { $0.count } == 3)
    }

    @Test(arguments: [0, 1, 2])
    func `what a source that ends had received and a full ledger did not take is counted, to the last packet`(
        appends: Int
    ) async throws {
        @Sendable func record(_ number: Int) -> IngestRecord {
            IngestRecord(Array("packet \(number)".utf8), .meshPacket, reception: .live)
        }
        let buffer = LiveBuffer(byteLimit: 10_000 * LiveBuffer.size(record(9_999)))
        let board = SourceBoard("radio") { _, _ in }
        let store = LiveStore(
            name: "radio", target: IngestTarget(log: FullSink { $0 > appends }), buffer: buffer, board: board)
        let offered = 12_000
        for number in 0..<5_000 { _ = buffer.offer(record(number), lossReason: "too fast") }
        let running = Task {
            let error = await #expect(throws: IngestError.self) {
                try await store.run {
                    try? await Task.sleep(for: .seconds(60))  // until it is cancelled
                    for number in 5_000..<offered where !buffer.offer(record(number), lossReason: "too fast") { board.dropped(1) }
                }
            }
            return error
        }
        if appends > 0 {
            try await eventually { board.status.storedCount > 0 }
        } else {
            try await eventually { board.status.state == .waiting }
        }
        running.cancel()
        let error = await running.value
        let status = board.status
        #expect(status.storedCount + status.droppedCount == UInt64(offered), "\(status)")
        #expect(status.storedCount == UInt64(min(appends * 4_096, 5_000)), "\(status)")
        #expect(error?.reason.contains("\(status.droppedCount) packets are lost") == true, "\(error as Any)")
    }

    @Test func `a source waits while the ledger has no space, whatever its connection does meanwhile`() {
        let board = SourceBoard("one") { _, _ in }
        board.enter(.live, "live")
        board.report(.full(reason: "the disk is full"))
        board.enter(.connecting, "connecting")
        #expect(board.status.state == .waiting && board.status.lastError?.contains("the disk is full") == true)
        board.report(.roomAgain)
        #expect(board.status.state == .connecting && board.status.lastError?.contains("the disk is full") == true)
    }
}
