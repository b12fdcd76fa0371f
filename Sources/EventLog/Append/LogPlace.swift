internal import LMDB

/// Whether the log that a writer has open is still the one at its path: it must acknowledge nothing that no later command would find.
struct LogPlace: Sendable {
    private let folder: LogFolder
    private let lock: WriterLock
    /// The state of `log/current` when it was last read, and the generation that it named; nil until an interrupted `init` goes on.
    private var named: (state: FileStamp, generation: UInt32)?

    private static let meansLost: Set<EventLogError.Code> = [.missing, .notALog, .corrupt, .newerFormat, .olderFormat, .foreign]

    init(_ path: String, _ lock: WriterLock) {
        folder = LogFolder(path: path)
        self.lock = lock
    }

    /// What is no longer there, or is another; nil if all is in place.
    mutating func fault(_ environment: Environment) -> String? {
        guard lock.isInPlace(at: folder.lockPath) else { return "LOCK is another file or is gone" }
        guard environment.isInPlace else { return "the file of the log is another file or is gone" }
        guard let state = FileStamp(folder.currentPath) else {
            return named == nil ? nil : "log/current, which names the log, is gone"
        }
        if named?.state != state {
            do throws(EventLogError) {
                named = (state, try folder.readCurrent())
            } catch {
                // Otherwise it cannot be read just now, as where too many files are open: the next commit tries again.
                return Self.meansLost.contains(error.code) ? "log/current no longer names the log" : nil
            }
        }
        guard let named, folder.environmentPath(generation: named.generation) != environment.path else { return nil }
        return "log/current names generation \(named.generation), which is another log"
    }
}
