import Foundation
import TestKit

/// A real mosquitto on loopback, for one test.
final class TestBroker {
    static let program = ["/usr/sbin/mosquitto", "/usr/bin/mosquitto", "/usr/local/sbin/mosquitto"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static var isInstalled: Bool { program != nil }

    let folder: TemporaryFolder
    let port: UInt16
    private let lines: [String]
    private var process: Process?

    /// - Parameter lines: what the broker's configuration has besides the listener
    init(_ lines: [String] = ["allow_anonymous true"], in folder: TemporaryFolder) throws {
        self.folder = folder
        self.lines = lines
        port = try Self.freePort()
        try start()
    }

    /// One that lets in only this user.
    convenience init(user: String, password: String, in folder: TemporaryFolder) throws {
        let passwords = folder.file("passwords")
        try Data("\(user):\(password)\n".utf8).write(to: passwords)
        try Program.run(URL(fileURLWithPath: "/usr/bin/mosquitto_passwd"), ["-U", passwords.path])
        try self.init(["allow_anonymous false", "password_file \(passwords.path)"], in: folder)
    }

    deinit { stop() }

    func start() throws {
        var text = ["listener \(port) 127.0.0.1"] + lines + ["max_queued_messages 0", "log_type none"]
        // Started by root, it would give up the right to read the test's folder.
        if geteuid() == 0 { text.insert("user root", at: 0) }
        let configuration = folder.file("mosquitto-\(port).conf")
        try Data(text.joined(separator: "\n").utf8).write(to: configuration)
        process = try Process.start(URL(fileURLWithPath: Self.program ?? "mosquitto"), ["-c", configuration.path])
        try waitUntil(every: .milliseconds(20)) { Self.connects(to: port) }
    }

    /// Kills it, as a power cut would.
    func stop() {
        process?.kill()
        process?.waitUntilExit()
        process = nil
    }

    func address(_ rest: String = "", user: String = "") -> String {
        "mqtt://" + (user.isEmpty ? "" : user + "@") + "127.0.0.1:\(port)/" + rest
    }

    /// Below the ports that the system gives to outgoing connections, one of which could take it before a test listens.
    static func freePort() throws -> UInt16 {
        for _ in 0..<100 {
            let port = UInt16.random(in: 20_000..<32_000)
            if unsafe try succeeds(bind, port) { return port }
        }
        throw BrokerFailure("no free port")
    }

    private static func connects(to port: UInt16) -> Bool {
        unsafe (try? succeeds(connect, port)) ?? false  // a refused connection is the answer no
    }

    private static func succeeds(
        _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ port: UInt16
    ) throws -> Bool {
        try withSocket { descriptor, address in
            var address = address
            address.sin_port = port.bigEndian
            return unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            } == 0
        }
    }

    private static func withSocket<Value>(_ body: (Int32, sockaddr_in) throws -> Value) throws -> Value {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        unsafe address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return try body(descriptor, address)
    }
}

struct BrokerFailure: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
