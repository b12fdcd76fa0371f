internal import ProtobufWire

/// Records a jump of the clock that arrival times are read from. It is itself an event, of the encoding `.clockJump`.
public struct ClockJump: Sendable, Hashable {
    /// What the clock was compared with.
    public enum Basis: UInt64, Sendable {
        /// A steady clock that cannot be set, compared while the log was open.
        case steadyClock = 1
        /// The last event of the previous writer.
        case lastEvent = 2
    }

    /// The time that the clock should have shown; with `.lastEvent`, at least this.
    public var expected: Timestamp
    /// The time that it showed.
    public var found: Timestamp
    public var basis: Basis

    public init(expected: Timestamp, found: Timestamp, basis: Basis) {
        self.expected = expected
        self.found = found
        self.basis = basis
    }

    /// In microseconds: how far the clock jumped ahead, or back if negative.
    public var distance: Int64 { found.microseconds.subtractingReportingOverflow(expected.microseconds).partialValue }

    /// Smaller differences are not jumps: clocks are corrected all the time.
    static let leastDistance: Int64 = 120_000_000

    /// Protobuf: 1 expected and 2 found in microseconds, 3 the basis.
    public var payload: [UInt8] {
        var writer = WireWriter(capacity: 24)
        writer.int64(1, expected.microseconds)
        writer.int64(2, found.microseconds)
        writer.varint(3, basis.rawValue)
        return writer.bytes
    }

    /// Nil if the bytes are not a clock jump.
    public init?(payload: RawSpan) {
        self.init(expected: Timestamp(microseconds: 0), found: Timestamp(microseconds: 0), basis: .lastEvent)
        var basis: Basis?
        var reader = WireReader(payload)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.tag {
                case WireField.tag(1, .varint): expected = Timestamp(microseconds: Int64(bitPattern: field.scalar))
                case WireField.tag(2, .varint): found = Timestamp(microseconds: Int64(bitPattern: field.scalar))
                case WireField.tag(3, .varint): basis = Basis(rawValue: field.scalar)
                default: break
                }
            }
        } catch {
            return nil
        }
        guard let basis else { return nil }
        self.basis = basis
    }
}
