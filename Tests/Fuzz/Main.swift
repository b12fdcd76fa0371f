import Foundation
import FuzzKit
import Meshtastic

/// `meshfuzz [COUNT] [--seed N] [--only INDEX]`: runs COUNT mutated packets through all decoders and folds them into all views.
/// `meshfuzz [COUNT] --random [--seed N]`: tries COUNT random payloads under wrong keys, none of which may open.
@main struct Main {
    static func main() async throws {
        var arguments = ArraySlice(CommandLine.arguments.dropFirst())
        var count: UInt64 = 1_000_000
        var seed: UInt64 = 1
        var only: UInt64?
        var isRandom = false
        while let argument = arguments.popFirst() {
            switch argument {
            case "--seed": seed = arguments.popFirst().flatMap { UInt64($0) } ?? seed
            case "--random": isRandom = true
            case "--only": only = arguments.popFirst().flatMap { UInt64($0) }
            default:
                guard let number = UInt64(argument.replacing("_", with: "")), number > 0 else {
                    print("usage: meshfuzz [COUNT] [--seed N] [--only INDEX | --random]")
                    exit(64)
                }
                count = number
            }
        }
        if let only { return try await rerun(only, seed) }
        if isRandom { return try tryRandom(count, seed) }
        let workers = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
        print("fuzzing: \(count) inputs, seed \(seed), \(workers) workers")
        CrashNote.install(workers: Int(workers), seed: seed)
        let start = ContinuousClock.now
        let report = try await run(count, seed, workers)
        show(report, "reached a payload decoder", ContinuousClock.now - start)
        let foldStart = ContinuousClock.now
        let folded = try await fold(count, seed, Int(workers))
        show(folded, "folded into the views of \(ledgers(count)) ledgers; readable", ContinuousClock.now - foldStart)
        exit((report.findings + folded.findings).isEmpty && report.reachedShare >= 0.3 && folded.total.inputs == count ? 0 : 1)
    }

    private static func tryRandom(_ count: UInt64, _ seed: UInt64) throws {
        var payloads = try RandomPayloads(seed: seed)
        for _ in 0..<count { payloads.next() }
        print("\(payloads.count) random payloads, seed \(seed): \(payloads.accepted.count) opened under a wrong key")
        for (port, sealed) in payloads.accepted { print("FOUND port \(port): \(sealed)") }
        let chances = try RandomPayloads.chances(seed: seed, tries: Int(min(count, 10_000_000)))
        print("under the key of its hash, as written: \(chances.asWritten), damaged: \(chances.damaged)")
        exit(payloads.accepted.isEmpty ? 0 : 1)
    }

    private static func ledgers(_ count: UInt64) -> UInt64 {
        (count + FoldFuzzer.inputsPerLedger - 1) / FoldFuzzer.inputsPerLedger
    }

    /// The same inputs, in ledgers: one after the other, since a fold uses all cores. After a trap the note names the ledger's first input.
    private static func fold(_ count: UInt64, _ seed: UInt64, _ workers: Int) async throws -> FuzzReport {
        let fuzzer = try FoldFuzzer(seed: seed)
        var all = FuzzReport()
        for start in stride(from: 0, to: count, by: Int(FoldFuzzer.inputsPerLedger)) {
            for worker in 0..<workers { CrashNote.worker(worker, runs: start) }
            all.merge(try await fuzzer.run(start..<min(count, start + FoldFuzzer.inputsPerLedger)))
        }
        return all
    }

    /// Each worker takes every n-th input.
    private static func run(_ count: UInt64, _ seed: UInt64, _ workers: UInt64) async throws -> FuzzReport {
        try await withThrowingTaskGroup(of: FuzzReport.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    let fuzzer = try Fuzzer(seed: seed)
                    for index in stride(from: worker, to: count, by: Int(workers)) {
                        CrashNote.worker(Int(worker), runs: index)
                        fuzzer.run(index)
                    }
                    return fuzzer.report
                }
            }
            var all = FuzzReport()
            for try await report in group { all.merge(report) }
            return all
        }
    }

    private static func rerun(_ index: UInt64, _ seed: UInt64) async throws {
        let fuzzer = try Fuzzer(seed: seed)
        let input = fuzzer.input(index)
        print("\(input.form), port \(input.port), \(input.bytes.count) bytes: \(Data(input.bytes).base64EncodedString())")
        fuzzer.run(index)
        let folded = try await FoldFuzzer(seed: seed).run(index..<index + 1)
        for finding in fuzzer.report.findings + folded.findings { print("  \(finding.what)") }
        print("ran through; its packet was \(fuzzer.report.total.reached == 1 ? "opened" : "not opened")")
    }

    private static func show(_ report: FuzzReport, _ what: String, _ time: Duration) {
        func percent(_ count: FuzzReport.Count) -> String {
            "\(count.reached) of \(count.inputs) (\(count.reached * 100 / max(count.inputs, 1)) %)"
        }
        for (form, count) in report.byForm.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            print("  \(form): \(percent(count))")
        }
        let blind = report.byPort.filter { $0.key > 0 && $0.value.reached == 0 }.keys.sorted()
        if !blind.isEmpty { print("  ports that no input reached: \(blind)") }
        print(
            "\(what): \(percent(report.total)), in \(time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1))))"
        )
        for finding in report.findings.prefix(20) { print("FOUND at input \(finding.index): \(finding.what)") }
    }
}
