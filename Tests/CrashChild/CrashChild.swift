import EventLog
import Foundation

/// Another process, which a test stops, kills or lets run into trouble.
///
/// usage: crashchild read LEDGER FILE, begins to read, makes the file and waits to be stopped or killed inside its transaction;
///        crashchild steer LEDGER, see `Steered`
@main
struct CrashChild {
    static func main() async throws {
        if CommandLine.arguments[1] == "steer" { return await Steered(ledger: CommandLine.arguments[2]).run() }
        let log = try EventLog.open(at: CommandLine.arguments[2], options: EventLogOptions(access: .readOnly))
        let reader = try log.beginRead()
        _ = FileManager.default.createFile(atPath: CommandLine.arguments[3], contents: nil)
        while reader.head.rawValue < .max { pause() }
    }
}
