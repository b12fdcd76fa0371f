import Foundation
import MeshLedger
import TestKit
import Testing

/// The end of a `Ledger`, and what may be asked of it afterwards.
struct ClosedLedgers {
    private func ledger(in folder: borrowing TemporaryFolder, messages: Int) async throws -> Ledger {
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger")
        let source = try await ledger.log.source(named: "radio")
        for number in 0..<messages {
            var packet = MeshPacketBuilder(payload: Array("text \(number)".utf8))
            packet.id = UInt32(number + 1)
            _ = try await ledger.log.append(NewEvent(packet.envelope(), encoding: .serviceEnvelope, source: source))
        }
        return ledger
    }

    @Test func `many that close a ledger at once close it once, with all its rows`() async throws {
        for round in 0..<6 {
            let folder = try TemporaryFolder()
            let ledger = try await ledger(in: folder, messages: 50)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await ledger.close() } }
                try await group.waitForAll()
            }
            try await ledger.close()
            var options = LedgerOptions()
            options.access = .readOnly
            let reader = try await Ledger.open(at: folder.path + "/mesh.ledger", options: options)
            #expect(try reader.fetchCount(FetchDescriptor<MessageRow>()) == 50, "round \(round)")
            try await reader.close()
        }
    }

    @Test func `a close with a limit leaves the rest of the log to the next opening, and loses nothing`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "radio")
        let events = (1...40_000 as ClosedRange<UInt32>).map { number in
            MeshPacketBuilder(from: number % 50 + 1, id: number, payload: Array("text \(number)".utf8)).event(source)
        }
        _ = try await ledger.log.append(events)
        let lag = try await ledger.close(within: .zero)
        #expect(lag > 0 && lag <= 40_000)
        let again = try await Ledger.open(at: path)
        try await again.catchUp()
        let messages = try again.fetchCount(FetchDescriptor<MessageRow>())
        let digest = try again.maintenance.digest(of: "messages")
        try await again.maintenance.rebuild()
        #expect(
            try again.fetchCount(FetchDescriptor<MessageRow>()) == messages && again.maintenance.digest(of: "messages") == digest)
        #expect(try await again.close(within: .seconds(60)) == 0)
    }

    @Test func `a closed ledger says that it is closed`() async throws {
        let folder = try TemporaryFolder()
        let writer = try await ledger(in: folder, messages: 3)
        try await writer.close()
        var options = LedgerOptions()
        options.access = .readOnly
        let reader = try await Ledger.open(at: folder.path + "/mesh.ledger", options: options)
        try await reader.close()
        for ledger in [writer, reader] {
            func code(_ body: () throws -> Void) -> LedgerError.Code? {
                #expect(throws: LedgerError.self) { try body() }?.code
            }
            #expect(code { _ = try ledger.fetch(FetchDescriptor<MessageRow>()) } == .closed)
            #expect(code { _ = try ledger.nodes() } == .closed)
            #expect(code { _ = try ledger.maintenance.digest(of: "messages") } == .closed)
            #expect(code { _ = try ledger.packets() } == .closed)
            #expect(code { _ = try ledger.consumer(named: "late") } == .closed)
        }
    }

    @Test func `limits and policies that cannot be are refused and stored nowhere`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await ledger(in: folder, messages: 1)
        for bytes in [0, -1] {
            #expect(throws: LedgerError.self) { try ledger.retention.setSizeLimit(SizeLimit(bytes: bytes)) }
            #expect(throws: LedgerError.self) { try ledger.retention.setPolicy(RetentionPolicy(largestBytes: bytes)) }
            #expect(throws: LedgerError.self) { try ledger.retention.setPolicy(RetentionPolicy(longestSeconds: Int64(bytes))) }
        }
        try await ledger.catchUp()
        let past = try ledger.asOf(.sequence(1))
        let error = #expect(throws: LedgerError.self) { try past.retention.setPolicy(RetentionPolicy(longestSeconds: 5)) }
        #expect(error?.code == .readOnly)
        #expect(throws: LedgerError.self) { try past.retention.setSizeLimit(SizeLimit(bytes: 1 << 30)) }
        try await past.close()
        #expect(try ledger.retention.policy() == RetentionPolicy() && ledger.retention.sizeLimit() == SizeLimit())
        try await ledger.close()
        try await Ledger.open(at: folder.path + "/mesh.ledger").close()
    }
}
