import EventLog
import Foundation
import Glibc
import MeshLedger
import Meshtastic
import ProtobufWire

/// Appends from some tasks while older events are sealed, until it is killed, and prints each append that returned: `SEQUENCE TASK NUMBER`.
///
/// Does `work` beside them, over and over: `rebuild` the views, `compact` the log, or `erase` events, of which `erased SEQUENCE` is printed when it is
/// done.
struct KillWriter {
    private let path: String
    private let start: UInt32
    private let tasks: UInt32
    private let end: UInt32
    private let work: String

    init(_ options: Options) throws {
        path = try options.text("path")
        start = UInt32(try options.number("start", 0))
        tasks = UInt32(try options.number("tasks", 8))
        end = start + UInt32(try options.number("count", 90_000))
        work = options.text("work", "")
    }

    func run() async throws {
        var options = LedgerOptions()
        options.log.sealing = SealingPolicy(hotEvents: 0)
        let ledger = try await Ledger.open(at: path, options: options)
        let source = try await ledger.log.source(named: "crash test")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await perform(ledger) }
            for task in 0..<tasks {
                group.addTask {
                    for number in start..<end {
                        let event = NewEvent(
                            Self.envelope(task: task, number: number), encoding: .serviceEnvelope, source: source)
                        let sequence = try await ledger.log.append(event)
                        say("\(sequence.rawValue) \(task) \(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        try await ledger.close()
    }

    private func perform(_ ledger: Ledger) async throws {
        var next = UInt64(start)
        while true {
            switch work {
            case "rebuild": try await ledger.maintenance.rebuild()
            case "compact": _ = try await ledger.log.compact()
            case "erase":
                next = next &* 0x5851_f42d_4c95_7f2d &+ 0x1405_7b7e_f767_814f
                let sequence = EventSequence((next >> 33) % max(ledger.log.head.rawValue, 1) + 1)
                do throws(LedgerError) {
                    try await ledger.erasure.erase(.sequences([sequence...sequence]), reason: "crash test")
                    say("erased \(sequence)")
                } catch {
                    guard error.code == .notErasable else { throw error }
                }
            default: return
            }
        }
    }

    /// A text, or a position, that names the task and the number.
    static func envelope(task: UInt32, number: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, 0x1000 + task)
            packet.fixed32(2, NodeID.broadcast)
            packet.message(4) { data in
                data.varint(1, UInt64(number % 2 == 0 ? Port.text : Port.position))
                if number % 2 == 0 {
                    data.bytes(2, Array("task \(task) number \(number)".utf8))
                } else {
                    data.message(2) { position in
                        position.fixed32(1, number)
                        position.fixed32(2, task + 1)
                    }
                }
            }
            packet.fixed32(6, number + 1)
        }
        writer.string(2, "LongFast")
        writer.string(3, "!00000001")
        return writer.bytes
    }
}

/// Reads all events, as another process does, and then those that come, while others write, are killed and rewrite the log. Ends with status 1 at
/// anything wrong.
struct KillReader {
    private let path: String

    init(_ options: Options) throws { path = try options.text("path") }

    func run() async throws {
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        var last = EventSequence.zero
        for await range in log.subscribe(after: .zero, batch: 1000) {
            var next = range.lowerBound
            guard next == last.advanced(by: 1) else { throw Failure("\(range) comes after \(last)") }
            for event in try log.events(in: range) {
                guard event.sequence == next else { throw Failure("\(event.sequence) comes where \(next) should") }
                next = next.advanced(by: 1)
            }
            guard next == range.upperBound.advanced(by: 1) else { throw Failure("\(range) ends with \(next)") }
            last = range.upperBound
            say("at \(last)")
        }
    }
}
