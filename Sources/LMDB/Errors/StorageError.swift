/// An error of the store: which call failed, on which file, and what to do about it.
public struct StorageError: Error, Sendable, Equatable {
    /// The kinds of failure that a caller may want to distinguish.
    public enum Code: Sendable, Equatable {
        /// The file or folder does not exist.
        case missing
        /// A table of this name does not exist.
        case noSuchTable
        /// The key already exists (`.noOverwrite`), or does not come after the last one (`.append`).
        case keyExists
        /// The size that the policy allows is used up. Nothing of the transaction was stored.
        case sizeLimitReached
        /// The disk or the quota is full. Nothing of the transaction was stored.
        case diskFull
        /// The system refuses access to the file.
        case permission
        /// A write to a read-only environment or file system.
        case readOnly
        /// This process or another one has it open, or is doing something that excludes the operation.
        case busy
        /// This process already has the same environment open.
        case alreadyOpen
        /// The environment was opened before this process was forked.
        case forked
        /// The folder is on a network file system, where locks and the shared map do not work.
        case networkFileSystem
        /// The file is damaged, or has unexpected contents.
        case corrupt
        /// Something else is in the place of a file or folder: a link, a FIFO, another user's file. It was not opened.
        case foreign
        /// Its folder was moved, removed or replaced while it was open.
        case replaced
        /// The file was written by another version of the format.
        case otherVersion
        /// Every reader slot is taken.
        case tooManyReaders
        /// The environment has been closed.
        case closed
        /// The environment has been closed because its contents are built again.
        case superseded
        /// A write or sync failed, so this handle refuses writes until it has been reopened.
        case writesClosed
        /// A key of 0 or more than 511 bytes.
        case keySize
        /// The stored bytes are not a value of the expected type.
        case malformedValue
        /// The process or the system has no file descriptors left.
        case tooManyFiles
        /// Too little memory or address space.
        case outOfMemory
        /// Any other failure of the system's input and output.
        case inputOutput
        /// The API was used in a way that cannot work.
        case misuse
    }

    public let code: Code
    /// The call that failed, such as `mdb_txn_commit`.
    public let call: String
    /// The environment's folder or file.
    public let path: String
    /// The error number: negative from LMDB, an `errno` when positive, 0 for a check of our own.
    public let number: Int32

    public init(_ code: Code, call: String, path: String, number: Int32 = 0) {
        self.code = code
        self.call = call
        self.path = path
        self.number = number
    }
}
