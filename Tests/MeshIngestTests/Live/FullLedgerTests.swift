import EventLog
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// What a live source says while its ledger has no space.
@Suite(.timeLimit(.minutes(3)))
struct FullLedgerTests {
    /// A log of which each second append finds no space, until there is enough.
    private final class NearlyFullSink: EventSink {
        let isFull = Mutex(true)
        private let count = Mutex(0)

        func source(named name: String) async throws(EventLogError) -> SourceID { SourceID(rawValue: 1) }
        func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { nil }

        func append(
            _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
        ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number % 2 == 1, isFull.withLock({ $0 }) { throw EventLogError(.diskFull, path: "disk") }
            return nil
        }
    }

    @Test func `a disk that is nearly full for a while is reported once, and so is its end`() async throws {
        let sink = NearlyFullSink()
        let notices = Mutex<[String]>([])
        let log = PatientSink(sink, pauses: 0.001...0.01, quietSeconds: 0.5) { notice in
            notices.withLock { $0.append("\(notice)") }
        }
        for _ in 0..<50 { _ = try await log.append([]) }
        #expect(notices.withLock { $0.count } == 1)
        sink.isFull.withLock { $0 = false }
        _ = try await log.append([])
        try await eventually { notices.withLock { $0.count } >= 2 }
        #expect(notices.withLock { $0.last } == SpaceNotice.roomAgain.description)
        sink.isFull.withLock { $0 = true }
        for _ in 0..<4 { _ = try await log.append([]) }
        #expect(notices.withLock { $0.count } == 3)
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
