internal import CLMDB
internal import Glibc

extension StorageError: CustomStringConvertible {
    public var description: String { "\(path): \(code.sentence) (\(reason))" }

    /// The call that failed, and the message of the system or LMDB.
    public var reason: String { number == 0 ? call : "\(call): \(systemText)" }

    private var systemText: String {
        guard let text = unsafe mdb_strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text)
    }
}

extension StorageError.Code {
    /// What happened and what to do, to follow the path.
    var sentence: String {
        switch self {
        case .missing: "it does not exist; check the path or create it first"
        case .noSuchTable: "a table that this program needs is missing; the file is of another kind or was only half created"
        case .keyExists: "the key is already stored or does not come after the last one"
        case .sizeLimitReached: "its size limit is reached and nothing was stored; raise the limit or remove data, then retry"
        case .diskFull: "the disk or quota is full and this change was not stored; free some space, then retry"
        case .permission: "access was denied; check the owner and mode of the folder and its files"
        case .readOnly: "it is open for reading only; open it for writing where that is possible"
        case .busy: "something else is using it; wait for that to end, then retry"
        case .alreadyOpen: "this process already has it open; use that handle or close it first"
        case .forked: "it was opened before this process was forked; open ledgers in the child only, or start it as a new process"
        case .networkFileSystem: "it is on a network file system, where shared maps are unsafe; move it to a local disk"
        case .corrupt: "it is damaged or is not a store; nothing was changed; restore it from a copy"
        case .foreign:
            "something else is in its place; nothing was opened or changed; put its own file back, or remove what does not belong to a store"
        case .replaced: "it was moved, removed or replaced while it was open for writing; open the right one"
        case .otherVersion: "another version of the format wrote it; open it with a program of that version"
        case .tooManyReaders: "all reader slots are taken; end some readers, then retry"
        case .closed: "it has been closed; open it again"
        case .superseded: "it was superseded while it was read; ask again"
        case .writesClosed: "an earlier write failed, so it accepts no more writes; close it, reopen it and check its end"
        case .keySize: "a key must have 1 to 511 bytes"
        case .malformedValue: "a stored value is not of the expected form; verify the ledger"
        case .tooManyFiles: "too many files are open; close some or raise the limit on open files (`ulimit -n`), then retry"
        case .outOfMemory: "there is too little memory or address space; free some or raise the limit (`ulimit -v`), then retry"
        case .inputOutput: "reading or writing failed; check the disk and the system's journal"
        case .misuse: "the store was used in a way that cannot work"
        }
    }

    /// The meaning of a number that an LMDB call returned.
    package init(number: Int32) {
        self =
            switch number {
            case MDB_KEYEXIST: .keyExists
            case MDB_MAP_FULL: .sizeLimitReached
            case MDB_READERS_FULL: .tooManyReaders
            case MDB_VERSION_MISMATCH: .otherVersion
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID: .corrupt
            case MDB_PANIC: .writesClosed
            case MDB_BAD_VALSIZE: .keySize
            case MDB_NOTFOUND: .noSuchTable
            case ENOSPC, EDQUOT, EFBIG: .diskFull
            case EACCES, EPERM: .permission
            case EROFS: .readOnly
            case ENOENT, ENOTDIR: .missing
            case EBUSY, EAGAIN: .busy
            case ENOMEM: .outOfMemory
            case EMFILE, ENFILE: .tooManyFiles
            case EINVAL, MDB_BAD_TXN, MDB_BAD_DBI, MDB_BAD_RSLOT, MDB_DBS_FULL, MDB_TXN_FULL, MDB_CURSOR_FULL: .misuse
            default: .inputOutput
            }
    }
}
