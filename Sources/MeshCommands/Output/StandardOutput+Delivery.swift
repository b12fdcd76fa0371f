import Foundation

extension StandardOutput {
    /// How often it looks whether a reader has taken what it was given: at first, and at most.
    private static let delays = (shortest: Duration.microseconds(200), longest: Duration.milliseconds(20))

    /// Ends the line that an interrupted command, or a full disk, has left unfinished at the end of the file.
    func endTornLine() {
        var state = stat()
        guard unsafe fstat(descriptor, &state) == 0, state.st_mode & S_IFMT == S_IFREG, state.st_size > 0 else { return }
        let file = unsafe open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        var last = UInt8(ascii: "\n")
        // Only where the next line would follow it, not in a file that is written over from its beginning.
        guard fcntl(descriptor, F_GETFL) & O_APPEND != 0 || lseek(descriptor, 0, SEEK_CUR) == state.st_size,
            unsafe pread(file, &last, 1, state.st_size - 1) == 1, last != UInt8(ascii: "\n")
        else { return }
        write("\n")
    }

    /// Passes on what is buffered and waits until it is beyond the loss of this process or its reader: a file's bytes are on the disk,
    /// those of a pipe or socket were read.
    /// - Returns: False if the task was cancelled while the reader had not read everything.
    func deliver() async throws -> Bool {
        try sync()
        var delay = Self.delays.shortest
        while hasUnreadBytes {
            guard (try? await Task.sleep(for: delay)) != nil else { return false }  // cancelled
            delay = min(delay * 2, Self.delays.longest)
        }
        return true
    }

    /// Whether the other end of a pipe or socket still has to read; false for files and terminals.
    private var hasUnreadBytes: Bool {
        var state = stat()
        guard unsafe fstat(descriptor, &state) == 0 else { return false }
        var count: Int32 = 0
        switch state.st_mode & S_IFMT {
        case S_IFIFO: return unsafe ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
        case S_IFSOCK:
            guard unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return false }
            // A socket whose reader is gone reports no bytes, since nobody will read them.
            var reader = pollfd(fd: descriptor, events: 0, revents: 0)
            let isGone = unsafe poll(&reader, 1, 0) > 0 && reader.revents & Int16(POLLERR | POLLHUP) != 0
            return count > 0 || isGone
        default: return false
        }
    }
}
