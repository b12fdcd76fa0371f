public import LMDB

/// An error of the log: what was attempted, on which file, why it failed, and what to do.
public struct EventLogError: Error, Sendable {
    public enum Code: Sendable, Hashable, CaseIterable {
        /// There is no log at the path.
        case missing
        /// The file is not a recording of a log.
        case notARecording
        /// There is no backup at the path.
        case missingBackup
        /// The folder is not a backup of a log.
        case notABackup
        /// Two logs, or a log and a recording, have different contents for the same event.
        case forked
        /// A link, a FIFO or something else is in the place of a file of the ledger; it was not opened.
        case foreign
        /// The ledger was moved, removed or replaced while it was open for writing: the last appends are not in the ledger that is at the path now.
        case replaced
        /// Something else is where the log should be.
        case notALog
        /// The path for a new log already exists.
        case exists
        /// A folder or file cannot be created there.
        case cannotCreate
        /// A newer program wrote the log; nothing was changed.
        case newerFormat
        /// A version from before the first release wrote the log; nothing was changed.
        case olderFormat
        /// Another writer has the log open; `holder` is its process.
        case locked
        /// A process is writing to the log, and this user may not write the lock file, which reading beside a writer requires.
        case writerRunning
        /// This process already has the log open.
        case alreadyOpen
        case permission
        /// An append to a log that is open for reading only.
        case readOnly
        case networkFileSystem
        /// The file is damaged; nothing was changed.
        case corrupt
        /// The policy's size limit is reached; nothing of the append was stored. `holder` is the process, if known, whose reading keeps
        /// freed space from being reused.
        case sizeLimitReached
        /// The disk or the quota is full; nothing of the append was stored.
        case diskFull
        /// A write or sync failed, and it is unknown whether the events are on disk. Reopen the log and append them
        /// again with `token`: nothing is added twice.
        case outcomeUnknown
        /// An earlier write failed, so this append was not attempted: reopen the log and append again.
        case writesClosed
        /// The log has been closed, so nothing was stored.
        case closed
        /// The payload or the batch is larger than the log accepts.
        case tooLarge
        /// The queue is full and the caller chose not to wait.
        case queueFull
        /// The process that writes to the log on behalf of this one ended or stopped answering; `holder` is that process. It is
        /// unknown whether the events of the last append are stored.
        case writerGone
        /// The stored cursor is not the one that the append continues from; nothing of the append was stored.
        case cursorMoved
        /// The log has fewer events than requested.
        case tooFewEvents
        /// The events cannot be erased; `detail` has the reason.
        case notErasable
        /// The event has an encoding that only the log itself writes under its own name.
        case reserved
        /// Retention has dropped the event.
        case beyondRetention
        /// The log already has another cut, or cannot be cut there; `detail` has the reason.
        case notCuttable
        /// The name is not valid for a consumer.
        case consumerName
        /// The name cannot be a log's in signed notes.
        case originName
        /// There is no consumer with that name.
        case missingConsumer
        /// The consumer is already running; `holder` is its process.
        case consumerHeld
        /// The consumer's position cannot be right in this log.
        case consumerAhead
        /// Any other failure of the store; see `cause`.
        case storage
        /// The reader of the output has ended.
        case readerGone
        /// An append from within an enumeration that does not allow it; nothing was stored.
        case mutationDuringEnumeration
    }

    public let code: Code
    /// The ledger's folder or the file that failed.
    public let path: String
    /// What exactly was found, if there is more to say than the code.
    public let detail: String?
    public let cause: StorageError?
    /// With `.outcomeUnknown`: the token to append the same events with after reopening the log.
    public let token: AppendToken?
    /// With `.locked` and `.writerGone`: the process that has the log open, if it is known. With `.consumerHeld`: the process that runs the consumer.
    public let holder: Int32?

    public init(
        _ code: Code, path: String, detail: String? = nil, cause: StorageError? = nil, token: AppendToken? = nil,
        holder: Int32? = nil
    ) {
        self.code = code
        self.path = path
        self.detail = detail
        self.cause = cause
        self.token = token
        self.holder = holder
    }

    /// Maps an error of the store.
    package init(_ cause: StorageError) {
        let code: Code =
            switch cause.code {
            case .missing: .missing
            case .permission: .permission
            case .readOnly: .readOnly
            case .alreadyOpen: .alreadyOpen
            case .networkFileSystem: .networkFileSystem
            case .foreign: .foreign
            case .replaced: .replaced
            case .corrupt, .noSuchTable, .malformedValue: .corrupt
            case .sizeLimitReached: .sizeLimitReached
            case .diskFull: .diskFull
            case .writesClosed: .writesClosed
            case .closed: .closed
            default: .storage
            }
        self.init(code, path: cause.path, cause: cause)
    }
}

/// Identifies an append whose outcome is unknown: the sequence that its first event would have, and that event's checksum.
///
/// Appending the same events with the token adds them only if they are not there.
public struct AppendToken: Sendable, Hashable {
    package let first: UInt64
    package let checksum: UInt64

    package init(first: UInt64, checksum: UInt64) {
        self.first = first
        self.checksum = checksum
    }
}

/// Runs `body` and maps its errors to the log's.
package func storing<Result: ~Copyable>(_ body: () throws(StorageError) -> Result) throws(EventLogError) -> Result {
    do throws(StorageError) {
        return try body()
    } catch {
        throw EventLogError(error)
    }
}
