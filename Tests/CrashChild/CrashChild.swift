import EventLog
import Foundation
import MeshViews
import Meshtastic
import ProtobufWire

/// Appends from some tasks until it is killed, while older events are sealed, and prints each append that returned:
/// `SEQUENCE TASK NUMBER`.
///
/// usage: crashchild LEDGER START [TASKS [COUNT]], by default eight tasks that append without end;
///        crashchild read LEDGER FILE, begins to read, makes the file and waits to be killed;
///        crashchild steer LEDGER, see `Steered`
@main
struct CrashChild {
    static func main() async throws {
        if CommandLine.arguments[1] == "read" { return try read(CommandLine.arguments[2], CommandLine.arguments[3]) }
        if CommandLine.arguments[1] == "steer" { return await Steered(ledger: CommandLine.arguments[2]).run() }
        var options = LedgerOptions()
        options.log.sealing = SealingPolicy(hotEvents: 0)
        let ledger = try await Ledger.open(at: CommandLine.arguments[1], options: options)
        let start = UInt32(CommandLine.arguments[2]) ?? 0
        let tasks = argument(3) ?? 8
        let end = argument(4).map { start + $0 } ?? .max
        let source = try await ledger.log.source(named: "crash test")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in start..<end {
                        let event = NewEvent(
                            envelope(task: task, number: number), encoding: .serviceEnvelope, source: source)
                        let sequence = try await ledger.log.append(event)
                        let line = Array("\(sequence.rawValue) \(task) \(number)\n".utf8)
                        _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await ledger.close()
    }

    private static func read(_ ledger: String, _ file: String) throws {
        let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
        let reader = try log.beginRead()
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        while reader.head.rawValue < .max { pause() }
    }

    private static func argument(_ place: Int) -> UInt32? {
        CommandLine.arguments.count > place ? UInt32(CommandLine.arguments[place]) : nil
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
