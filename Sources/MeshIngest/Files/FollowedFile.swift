import Foundation

/// An open file, which stays readable when another file takes its name.
struct FollowedFile {
    private struct State: Equatable {
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        init(_ facts: stat) {
            (size, seconds, nanoseconds) = (Int(facts.st_size), Int(facts.st_mtim.tv_sec), Int(facts.st_mtim.tv_nsec))
        }
    }

    /// The name under which it was opened.
    let name: String
    private let handle: FileHandle
    private let identity: (device: UInt64, node: UInt64)
    private var state: State
    /// When a change of it was last seen.
    private(set) var lastChange = ContinuousClock.now

    /// - Returns: nil if the file does not exist.
    init?(_ path: String) throws(IngestError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else {
            throw IngestError(
                errno == EACCES ? .noPermission : .readFailed, subject: path, reason: "this file cannot be opened",
                cause: errorText(errno))
        }
        name = path
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw IngestError(.wrongFormat, subject: path, reason: "this is not a file; only files can be followed")
        }
        identity = (UInt64(facts.st_dev), UInt64(facts.st_ino))
        state = State(facts)
    }

    var size: Int { state.size }

    /// A path to the open file, whatever now has its name.
    var path: String { "/proc/self/fd/\(handle.fileDescriptor)" }

    /// Whether it was written to since the last call. A file that is rewritten may have the same size.
    mutating func hasChanged() -> Bool {
        var facts = stat()
        guard unsafe fstat(handle.fileDescriptor, &facts) == 0 else { return false }
        let now = State(facts)
        guard now != state else { return false }
        (state, lastChange) = (now, .now)
        return true
    }

    /// Whether the path now has another file, or none.
    func isReplaced(at path: String) -> Bool {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return errno == ENOENT }
        return UInt64(facts.st_dev) != identity.device || UInt64(facts.st_ino) != identity.node
    }

    func isSame(as other: FollowedFile) -> Bool { identity == other.identity }

    /// Whether it no longer has a name.
    var isRemoved: Bool {
        var facts = stat()
        return unsafe fstat(handle.fileDescriptor, &facts) == 0 && facts.st_nlink == 0
    }

    /// Whether it was written to for the last time before the other one was.
    func isOlder(than other: FollowedFile) -> Bool {
        (state.seconds, state.nanoseconds) < (other.state.seconds, other.state.nanoseconds)
    }
}
