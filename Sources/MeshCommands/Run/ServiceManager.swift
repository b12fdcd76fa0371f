import Foundation

/// Reports the state of this process to the service manager, by datagrams to the socket in `$NOTIFY_SOCKET`, as systemd documents.
struct ServiceManager: Sendable {
    private let socketName: String?
    /// How often the manager expects a keep-alive notice; nil if it expects none.
    let watchdogSeconds: Double?

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        socketName = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        watchdogSeconds = isOurs ? environment["WATCHDOG_USEC"].flatMap(Double.init).map { $0 / 1_000_000 } : nil
    }

    /// Failures, and a manager that does not read, are ignored: the manager's own time limit notices them.
    func notify(_ lines: String...) {
        guard let socketName, let address = Self.address(socketName) else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(lines.joined(separator: "\n").utf8)
        var (name, length) = address
        _ = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }

    /// A name that begins with @ is an abstract address, whose first byte is zero.
    private static func address(_ name: String) -> (sockaddr_un, socklen_t)? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        let space = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < space else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sockaddr_un>.size - space + bytes.count + (isAbstract ? 0 : 1)
        return (address, socklen_t(length))
    }
}
