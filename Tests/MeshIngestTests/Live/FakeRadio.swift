import Foundation
import Meshtastic
import ProtobufWire
import Synchronization

@testable import MeshIngest

/// The other end of a byte stream to a radio's client, for the radio's part.
final class FakeLine: Sendable {
    let descriptor: Int32
    private let framer = Mutex(StreamFramer())
    private let messages = Mutex<[[UInt8]]>([])

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next ToRadio message; nil when the client has gone.
    func message() -> [UInt8]? {
        while true {
            if let next = messages.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return next }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            let pieces = framer.withLock { $0.feed(Array(buffer.prefix(count))) }
            messages.withLock { $0 += pieces.filter { $0.kind == .frame }.map(\.bytes) }
        }
    }

    /// The nonce that the client asks with, skipping everything else that it says but packets, which a radio takes at any time.
    func question() -> UInt32? {
        var packets: [[UInt8]] = []
        defer { messages.withLock { $0.insert(contentsOf: packets, at: 0) } }
        while let message = message() {
            if let nonce = FakeRadio.nonce(message) { return nonce }
            if case .packet = ClientMessage(message, from: 0) { packets.append(message) }
        }
        return nil
    }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let rest = Array(bytes[sent...])
            let count = unsafe write(descriptor, rest, rest.count)
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(frame message: [UInt8]) -> Bool { send(StreamFrame.around(message) ?? []) }

    /// Answers questions until the client has what it asks for at first, or asks only for the configuration.
    ///
    /// - Returns: what it was asked.
    func greet(asks count: Int, psk: [UInt8] = [1]) -> [UInt32] {
        var asked: [UInt32] = []
        while asked.count < count, let nonce = question() {
            asked.append(nonce)
            if nonce == ConfigNonce.configuration {
                send(frame: FakeRadio.myInfo)
                send(frame: FakeRadio.channel(psk))
            } else {
                send(frame: FakeRadio.nodeInfo(7))
            }
            send(frame: FakeRadio.complete(nonce))
        }
        return asked
    }
}

/// A radio on a port of this computer, which serves one client after the other on its thread, as the test's closure does it.
final class FakeRadio: Sendable {
    let port: UInt16
    private let listener: Int32
    private let counts = Mutex((open: 0, most: 0, all: 0))

    /// The most clients that were connected at the same time, and all of them.
    var clients: (most: Int, all: Int) { counts.withLock { ($0.most, $0.all) } }

    init(_ serve: @escaping @Sendable (FakeLine, Int) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        unsafe address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw BrokerFailure("no fake radio") }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                let number = counts.withLock { counts in
                    counts.open += 1
                    counts.all += 1
                    counts.most = max(counts.most, counts.open)
                    return counts.all
                }
                Thread { [self] in
                    serve(FakeLine(client), number)
                    counts.withLock { $0.open -= 1 }
                    shutdown(client, Int32(SHUT_RDWR))
                    close(client)
                }.start()
            }
        }.start()
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    static func nonce(_ message: [UInt8]) -> UInt32? {
        var reader = WireReader(message.rawSpan)
        guard let field = try? reader.next(), field.tag == WireField.tag(3, .varint) else { return nil }
        return field.asUInt32
    }

    private static func fromRadio(_ number: UInt32, _ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        writer.message(number, body)
        return writer.bytes
    }

    static let myInfo = fromRadio(3) { $0.uint32(1, 0x1000_0001) }

    static func nodeInfo(_ number: UInt32) -> [UInt8] { fromRadio(4) { $0.uint32(1, number) } }

    static func channel(_ psk: [UInt8]) -> [UInt8] {
        fromRadio(10) { writer in
            writer.message(2) {
                $0.bytes(2, psk)
                $0.string(3, "Secret")
            }
            writer.uint32(3, 1)
        }
    }

    static func complete(_ nonce: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.uint32(7, nonce)
        return writer.bytes
    }

    static func queueStatus(free: UInt32 = 16, packet: UInt32 = 0) -> [UInt8] {
        fromRadio(11) { writer in
            writer.uint32(2, free)
            writer.uint32(3, 16)
            if packet > 0 { writer.uint32(4, packet) }
        }
    }

    /// What the radio reports when a packet of its client was heard: a Routing packet that answers it.
    static func acknowledgement(of id: UInt32) -> [UInt8] {
        fromRadio(2) { writer in
            writer.fixed32(1, 0x1000_0001)
            writer.fixed32(2, 0x1000_0001)
            writer.message(4) {
                $0.uint32(1, 5)
                $0.bytes(2, [0x18, 0])
                $0.fixed32(6, id)
            }
            writer.fixed32(6, id &+ 1_000_000)
        }
    }

    /// A text of node 5 as a packet from the mesh.
    static func text(_ id: UInt32, _ text: String = "hello") -> [UInt8] {
        fromRadio(2) { writer in
            writer.fixed32(1, 5)
            writer.fixed32(2, .max)
            writer.message(4) {
                $0.uint32(1, 1)
                $0.string(2, text)
            }
            writer.fixed32(6, id)
        }
    }
}

/// A pseudo-terminal whose far end is a radio; the name of its near end is a link, as those in `/dev/serial/by-id` are.
final class FakePort {
    let line: FakeLine
    private let name: String

    init(named name: String) throws {
        // TIOCSPTLCK and TIOCGPTN, which the C library's module does not have.
        let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, number): (Int32, Int32) = (0, 0)
        guard master >= 0, unsafe ioctl(master, 0x4004_5431, &isLocked) == 0, unsafe ioctl(master, 0x8004_5430, &number) == 0
        else {
            throw BrokerFailure("no pseudo-terminal")
        }
        line = FakeLine(master)
        self.name = name
        try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: "/dev/pts/\(number)")
    }

    func unplug() throws {
        try FileManager.default.removeItem(atPath: name)
        close(line.descriptor)
    }
}

/// Runs a source in a task until the test is done with it.
struct RunningSource<Source: LiveSource> {
    let source: Source
    let task: Task<Void, any Error>

    init(_ source: Source) {
        self.source = source
        task = Task { try await source.run() }
    }

    func stop() async throws {
        task.cancel()
        try await task.value
    }
}
