import FuzzKit
import Testing

@Suite struct DecoderFuzzTests {
    @Test func `mutated packets of every port and form go through all decoders`() throws {
        let fuzzer = try Fuzzer(seed: 2)
        for index in UInt64(0)..<4000 { fuzzer.run(index) }
        let report = fuzzer.report
        #expect(report.findings.isEmpty, "\(report.findings.map { "input \($0.index) of seed 2: \($0.what)" })")
        #expect(report.reachedShare >= 0.3 && report.byForm.count == 5)
        #expect(!report.byPort.contains { $0.key > 0 && $0.value.reached == 0 })
    }
}
