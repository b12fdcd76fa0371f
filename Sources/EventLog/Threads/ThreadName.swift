internal import Glibc

enum ThreadName {
    /// Names the calling thread, in at most 15 bytes, for `top -H` and debuggers.
    static func set(_ name: String) {
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        let bytes = Array(name.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }  // only a name
        close(file)
    }
}
