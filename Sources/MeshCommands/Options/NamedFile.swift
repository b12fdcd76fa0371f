import EventLog
import Foundation

/// A file that a person names: one that is missing, a folder, or may not be read has the same status in every command.
enum NamedFile {
    static func open(_ path: String) throws(CommandError) -> FileHandle {
        if isFolder(path) {
            throw CommandError(.noInput, "\(path) is a folder; name a file in it")
        }
        let descriptor = unsafe Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let number = errno
            guard number != ENOENT else { throw CommandError(.noInput, "\(path) does not exist; check the path") }
            let status: ExitStatus =
                switch number {
                case ENOTDIR: .noInput
                case EACCES, EPERM: .permission
                default: .inputOutput
                }
            throw CommandError(
                status, "\(path) cannot be read: \(SystemError.text(number)); check the path and its mode")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Its bytes, up to a limit: a device may never end.
    static func read(_ path: String, upTo limit: Int) throws(CommandError) -> Data {
        let file = try open(path)
        do {
            return try file.read(upToCount: limit) ?? Data()
        } catch {
            throw CommandError(.inputOutput, "\(path) cannot be read to its end")
        }
    }
}
