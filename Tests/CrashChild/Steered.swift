import EventLog
import Foundation
import Glibc

/// Does with a log what the lines of its standard input say, and answers each with one line: `append`, `large` (an append of a megabyte), `read`
/// (how many events), `compact`, `reopen`, `files` (no more files may be opened) and `files again`,
/// `condition`, `end`.
struct Steered {
    let ledger: String

    func run() async {
        var log: EventLog?
        var token: AppendToken?
        log = try? EventLog.open(at: ledger)  // the first answer tells
        while let line = readLine(), line != "end" {
            do {
                guard let current = log else { throw EventLogError(.missing, path: ledger) }
                switch line {
                case "append", "large":
                    let bytes = [UInt8](repeating: 7, count: line == "large" ? 1 << 20 : 100)
                    let event = NewEvent(bytes, encoding: .note, source: .log)
                    let range = try await current.append([event], token: token)
                    token = nil
                    say("stored \(range.map { "\($0.upperBound)" } ?? "-")")
                case "read": say("read \(try current.events(in: EventSequence(1)...EventSequence(1 << 20)).count)")
                case "reopen":
                    await current.close()
                    log = try EventLog.open(at: ledger)
                    say("open")
                case "files": say("limited \(limitFiles(toUsed: true))")
                case "files again": say("limited \(limitFiles(toUsed: false))")
                case "compact": say("compacted \(try await current.compact().generation)")
                case "condition":
                    let condition = current.condition()
                    say(
                        "\(condition?.failedCommits ?? 0) \(condition?.isDegraded ?? false) \(condition?.areWritesClosed ?? false)"
                    )
                default: say("unknown")
                }
            } catch {
                token = (error as? EventLogError)?.token ?? token
                say("failed \((error as? EventLogError).map { "\($0.code)" } ?? "other") \(error)")
            }
        }
        await log?.close()
    }

    /// Allows no more files than are open, or as many as the system does.
    private func limitFiles(toUsed: Bool) -> Int32 {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = toUsed ? 3 : limit.rlim_max
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private func say(_ text: String) {
        let line = Array((text.split(separator: "\n").joined(separator: " ") + "\n").utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }
}
