import Foundation

/// A network: `192.168.1.0/24`, or one address.
public struct NetworkRange: Sendable, Hashable {
    private var bytes: [UInt8]
    private var length: Int

    public static let loopback = [
        NetworkRange(bytes: [127, 0, 0, 0], length: 8), NetworkRange(bytes: [UInt8](repeating: 0, count: 15) + [1], length: 128),
    ]

    private init(bytes: [UInt8], length: Int) { (self.bytes, self.length) = (bytes, length) }

    /// - Throws: `IngestError` (`badRequest`)
    public init(_ text: String) throws(IngestError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let bytes = Self.bytes(of: String(parts[0])) else { throw Self.bad(text) }
        let length = parts.count == 2 ? Int(parts[1]) : bytes.count * 8
        guard let length, (0...bytes.count * 8).contains(length) else { throw Self.bad(text) }
        (self.bytes, self.length) = (bytes, length)
    }

    func contains(_ address: String) -> Bool {
        guard var other = Self.bytes(of: address) else { return false }
        // An IPv4 address in the form that a dual-stack socket shows.
        if bytes.count == 4, other.count == 16, other.prefix(12).elementsEqual([UInt8](repeating: 0, count: 10) + [0xff, 0xff]) {
            other = Array(other.suffix(4))
        }
        guard other.count == bytes.count else { return false }
        return (0..<length).allSatisfy { (bytes[$0 / 8] ^ other[$0 / 8]) & (0x80 >> UInt8($0 % 8)) == 0 }
    }

    /// Whether some address is in both.
    package func overlaps(_ other: NetworkRange) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        return (0..<min(length, other.length)).allSatisfy { (bytes[$0 / 8] ^ other.bytes[$0 / 8]) & (0x80 >> UInt8($0 % 8)) == 0 }
    }

    private static func bytes(of text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if unsafe inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    private static func bad(_ text: String) -> IngestError {
        IngestError(.badRequest, subject: text, reason: "a network is written as 192.168.1.0/24, or as one address")
    }
}
