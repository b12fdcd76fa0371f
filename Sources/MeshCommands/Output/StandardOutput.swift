import EventLog
import Foundation
import MeshTables
import Synchronization

/// The output of a command. Standard output buffers writes and passes them on in large pieces.
final class StandardOutput: ByteOutput {
    private var buffer: [UInt8] = []
    private(set) var descriptor: Int32
    private let name: String
    private let ownsDescriptor: Bool
    let isTerminal: Bool
    /// What shows more lines than the terminal has; nil where nothing does.
    private var pagerCommand: String?
    private var pager: Pager?
    /// Whether anything was passed on.
    private(set) var hasWritten = false
    /// Whether any output of the process was passed on.
    private static let hasAny = Atomic(false)
    static var hasWrittenAny: Bool { hasAny.load(ordering: .relaxed) }
    /// A line of progress on the terminal, which goes before something else is written to it.
    var bar: ProgressBar?
    /// How many lines the terminal still has room for.
    private var linesLeft = 0

    /// Standard output, in a pager where it is a terminal and more comes than fits on it.
    convenience init(pages: Bool) {
        self.init()
        guard pages, isTerminal, let command = Pager.command() else { return }
        pagerCommand = command
        linesLeft = max(1, size.rows - 1)
    }

    convenience init() { self.init(descriptor: 1, name: "standard output", ownsDescriptor: false) }

    /// A file instead, which gets its name when the command has succeeded. Devices and pipes stay what they are; `-` is standard output.
    /// - Parameter isLive: whether it is written in place, since others read it meanwhile.
    convenience init(file path: String, isLive: Bool = false) throws {
        guard path != "-" else {
            self.init()
            return
        }
        guard !path.isEmpty else { throw CommandError(.usage, "--output names no file") }
        let (descriptor, isOwned) = try isLive ? (OutputFiles.openInPlace(path), true) : OutputFiles.open(path)
        self.init(descriptor: descriptor, name: path, ownsDescriptor: isOwned)
    }

    private init(descriptor: Int32, name: String, ownsDescriptor: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.ownsDescriptor = ownsDescriptor
        isTerminal = isatty(descriptor) == 1
        buffer.reserveCapacity(1 << 16)
    }

    deinit {
        finish()
        if ownsDescriptor { close(descriptor) }
    }

    func write(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= 1 << 16, pagerCommand == nil { flush() }
    }

    func write(_ bytes: [UInt8]) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 16, pagerCommand == nil { flush() }
    }

    /// Large pieces go out without another copy.
    func write(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count < 1 << 15 {
            unsafe buffer.append(contentsOf: bytes)
            if buffer.count >= 1 << 16 { flush() }
        } else {
            flush()
            unsafe put(bytes)
        }
    }

    func line(_ text: String = "") {
        write(text)
        buffer.append(10)
        endLine()
    }

    /// A terminal shows each line at once; those that a pager may have to show wait until there are too many.
    func endLine() {
        guard isTerminal else { return }
        guard let command = pagerCommand else { return flush() }
        linesLeft -= 1
        guard linesLeft <= 0 else { return }
        pagerCommand = nil
        endLines()
        pager = Pager(command)
        if let pager { descriptor = pager.descriptor }
        flush()
    }

    /// Writes what is left; in a pager, until its reader has done.
    func finish() {
        pagerCommand = nil
        flush()
        guard let pager else { return }
        self.pager = nil
        descriptor = 1
        pager.end()
    }

    /// A reader that went away (`| head`) ends the process quietly: further output has no reader.
    func flush() {
        unsafe buffer.withUnsafeBytes { unsafe put($0) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) {
        var written = 0
        if bytes.count > 0 {
            if isTerminal { endLines() }
            hasWritten = true
            Self.hasAny.store(true, ordering: .relaxed)
        }
        while written < bytes.count {
            let count = unsafe Foundation.write(descriptor, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            if count > 0 {
                written += count
            } else if errno == EAGAIN {
                // A pipe that does not wait: its reader has set that.
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&room, 1, -1)
            } else if errno != EINTR {
                if errno == EPIPE {
                    pager?.end()
                    (pager == nil ? ExitStatus.brokenPipe : .success).end()
                }
                let reason = SystemError.text()
                Self.error("meshledger: \(DisplayWidth.safe(name)): writing failed: \(reason)")
                ExitStatus.inputOutput.end()
            }
        }
    }

    /// Lines of progress make room.
    private func endLines() {
        bar?.end()
        WaitingLine.end()
    }

    /// Syncs the output to the disk, if it is a file; a pipe or terminal needs no sync.
    func sync() throws {
        flush()
        guard fsync(descriptor) != 0, errno != EINVAL, errno != EROFS, errno != ENOTSUP else { return }
        throw CommandError(.inputOutput, "\(name): syncing failed: \(SystemError.text())")
    }

    /// The width of the terminal in columns, or nil where output goes elsewhere.
    var columns: Int? { isTerminal ? size.columns : nil }

    private var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(ownsDescriptor ? descriptor : 1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Colour only on a terminal, and never with NO_COLOR.
    var hasColour: Bool {
        isTerminal && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Writes a line to standard error. A failure of that cannot be reported.
    static func error(_ text: String) {
        WaitingLine.clear()
        rawError(text + "\n")
    }

    static func rawError(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(2, $0.baseAddress, $0.count) }
    }
}
