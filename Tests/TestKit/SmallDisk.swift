import Foundation
import Glibc

/// A small file system in memory, at a folder. Only root may mount it, and not in every container.
package enum SmallDisk {
    package static let isAllowed: Bool = {
        guard geteuid() == 0, let folder = try? TemporaryFolder(), mount(folder.path, size: "1m") else { return false }
        unmount(folder.path)
        return true
    }()

    /// - Parameter size: as `mount` takes it, such as `1m`.
    package static func mount(_ path: String, size: String) -> Bool {
        unsafe Glibc.mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0
    }

    package static func unmount(_ path: String) { _ = unsafe umount2(path, Int32(MNT_DETACH)) }
}
