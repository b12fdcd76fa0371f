import FuzzKit
import Testing

struct FuzzedFold {
    @Test func `X6 S19: no fuzzed input stops a projector, and what cannot be decoded is in quarantine`() async throws {
        let report = try await FoldFuzzer(seed: 3).run(0..<20_000)
        #expect(report.findings.isEmpty, "\(report.findings.map { "input \($0.index) of seed 3: \($0.what)" })")
        #expect(report.total.inputs == 20_000 && report.byForm.count == 5)
    }
}
