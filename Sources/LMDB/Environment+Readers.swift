internal import CLMDB
internal import Glibc

/// An open read transaction of any process.
public struct OpenRead: Sendable, Hashable {
    public let process: Int32
    /// The number of the commit that it reads; pages that later ones replaced cannot be reused before it ends.
    public let transaction: Int
}

extension Environment {
    /// The read transactions that are open now.
    ///
    /// - Parameter clearingStale: whether to free the slots of dead processes first; otherwise they are listed too.
    /// - Throws: `.closed`, `.forked`, and errors of the lock file.
    public func openReads(clearingStale: Bool = true) throws(StorageError) -> [OpenRead] {
        if clearingStale { try clearStaleReaders() }
        try enter(forWriting: false)
        defer { leave() }
        var text: [UInt8] = []
        let result = unsafe withUnsafeMutablePointer(to: &text) { place in
            unsafe mdb_reader_list(
                handle,
                { line, place in
                    guard let line = unsafe line, let place = unsafe place else { return 0 }
                    let bytes = unsafe UnsafeRawBufferPointer(start: line, count: strlen(line))
                    unsafe place.assumingMemoryBound(to: [UInt8].self).pointee.append(contentsOf: bytes)
                    return 0
                }, place)
        }
        guard result >= 0 else { throw StorageError(.init(number: result), call: "mdb_reader_list", path: path, number: result) }
        // Process, thread and commit; idle readers have a dash instead of the commit.
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, let process = Int32(words[0]), let transaction = Int(words[2]) else { return nil }
            return OpenRead(process: process, transaction: transaction)
        }
    }
}
