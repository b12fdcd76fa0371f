import LogKit
import Synchronization
import TestKit
import Testing

@testable import EventLog

/// Appends whose outcome nobody knew, and what their tokens confirm after the log was opened again.
struct RetriedAppends {
    private static let retried = (0..<3).map { NewEvent([$0], encoding: .note, source: .log) }
    private static var options: EventLogOptions { EventLogOptions(sealing: SealingPolicy(isAutomatic: false)) }

    /// A log of five events, after a commit of three more whose end nobody saw.
    private func failed(_ fault: CommitFault, at path: String) async throws -> AppendToken {
        let fails = Mutex(false)
        var options = Self.options
        options.commitFault = { fails.withLock { $0 } ? fault : nil }
        let log = try EventLog.create(at: path, options: options)
        try await appendNumbered(log, 5)
        fails.withLock { $0 = true }
        let error = try #require(await #expect(throws: EventLogError.self) { try await log.append(Self.retried) })
        await log.close()
        return try #require(error.token)
    }

    @Test(arguments: [false, true])
    func `M8: a token does not confirm a lost append by the event that took its place`(isSealed: Bool) async throws {
        let folder = try TemporaryFolder()
        let token = try await failed(.beforeDisk, at: folder.path + "/ledger")
        let log = try EventLog.open(at: folder.path + "/ledger", options: Self.options)
        #expect(token.first == 6 && log.head == EventSequence(5))
        try await appendNumbered(log, isSealed ? 1_200 : 4)
        if isSealed { try await log.seal() }
        #expect(try (log.sealingStatistics().sealedEvents > 6) == isSealed)
        let head = log.head
        let range = try await log.append(Self.retried, token: token)
        #expect(range == head.advanced(by: 1)...head.advanced(by: 3))
        #expect(try log.events(in: head.advanced(by: 1)...log.head).map(\.payload) == [[0], [1], [2]])
        await log.close()
    }

    @Test(arguments: [false, true])
    func `M8: a token confirms its own record only, wherever that is stored`(isSealed: Bool) async throws {
        let folder = try TemporaryFolder()
        let token = try await failed(.afterDisk, at: folder.path + "/ledger")
        let log = try EventLog.open(at: folder.path + "/ledger", options: Self.options)
        if isSealed {
            try await appendNumbered(log, 1_200)
            try await log.seal()
        }
        let head = log.head
        #expect(try await log.append(Self.retried, token: token) == EventSequence(6)...EventSequence(8))
        #expect(log.head == head)
        // Its neighbours: of the events beside it, of a record that differs in a bit, of ones that are not there.
        let others = [
            AppendToken(first: token.first - 1, checksum: token.checksum),
            AppendToken(first: token.first + 1, checksum: token.checksum),
            AppendToken(first: token.first, checksum: token.checksum ^ 1), AppendToken(first: 0, checksum: token.checksum),
            AppendToken(first: 0, checksum: 0), AppendToken(first: .max, checksum: token.checksum),
        ]
        for (place, other) in others.enumerated() {
            let next = head.advanced(by: 3 * place + 1)
            #expect(try await log.append(Self.retried, token: other) == next...next.advanced(by: 2), "\(other)")
            #expect(try log.events(in: next...log.head).map(\.payload) == [[0], [1], [2]])
        }
        await log.close()
    }

    @Test func `M8: tokens at the head and just above it are distinguished`() async throws {
        let folder = try TemporaryFolder()
        let token = try await failed(.beforeDisk, at: folder.path + "/ledger")
        let log = try EventLog.open(at: folder.path + "/ledger", options: Self.options)
        let last = try #require(try log.event(EventSequence(5)))
        let checksum = Record.checksum(
            RecordHeader(NewEvent(last.payload, encoding: .note, source: .log)), arrival: last.header.arrivalTime.microseconds,
            payload: last.payload.span.rawBytes, sequence: 5)
        let again = [NewEvent(last.payload, encoding: .note, source: .log)]
        #expect(
            try await log.append(again, token: AppendToken(first: 5, checksum: checksum)) == EventSequence(5)...EventSequence(5))
        #expect(log.head == EventSequence(5))
        #expect(try await log.append(Self.retried, token: token) == EventSequence(6)...EventSequence(8))
        await log.close()
    }
}
