internal import Glibc

/// A folder of this process, with links to plain files that were opened elsewhere: what takes the place of such a file meanwhile is not opened.
///
/// The folder disappears with this value. If the process is killed before, the links are left, and lead nowhere.
final class LinkedFiles {
    let path: String
    private let names: [String]
    /// They only name the files: LMDB's locks on them would end if others were closed.
    private var files: [Int32] = []

    init(_ names: [String], in folder: OpenedFolder) throws(StorageError) {
        self.names = names
        path = try Self.makeFolder()
        for name in names {
            let file = unsafe openat(folder.descriptor, name, OpenedFolder.pathOnly | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { throw folder.failed("open", name) }
            files.append(file)
            try OwnedFile.requireFile(file, folder.path + "/" + name, in: folder.ownStatus())
            try OwnedFile.link("/proc/self/fd/\(file)", at: path + "/" + name)
        }
    }

    deinit {
        for file in files { close(file) }
        for name in names { unsafe unlink(path + "/" + name) }
        unsafe rmdir(path)
    }

    /// With the name of a temporary folder, so that a later command removes one that is left.
    private static func makeFolder() throws(StorageError) -> String {
        let parent = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        let number = try OwnedFile.contents("/proc/sys/kernel/random/uuid", limit: 36) ?? []
        let path = "\(parent)/meshledger-\(String(decoding: number, as: UTF8.self))"
        guard unsafe mkdir(path, 0o700) == 0 else {
            throw StorageError(.init(number: errno), call: "mkdir", path: path, number: errno)
        }
        return path
    }
}
