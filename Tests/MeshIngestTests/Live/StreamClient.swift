import Foundation
import Meshtastic
import TestKit

@testable import MeshIngest

/// A client of the stream protocol on this computer. It blocks on threads of its own: those that Swift's tasks share run the radio.
///
/// `@unchecked Sendable`: one test uses it, one call at a time.
final class StreamClient: @unchecked Sendable {
    private var descriptor: Int32
    private var framer = StreamFramer()
    private var frames: [[UInt8]] = []

    private static func blocking<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in Thread { continuation.resume(returning: work()) }.start() }
    }

    /// - Parameter receiveBuffer: the bytes that its computer takes while it does not read; nil for the usual
    static func connected(to port: UInt16, receiveBuffer: Int32? = nil) async throws -> StreamClient {
        try await blocking { Result { try StreamClient(port: port, receiveBuffer) } }.get()
    }

    /// The next frame; nil at the end, or when none comes for long.
    func next() async -> [UInt8]? { await Self.blocking { self.nextNow() } }

    func next(_ count: Int) async -> [[UInt8]] { await Self.blocking { (0..<count).compactMap { _ in self.nextNow() } } }

    /// Asks, and reads the answer to its end.
    @discardableResult
    func greet(_ nonce: UInt32) async -> [[UInt8]] { await Self.blocking { self.greetNow(nonce) } }

    private init(port: UInt16, _ receiveBuffer: Int32?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer { unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let connected = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if connected == 0 { return }
            usleep(20_000)
        }
        throw BrokerFailure("nobody shares a radio at port \(port)")
    }

    deinit { leave() }

    /// Closes the connection. Without it, that happens when the last thread that read from it has ended, which may be after the test's next line.
    func leave() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    /// Ends the connection as a computer does that was away and started again: what was not read is lost.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Its computer acknowledges what comes as late as it may, about 40 ms.
    func acknowledgeLate() {
        var no: Int32 = 0
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), Int32(TCP_QUICKACK), &no, 4)
    }

    func send(_ bytes: [UInt8]) { _ = unsafe write(descriptor, bytes, bytes.count) }

    func send(frame message: [UInt8]) { send(StreamFrame.around(message) ?? []) }

    private func nextNow() -> [UInt8]? {
        while frames.isEmpty {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            frames += framer.feed(Array(buffer.prefix(count))).filter { $0.kind == .frame }.map(\.bytes)
        }
        return frames.removeFirst()
    }

    private func greetNow(_ nonce: UInt32) -> [[UInt8]] {
        send(frame: ToRadioMessage.wantConfig(nonce))
        var answer: [[UInt8]] = []
        while let frame = nextNow() {
            answer.append(frame)
            if frame == FakeRadio.complete(nonce) { break }
        }
        return answer
    }
}
