import Glibc

/// Identifies the file at a path and its state: it differs after any write, change of rights or replacement.
package struct FileStamp: Sendable, Equatable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    /// In seconds and nanoseconds: of the last write, and of the last change of any kind.
    private let (written, writtenNanoseconds): (Int, Int)
    private let (changed, changedNanoseconds): (Int, Int)

    /// Nil if there is no file.
    package init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        (device, number, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        (written, writtenNanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        (changed, changedNanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    }
}
