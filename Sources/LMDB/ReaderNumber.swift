internal import CLMDB
internal import Glibc
internal import Synchronization

/// The number that identifies this process in LMDB's table of readers: its process id.
///
/// Two processes have the same number if they run in separate containers (PID namespaces). LMDB refuses to let the second one read, and would free
/// the slots of the first when the second closes. So the second one takes a number that no process has. LMDB has no call for that; it is written
/// where LMDB 0.9 keeps it, after checking that everything around it is as expected.
enum ReaderNumber {
    static let attempts = 4

    /// The environments, by their addresses, that use another number than the process id.
    private static let others = Mutex<Set<UInt>>([])

    static var own: Int32 { getpid() }

    /// One that no process has: Linux assigns none of 2^22 or more.
    static func other() -> Int32 { .random(in: 1 << 30 ... .max) }

    /// Whether no other process reads under this environment's number. If so, this process claims it until the environment is closed.
    static func isFree(_ handle: OpaquePointer) -> Bool {
        var transaction: OpaquePointer?
        let number = unsafe mdb_txn_begin(handle, nil, UInt32(bitPattern: MDB_RDONLY), &transaction)
        guard number == MDB_SUCCESS else { return number != EAGAIN && number != EACCES }  // the first read reports other errors
        unsafe mdb_txn_abort(transaction)
        return true
    }

    /// Makes an environment that was created, but not opened, use another number.
    static func take(_ number: Int32, _ handle: OpaquePointer, _ path: String) throws(StorageError) {
        let words = unsafe words(handle)
        var places: UInt32 = 0
        guard unsafe mdb_env_get_maxreaders(handle, &places) == MDB_SUCCESS, unsafe isKnown(words, places) else {
            throw StorageError(
                .init(number: EAGAIN), call: "a process in another container has the number \(getpid()), too", path: path,
                number: EAGAIN)
        }
        unsafe words[Word.process] = number
        others.withLock { _ = $0.insert(UInt(bitPattern: handle)) }
    }

    /// Closes an environment. One with another number must not free the slots of the process that has the same id: it frees its own with
    /// each transaction.
    static func close(_ handle: OpaquePointer) {
        if others.withLock({ $0.remove(UInt(bitPattern: handle)) != nil }) { unsafe words(handle)[Word.placesToFree] = 0 }
        unsafe mdb_env_close(handle)
    }

    /// The places of `struct MDB_env`, in words of four bytes: three files, flags, two sizes of pages, then these.
    private enum Word {
        static let (places, placesToFree, tables, process) = (6, 7, 8, 10)
    }

    private static func words(_ handle: OpaquePointer) -> UnsafeMutablePointer<Int32> {
        unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: Int32.self)
    }

    /// Whether everything is where it is expected in an environment that is not open: no files, the readers' slots as they were set, LMDB's own two tables.
    private static func isKnown(_ words: UnsafeMutablePointer<Int32>, _ places: UInt32) -> Bool {
        unsafe words[0] == -1 && words[1] == -1 && words[2] == -1 && words[Word.places] == Int32(bitPattern: places)
            && words[Word.placesToFree] == 0 && words[Word.tables] == 2 && words[Word.process] == getpid()
    }
}
