import Foundation
import NIOCore

/// Where a shared radio listens for clients, and who may use it.
public struct ShareOptions: Sendable, Hashable {
    public var host = "127.0.0.1"
    public var port: UInt16
    /// The networks from which clients may connect.
    public var allowed = NetworkRange.loopback
    /// The networks from which clients may change the radio's settings.
    public var admins: [NetworkRange] = []
    /// How long a client may stay without a request.
    public var silenceSeconds = 30.0
    /// How long a client may take no byte of those sent to it before a new connection from its address takes its place.
    var stallSeconds = 5.0
    /// How long a client may take no byte of those sent to it before it is disconnected.
    var patienceSeconds = 180.0
    /// How old a packet may be to be given to the radio, after a restart or when the radio is back.
    var oldestUnsentSeconds = 300.0
    /// The most packets that a client gets of those that it missed.
    var mostMissed = 50_000

    public init(port: UInt16) { self.port = port }

    /// Parses `4403`, `0.0.0.0:4403` or `[::]:4403`.
    ///
    /// - Throws: `IngestError` (`badRequest`)
    public init(_ text: String) throws(IngestError) {
        let colon = text.lastIndex(of: ":")
        let host = colon.map { text[..<$0].trimmingCharacters(in: ["[", "]"]) }
        guard let port = UInt16(colon.map { text[text.index(after: $0)...] } ?? text[...]), port > 0, host?.isEmpty != true else {
            throw IngestError(
                .badRequest, subject: text,
                reason: "share is a port such as 4403, or an address and a port such as 0.0.0.0:4403")
        }
        self.port = port
        if let host { self.host = host }
    }

    package var place: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    func isSamePlace(as other: ShareOptions?) -> Bool { other?.host == host && other?.port == port }

    func allows(_ address: String) -> Bool { allowed.contains { $0.contains(address) } }

    private static let everywhere: Set<String> = ["0.0.0.0", "::"]

    private static func isHere(_ host: String) -> Bool { ["localhost", "::1"].contains(host) || host.hasPrefix("127.") }

    /// Whether no other computer can reach it.
    package var isOnlyHere: Bool { Self.isHere(host) }

    /// Whether two servers cannot listen at both.
    package func overlaps(_ other: ShareOptions) -> Bool {
        port == other.port
            && (host == other.host || !Self.everywhere.isDisjoint(with: [host, other.host])
                || Self.isHere(host) && Self.isHere(other.host))
    }

    /// Whether a radio's address is where this shares one.
    package func isPlace(of address: RadioAddress) -> Bool {
        guard case .tcp(let radio, port) = address else { return false }
        return radio == host || Self.isHere(radio) && Self.isHere(host)
            || Self.everywhere.contains(host) && (Self.isHere(radio) || Self.addressesOfThisComputer.contains(radio))
    }

    /// Empty if they are not known: then a radio is taken for another computer.
    static var addressesOfThisComputer: [String] {
        ((try? System.enumerateDevices()) ?? []).compactMap { $0.address?.ipAddress }  // see above
    }

    /// - Throws: `IngestError` (`badRequest`) if clients of the radio would be its server
    package func check(for radio: RadioAddress) throws(IngestError) {
        guard isPlace(of: radio) else { return }
        throw IngestError(
            .badRequest, subject: place, reason: "the radio would be shared at its own address; give share another port")
    }
}
