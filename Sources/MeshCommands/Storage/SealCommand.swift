import ArgumentParser
import EventLog
import MeshLedger

struct SealCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Compress the log's events, except the newest few.",
        discussion: """
            Old events are compressed automatically while the ledger is open for writing; this compresses everything possible at once. Nothing
            else changes: every command answers as before. The file does not become smaller: the saved space is used for new events.

              meshledger storage seal
            """)

    @OptionGroup var ledger: LedgerOption

    func run() async throws {
        try await ledger.writing { ledger in
            let before = try await ledger.reading { try $0.log.sealingStatistics() }
            let bar = ProgressBar("sealing")
            try await ledger.seal { progress in
                guard progress.target > before.lastSealed, progress.sealed >= before.lastSealed else { return }
                let (done, all) = (progress.sealed - before.lastSealed, progress.target - before.lastSealed)
                bar.show(fraction: Double(done) / Double(all), done: done, unit: "events")
            }
            bar.end()
            let after = try await ledger.reading { try $0.log.sealingStatistics() }
            for line in Self.report(before, after) { StandardOutput().line(line) }
        }
    }

    /// Retention may have dropped events in the meantime, including sealed ones, so there may be fewer than before.
    static func report(_ before: SealingStatistics, _ after: SealingStatistics) -> [String] {
        let count = after.sealedEvents > before.sealedEvents ? after.sealedEvents - before.sealedEvents : 0
        let (sealed, hot) = (after.sealedEvents.counted("is", "are"), after.hotEvents.counted("is", "are"))
        let line = "\(count.counted("event")) sealed; \(sealed) sealed now, \(hot) not"
        let (freed, taken) = (before.hotBytes - after.hotBytes, after.sealedBytes - before.sealedBytes)
        guard count > 0, freed >= 0, taken >= 0 else { return [line] }
        return [
            line,
            "they took \(freed.counted("byte")) and take \(taken.grouped) now; \(max(0, freed - taken).counted("byte is", "bytes are")) free for new events",
        ]
    }
}
