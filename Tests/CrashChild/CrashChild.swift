import EventLog
import Foundation

/// Another process, which a test stops, kills or lets run into trouble.
///
/// usage: crashchild read LEDGER FILE, begins to read, makes the file and waits to be stopped or killed inside its transaction;
///        crashchild append LEDGER, appends one event after the other until it is killed, and says when it has begun
///        crashchild create LEDGER, creates a log; crashchild make LEDGER, builds one under a temporary name first
///        crashchild checkpoint LEDGER, creates a log of one event and signs a checkpoint of it
///        crashchild steer LEDGER, see `Steered`
@main
struct CrashChild {
    static func main() async throws {
        if CommandLine.arguments[1] == "steer" { return await Steered(ledger: CommandLine.arguments[2]).run() }
        if ["create", "make", "checkpoint"].contains(CommandLine.arguments[1]) { return await create(CommandLine.arguments[2]) }
        if CommandLine.arguments[1] == "append" { return try await append(CommandLine.arguments[2]) }
        let log = try EventLog.open(at: CommandLine.arguments[2], options: EventLogOptions(access: .readOnly))
        let reader = try log.beginRead()
        _ = FileManager.default.createFile(atPath: CommandLine.arguments[3], contents: nil)
        while reader.head.rawValue < .max { pause() }
    }

    private static func create(_ ledger: String) async {
        do throws(EventLogError) {
            if CommandLine.arguments[1] == "create" { return await (try EventLog.create(at: ledger)).close() }
            if CommandLine.arguments[1] == "checkpoint" {
                let log = try EventLog.create(at: ledger)
                try await log.append(NewEvent([1], encoding: .note, source: .log))
                _ = try log.checkpoint()
                return await log.close()
            }
            try await EventLog.make(at: ledger, suffix: "new") { path throws(EventLogError) in
                await (try EventLog.create(at: path)).close()
            }
        } catch {
            FileHandle.standardOutput.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func append(_ ledger: String) async throws {
        let log = try EventLog.open(at: ledger)
        let event = NewEvent([1, 2, 3], encoding: .note, source: .log)
        try await log.append([event])
        FileHandle.standardOutput.write(Data("stored\n".utf8))
        while true { try await log.append([event]) }
    }
}
