internal import CLMDB
internal import Glibc

/// Detects the kind of file system of a folder: on a network file system, locks and shared maps do not work.
package enum FileSystemKind {
    /// Magic numbers of `statfs(2)`: NFS, SMB, CIFS, SMB2, AFS, kAFS, 9P, Ceph, Coda, NCP, Lustre, GFS2, OCFS2, VirtualBox shares.
    private static let magicNumbers: Set<UInt32> = [
        0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x5346_414F, 0x6B41_4653, 0x0102_1997, 0x00C3_6400, 0x7375_7245, 0x564C,
        0x0BD0_0BD0, 0x0116_1970, 0x7461_636F, 0x786F_4256,
    ]

    package static func isNetwork(magic: UInt32) -> Bool { magicNumbers.contains(magic) }

    /// Magic numbers of tmpfs and ramfs.
    static func isMemory(magic: UInt32) -> Bool { magic == 0x0102_1994 || magic == 0x8584_58F6 }

    /// Throws when `path` is on a network file system.
    static func refuse(_ path: String) throws(StorageError) {
        if isNetwork(magic: try magic(path)) { throw StorageError(.networkFileSystem, call: "statfs", path: path) }
    }

    /// The kind of file system that `path` is on.
    static func magic(_ path: String) throws(StorageError) -> UInt32 {
        var status = statfs()
        guard unsafe statfs(path, &status) == 0 else {
            throw StorageError(.init(number: errno), call: "statfs", path: path, number: errno)
        }
        return UInt32(truncatingIfNeeded: status.f_type)
    }
}
