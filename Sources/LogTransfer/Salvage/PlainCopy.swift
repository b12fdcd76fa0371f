package import EventLog
internal import Foundation
internal import Glibc
internal import LMDB

/// Copies the other files of a ledger of unknown origin, besides its log.
package enum PlainCopy {
    private static let deepest = 8

    /// Copies a plain file, or a folder with its plain files and folders. Follows no link and waits for nothing.
    ///
    /// - Returns: what was skipped, each with the reason.
    /// - Throws: if the copy cannot be written.
    package static func copy(_ path: String, to new: String) throws(EventLogError) -> [String] {
        try copy(path, to: new, depth: 0)
    }

    private static func copy(_ path: String, to new: String, depth: Int) throws(EventLogError) -> [String] {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return ["\(SmallFile.failure(errno, path))"] }
        let type = status.st_mode & S_IFMT
        guard type == S_IFDIR else {
            return type == S_IFREG ? try copyFile(path, to: new) : ["\(path): it is \(OwnedFile.kind(type)), not a plain file"]
        }
        guard depth < deepest else { return ["\(path): it is nested too deep in the ledger"] }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            return ["\(path): it cannot be listed"]
        }
        try SmallFile.owned { () throws(StorageError) in try OwnedFile.makeFolder(new) }
        var left: [String] = []
        for name in names { left += try copy("\(path)/\(name)", to: "\(new)/\(name)", depth: depth + 1) }
        return left
    }

    private static func copyFile(_ path: String, to new: String) throws(EventLogError) -> [String] {
        let file: Int32
        do throws(EventLogError) {
            file = try SmallFile.open(path, O_RDONLY)
        } catch {
            return ["\(error)"]
        }
        defer { close(file) }
        let target = try SmallFile.create(new)
        defer { close(target) }
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else {
                let reason = "\(SmallFile.failure(errno, path))"
                try? OwnedFile.remove(new)  // the failure to read is the one to report
                return [reason]
            }
            if count == 0 {
                guard fsync(target) == 0 else { throw SmallFile.failure(errno, new) }
                return []
            }
            try SmallFile.write(target, Array(chunk.prefix(max(count, 0))), new)
        }
    }
}
