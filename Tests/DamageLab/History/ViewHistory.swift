import EventLog
import Foundation
import Glibc
import MeshLedger
import TestKit

/// One ledger: processes that use it and are killed, then one that ends, then what its views hold against a fold of all events, or of
/// sealed blocks.
struct ViewHistory {
    private let seed: UInt64
    private let scratch: ScratchFolder
    private var path: String { scratch.path + "/mesh.ledger" }

    init(seed: UInt64) throws {
        self.seed = seed
        scratch = try ScratchFolder()
    }

    func run() async throws -> HistoryTally {
        var random = SeededGenerator(seed: ~seed)
        var tally = HistoryTally(histories: 1)
        var life: UInt64 = 0
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let (end, errors) = try Child.run(
                Child.program, ["history-child", "path=\(path)", "seed=\(seed)", "life=\(life)"], patience: 600
            ) { _ in }
            switch end {
            case .exited(0): break
            case .signalled(SIGKILL): tally.kills += 1
            default: throw Failure("life \(life): \(end), \(errors)")
            }
            life += 1
        }
        var last = try await HistoryLife(path: path, seed: seed, life: life)
        var ledger = try await last.run(isMortal: false)
        tally.steps = last.steps
        tally.events = Int(ledger.log.head.rawValue)
        try await ledger.catchUp()
        let step = try digests(ledger)
        if Bool.random(using: &random) {
            try await ledger.log.seal()
            guard try ledger.log.sealingStatistics().sealedEvents > 0 else { throw Failure("nothing is sealed") }
            try await ledger.maintenance.rebuild()
            try expect(digests(ledger), step, "a fold of sealed blocks")
            tally.sealed = 1
        } else {
            let options = last.options()
            try await ledger.close()
            try FileManager.default.removeItem(atPath: path + "/views")
            ledger = try await Ledger.open(at: path, options: options)
            try await ledger.catchUp()
            try expect(digests(ledger), step, "one fold of all events")
        }
        try await ledger.close()
        return tally
    }

    private func digests(_ ledger: Ledger) throws -> [String] {
        try Ledger.viewNames.map { try ledger.maintenance.digest(of: $0) }
    }

    private func expect(_ found: [String], _ wanted: [String], _ origin: String) throws {
        let views = zip(Ledger.viewNames, zip(found, wanted)).filter { $1.0 != $1.1 }.map(\.0)
        guard views.isEmpty else {
            throw Failure("\(views.joined(separator: ", ")): step by step they are other rows than by \(origin)")
        }
    }
}
