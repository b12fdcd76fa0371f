internal import Glibc

/// The data file of an environment, read page by page and without LMDB: no content of the file can crash a reader.
///
/// Safe: the descriptor is private and open until deinit.
package final class DataFile: Sendable {
    /// In bytes: the size of LMDB's pages here.
    package static let pageSize = 4096
    /// In bytes: no environment reserves more.
    static let largestSize = 1 << 40

    package let path: String
    /// In bytes, when it was opened.
    package let size: Int
    private let descriptor: Int32

    /// Whole pages in the file.
    package var pageCount: UInt64 { UInt64(size / Self.pageSize) }

    package init(_ path: String) throws(StorageError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw StorageError(.init(number: errno), call: "open", path: path, number: errno) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw StorageError(.init(number: number), call: "fstat", path: path, number: number)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw StorageError(.corrupt, call: "it is not a file", path: path)
        }
        self.path = path
        self.descriptor = descriptor
        size = Int(status.st_size)
    }

    deinit { Glibc.close(descriptor) }

    /// Fills `bytes` with `count` bytes from `offset` on.
    /// - Returns: false if the file has fewer, or the disk cannot read them.
    package func read(_ count: Int, at offset: Int, into bytes: inout [UInt8]) -> Bool {
        guard count >= 0, offset >= 0, offset <= size, count <= size - offset else { return false }
        if bytes.count != count { bytes = [UInt8](repeating: 0, count: count) }
        return unsafe bytes.withUnsafeMutableBytes { room in
            var done = 0
            while done < count {
                let part = unsafe pread(descriptor, room.baseAddress.map { unsafe $0 + done }, count - done, off_t(offset + done))
                if part < 0 && errno == EINTR { continue }
                guard part > 0 else { return false }
                done += part
            }
            return true
        }
    }

    /// Reads one page. False if the file has no such page.
    package func readPage(_ number: UInt64, into bytes: inout [UInt8]) -> Bool {
        guard number < pageCount else { return false }
        return read(Self.pageSize, at: Int(number) * Self.pageSize, into: &bytes)
    }
}
