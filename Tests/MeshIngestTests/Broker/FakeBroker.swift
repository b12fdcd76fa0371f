import Foundation
import Synchronization

/// Answers a client's packets with given bytes, one answer each: for refusals that a real broker gives only after much configuration.
final class FakeBroker {
    let port: UInt16
    private let listener: Int32
    /// The bytes of `flood` that the client has taken so far.
    var floodedCount: Int { flooded.count.withLock { $0 } }
    private let flooded = Flooded()

    private final class Flooded: Sendable {
        let count = Mutex(0)
    }

    /// - Parameters:
    ///   - flood: sent again and again after the last answer, for as long as the client takes it
    ///   - heard: told what the client sends after the last answer, on the broker's thread
    init(answers: [[UInt8]], flood: [UInt8] = [], heard: @escaping @Sendable ([UInt8]) -> Void = { _ in }) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // The system chooses the port: another process could take one that was found free before.
        unsafe address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var yes: Int32 = 1
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(listener, $0, &size) }
        }
        guard bound == 0, named == 0, listen(listener, 4) == 0 else { throw BrokerFailure("no fake broker: \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        Thread { [flooded] in Self.serve(listener, answers, flood, flooded, heard) }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(
        _ listener: Int32, _ answers: [[UInt8]], _ flood: [UInt8], _ flooded: Flooded, _ heard: @Sendable ([UInt8]) -> Void
    ) {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        for answer in answers {
            guard unsafe read(client, &buffer, buffer.count) > 0 else { break }
            _ = unsafe write(client, answer, answer.count)
        }
        var place = 0
        while !flood.isEmpty {
            let count = unsafe flood.withUnsafeBytes { bytes in
                unsafe send(client, bytes.baseAddress.map { unsafe $0 + place }, bytes.count - place, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            place = (place + count) % flood.count
            flooded.count.withLock { $0 += count }
        }
        while case let count = unsafe read(client, &buffer, buffer.count), count > 0 { heard(Array(buffer.prefix(count))) }
        close(client)
    }
}
