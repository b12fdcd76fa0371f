import Foundation
import MeshLedger
import QueryKit

/// `querylab [COUNT] [--seed N] [--sql]`: runs COUNT random queries against closures over all rows, or as SQL against plain tables of the same rows.
@main struct Main {
    static func main() async throws {
        var arguments = ArraySlice(CommandLine.arguments.dropFirst())
        var isSQL = false
        var (count, seed): (UInt64, UInt64) = (1_000_000, UInt64.random(in: 1...999_999))
        while let argument = arguments.popFirst() {
            if argument == "--seed", let number = arguments.popFirst().flatMap({ UInt64($0) }) {
                seed = number
            } else if argument == "--sql" {
                isSQL = true
            } else if let number = UInt64(argument.replacing("_", with: "")), number > 0 {
                count = number
            } else {
                print("usage: querylab [COUNT] [--seed N] [--sql]")
                exit(64)
            }
        }
        if isSQL { return try await proveSQL(count, seed) }
        let proofs = try await QueryProofs(packets: 300, seed: seed)
        print(
            "\(count) queries, seed \(seed); rows: " + proofs.proofs.map { "\($0.view) \($0.rowCount)" }.joined(separator: ", "))
        let workers = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
        let (all, start) = (seed, ContinuousClock.now)
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
            for worker in 0..<workers {
                let numbers = count * worker / workers..<count * (worker + 1) / workers
                group.addTask { try proofs.run(numbers, seed: all) }
            }
            var failures: [String] = []
            for try await found in group { failures += found }
            return failures
        }
        try await proofs.ledger.close()
        for failure in failures { print(failure) }
        print("\(failures.isEmpty ? "all as the closures say" : "\(failures.count) FAILED"), \(ContinuousClock.now - start)")
        exit(failures.isEmpty ? 0 : 1)
    }

    private static func proveSQL(_ count: UInt64, _ seed: UInt64) async throws {
        let proofs = try await SQLProofs(packets: 600, seed: seed)
        print("\(count) queries, seed \(seed); rows: " + proofs.tables.map { "\($0.name) \($0.rows)" }.joined(separator: ", "))
        let start = ContinuousClock.now
        let failures = proofs.run(0..<count, seed: seed)
        try await proofs.ledger.close()
        for failure in failures { print(failure) }
        print(
            "\(failures.isEmpty ? "all as SQLite's own tables say" : "\(failures.count) FAILED"), \(ContinuousClock.now - start)")
        exit(failures.isEmpty ? 0 : 1)
    }
}
