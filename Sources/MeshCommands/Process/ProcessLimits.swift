import Foundation

/// The resources that the process requires before it starts: with less, it would stop in the middle, or wait for a thread that never starts.
enum ProcessLimits {
    /// Starting a child process takes this many, however few are open.
    static let openFiles: rlim_t = 256
    /// Needed beyond those open at the start, since all views of a ledger have files open at the same time.
    static let ownFiles: rlim_t = 96
    /// In bytes: with less, threads may find no room for their stacks and heaps, and work waits for threads that never start. No ledger can be opened with so
    /// little anyway, since each of its stores reserves more.
    static let addressSpace: rlim_t = 1 << 30

    static func require() throws(CommandError) {
        var files = get(RLIMIT_NOFILE)
        if files.rlim_cur < files.rlim_max {
            // Ask for as many as the system allows; if it refuses, the current limit must do.
            files.rlim_cur = min(files.rlim_max, max(files.rlim_cur, 4_096))
            _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
            files = get(RLIMIT_NOFILE)
        }
        guard files.rlim_cur >= openFiles else {
            throw CommandError(
                .inputOutput,
                "this process may have only \(files.rlim_cur) files open and needs \(openFiles); nothing was begun; raise the limit "
                    + "(`ulimit -n 1024`), then run it again")
        }
        let before = openCount(below: files.rlim_cur)
        guard files.rlim_cur - before >= ownFiles else {
            throw CommandError(
                .inputOutput,
                "this process may have only \(files.rlim_cur) files open, was started with \(before), and needs \(ownFiles) more; nothing was "
                    + "begun; raise the limit (`ulimit -n 1024`), then run it again")
        }
        let space = get(RLIMIT_AS).rlim_cur
        guard space >= addressSpace else {
            throw CommandError(
                .inputOutput,
                "this process may have only \(space >> 20) MB of address space and needs more than \(addressSpace >> 20) MB; nothing was begun; "
                    + "raise the limit (`ulimit -v unlimited`), then run it again")
        }
    }

    /// How many files were open when the process started.
    private static func openCount(below limit: rlim_t) -> rlim_t {
        guard let folder = unsafe opendir("/proc/self/fd") else {
            return rlim_t((0..<Int32(min(limit, 4_096))).count { fcntl($0, F_GETFD) >= 0 })
        }
        defer { unsafe closedir(folder) }
        var count: rlim_t = 0
        while unsafe readdir(folder) != nil { count += 1 }
        return count - min(count, 3)  // the folder itself, its parent, and what reads it
    }

    private static func get(_ resource: __rlimit_resource) -> rlimit {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else {
            return rlimit(rlim_cur: .max, rlim_max: .max)
        }
        return limit
    }
}
