import MeshLedger
import QueryKit
import TestKit
import Testing

/// `Tools/prove queries` runs a million.
@Suite(.timeLimit(.minutes(15))) struct RandomQueries {
    @Test func `K16 G6 G8 G9: random queries over all views give what closures over all rows give`() async throws {
        #if DEBUG
            let quarter: UInt64 = 500
        #else
            let quarter: UInt64 = 5_000
        #endif
        let seed = UInt64.random(in: 1...999_999)
        let proofs = try await QueryProofs(packets: 150, seed: seed)
        #expect(proofs.proofs.count >= 5)
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
}
