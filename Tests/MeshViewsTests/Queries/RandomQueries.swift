import Foundation
import MeshLedger
import Meshtastic
import QueryKit
import TestKit
import Testing
import ViewQuery

/// `Tools/prove queries` runs a million.
@Suite(.timeLimit(.minutes(40))) struct RandomQueries {
    @Test func `K16 G6 G8 G9: random queries over all views give what closures over all rows give`() async throws {
        #if DEBUG
            let quarter: UInt64 = 500
        #else
            let quarter: UInt64 = 5_000
        #endif
        let seed = UInt64.random(in: 1...999_999)
        let proofs = try await QueryProofs(packets: 150, and: Self.withoutStrength, seed: seed)
        #expect(proofs.proofs.count >= 5)
        #expect(try proofs.ledger.fetch(FetchDescriptor<PositionRow>()).contains { $0.snr.isNaN })
        #expect(try proofs.ledger.fetch(FetchDescriptor<NodeRow>()).contains { $0.snr.isNaN })
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for part in 0..<4 as Range<UInt64> {
                group.addTask { try proofs.run(part * quarter..<(part + 1) * quarter, seed: seed) }
            }
            var failures: [String] = []
            for try await found in group { failures += found }
            return failures
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
        try await proofs.ledger.close()
    }

    /// Positions whose signal's strength is NaN, between others.
    private static let withoutStrength = (1...6 as ClosedRange<UInt32>).map { number in
        let place = MeshPacketBuilder.position(Int32(number) * 10_000_000, 80_000_000)
        return MeshPacketBuilder(
            from: 0x2000_0000 + number / 2, id: number, port: Port.position, payload: place, snr: number % 3 == 0 ? 4 : .nan
        ).envelope()
    }

    @Test func `without a row no query holds`() async throws {
        let proofs = try await QueryProofs(packets: 0, seed: 1)
        #expect(try proofs.proofs.isEmpty && proofs.run(0..<3, seed: 1) == ["no view of seed 1 has a row"])
        try await proofs.ledger.close()
    }
}
