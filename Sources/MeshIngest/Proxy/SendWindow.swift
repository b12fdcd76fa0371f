import NIOCore

/// What a client has acknowledged of the bytes that were written to its connection, and so which events it has received.
///
/// What lies in the buffers of this computer is lost with the connection, so an event counts once TCP has an acknowledgement of its last byte.
struct SendWindow {
    private var written: UInt64 = 0
    private var acknowledged: UInt64 = 0
    /// Events, ascending, with the number of bytes written up to and with each.
    private var marks: [(end: UInt64, event: UInt64)] = []
    /// Since when nothing was acknowledged.
    private var still = ContinuousClock.now
    /// The last event that the client has; nil until it has requested the configuration.
    private(set) var place: UInt64?

    /// Whether bytes are on their way.
    var isOpen: Bool { acknowledged < written }

    func hasStalled(forSeconds seconds: Double) -> Bool { isOpen && still.duration(to: .now) >= .seconds(seconds) }

    mutating func begin(at event: UInt64) { place = event }

    mutating func write(_ count: Int) {
        if !isOpen { still = .now }
        written += UInt64(count)
    }

    /// With the bytes written so far, the client has everything up to this event.
    mutating func mark(_ event: UInt64) {
        marks.append((written, event))
        settle()
    }

    /// - Parameter count: all acknowledged bytes of the connection
    /// - Returns: whether these are more than before
    mutating func acknowledge(_ count: UInt64) -> Bool {
        guard count > acknowledged else { return false }
        acknowledged = count
        still = .now
        settle()
        return true
    }

    private mutating func settle() {
        let reached = marks.firstIndex { $0.end > acknowledged } ?? marks.endIndex
        guard reached > 0 else { return }
        place = marks[reached - 1].event
        marks.removeFirst(reached)
    }
}

/// The state of a TCP connection as Linux reports it, `struct tcp_info` of `linux/tcp.h`.
private struct TCPInfo: Sendable {
    /// The fields up to `tcpi_bytes_acked`, which is the last one here, in eight bytes each.
    var words: InlineArray<16, UInt64>
}

/// What is known of a connection to a client.
struct ConnectionState {
    private static let established: UInt8 = 1

    /// How many bytes the other end has acknowledged.
    var acknowledged: UInt64
    /// Whether the other end has closed it. What it sent before may not be read yet.
    var hasEnded: Bool

    fileprivate init(_ info: TCPInfo) {
        acknowledged = info.words[15]
        hasEnded = UInt8(truncatingIfNeeded: info.words[0].littleEndian) != Self.established
    }
}

extension Channel {
    /// nil if the connection is closed
    func connectionState() async -> ConnectionState? {
        guard let provider = self as? any SocketOptionProvider else { return nil }
        let info: EventLoopFuture<TCPInfo> = provider.unsafeGetSocketOption(level: .tcp, name: .tcp_info)
        return (try? await info.get()).map { ConnectionState($0) }  // the connection is closed
    }
}
