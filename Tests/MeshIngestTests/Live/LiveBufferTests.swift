import EventLog
import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshIngest

/// What waits between a live source and the log.
@Suite(.timeLimit(.minutes(1)))
struct LiveBufferTests {
    private static func record(_ number: Int, size: Int = 100) -> IngestRecord {
        IngestRecord([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size), .meshPacket)
    }

    private static func gap(_ record: IngestRecord) -> Gap? { Gap(payload: record.payload.rawSpan) }

    @Test func `what finds no space is a gap that says how many, in its place`() async throws {
        let size = LiveBuffer.size(Self.record(0))
        let buffer = LiveBuffer(byteLimit: 10 * size)
        let added = (0..<25).count { buffer.offer(Self.record($0), lossReason: "too fast") }
        #expect(added == 10)
        let first = try #require(await buffer.takeAll())
        #expect(first.dropLast().map(\.payload) == (0..<10).map { Self.record($0).payload })
        let found = Self.gap(first[10])
        let gap = try #require(found)
        #expect(first.count == 11 && first[10].encoding == .gap && gap.count == 15 && gap.reason == "too fast")
        buffer.settle()
        buffer.lost(3, since: Timestamp(seconds: 1_780_000_000), reason: "before")
        #expect(buffer.offer(Self.record(1), lossReason: "too fast"))
        buffer.close()
        let second = try #require(await buffer.takeAll())
        let later = Self.gap(second[0])
        #expect(second.count == 2 && later?.count == 3 && later?.first == Timestamp(seconds: 1_780_000_000))
        buffer.settle()
        #expect(await buffer.takeAll() == nil)
    }

    @Test func `who puts waits for space, and nothing is lost or out of order`() async {
        let buffer = LiveBuffer(byteLimit: 2_000)
        let putting = Task {
            for number in 0..<500 {
                guard await buffer.put([Self.record(number), Self.record(number)]) else { return false }
            }
            buffer.close()
            return true
        }
        var taken: [[UInt8]] = []
        while let records = await buffer.takeAll() {
            #expect(records.reduce(0) { $0 + LiveBuffer.size($1) } <= 2_000)
            taken += records.map(\.payload)
            await Task.yield()
            buffer.settle()
        }
        #expect(await putting.value)
        #expect(taken == (0..<500).flatMap { [Self.record($0).payload, Self.record($0).payload] })
    }

    @Test func `a refusal ends every wait`() async {
        let buffer = LiveBuffer(byteLimit: 100)
        #expect(await buffer.put([Self.record(1)]))
        let putting = Task { await buffer.put([Self.record(2)]) }
        let settling = Task { await buffer.waitUntilSettled() }
        buffer.refuse()
        #expect(await !putting.value)
        #expect(await !settling.value)
    }

    @Test func `waits double from one second to a minute, and begin again after a connection`() {
        var backoff = Backoff()
        let waits = (0..<10).map { _ in backoff.take() }
        for (wait, middle) in zip(waits, [1.0, 2, 4, 8, 16, 32, 60, 60, 60, 60]) {
            #expect(wait >= middle * 0.8 && wait <= min(middle * 1.2, 60))
        }
        backoff.lasted(5)
        #expect(backoff.take() >= 48, "a peer that hangs up at once")
        backoff.lasted(10)
        #expect(backoff.take() <= 1.2)
        _ = backoff.take()
        backoff.lasted(1.5)
        #expect(backoff.take() >= 3.2, "two programs that take a connection from each other")
    }
}
