internal import LMDB

extension EventLog {
    /// Rewrites the log without the free pages of its file, and returns the space to the file system, while appends and reads continue.
    ///
    /// The new file is a new generation beside the old one and replaces it in one step: an interruption leaves either the old or the
    /// new one. Appends wait for some milliseconds at the end. Readers switch to the new one automatically, also in other processes; the space of
    /// the old one is freed when the last of them has switched. Needs as much free space as the result takes.
    ///
    /// - Throws: `.readOnly`, `.diskFull`, `.closed` when the log is closed meanwhile, `.corrupt` when the copy differs from the original; the log
    ///   is as it was.
    public func compact() async throws(EventLogError) -> LogCompaction {
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        return try await maintenance.perform { () throws(EventLogError) in try ErasureRun(self, maintenance).finish() }
    }

    /// Compacts the log of a ledger that no process, including this one, has open for writing.
    ///
    /// - Parameter summariser: what blocks disclose; used if an interrupted erasure has to rewrite some.
    /// - Throws: `.locked` with the writer's process, and what `compact()` does.
    public static func compact(
        at path: String, summariser: EventSummariser? = nil
    ) async throws(EventLogError) -> LogCompaction {
        let options = EventLogOptions(sealing: SealingPolicy(isAutomatic: false), summariser: summariser)
        let log = try open(at: path, options: options)
        do throws(EventLogError) {
            let compaction = try await log.compact()
            await log.close()
            return compaction
        } catch {
            await log.close()
            throw error
        }
    }
}
