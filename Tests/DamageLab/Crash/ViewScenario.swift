import EventLog
import Foundation
import Glibc
import MeshLedger
import TestKit

/// A writer's life under the shim whose views are flushed, rebuilt and swapped. Sequences of appends that returned go to the file `acks`.
struct ViewScenario {
    private let path: String
    private let seed: UInt64
    private let appends: Int

    init(_ options: Options) throws {
        path = try options.text("path")
        seed = UInt64(try options.number("seed", 1))
        appends = try options.number("appends", 12)
    }

    func run() async throws {
        let acks = unsafe Glibc.open(path + "/acks", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard acks >= 0 else { throw Failure("no acks") }
        var generator = SeededGenerator(seed: seed)
        var ledger = try await Ledger.open(at: path)
        var number: UInt32 = 1
        for _ in 0..<appends {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                try await ledger.maintenance.rebuild()
            case 1:
                try await ledger.close()
                ledger = try await Ledger.open(at: path)
            case 2, 3:
                try await ledger.flush()
            default:
                let count = UInt32([1, 5, 60][Int.random(in: 0..<3, using: &generator)])
                let source = try await ledger.log.source(named: "crash test")
                let events = (number..<number + count).map {
                    NewEvent(KillWriter.envelope(task: $0 % 5, number: $0), encoding: .serviceEnvelope, source: source)
                }
                number += count
                try await ledger.log.append(events)
                let text = Array("\(ledger.log.head.rawValue)\n".utf8)
                _ = unsafe text.withUnsafeBytes { unsafe write(acks, $0.baseAddress, $0.count) }
            }
        }
        try await ledger.close()
    }

    static func makeBase(at path: String) async throws {
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "before")
        try await ledger.log.append(
            (0..<80).map { NewEvent(KillWriter.envelope(task: 9, number: $0), encoding: .serviceEnvelope, source: source) })
        try await ledger.close()
    }
}
