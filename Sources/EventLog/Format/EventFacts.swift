internal import ProtobufWire

/// What the events of a block disclose, by facet: the numbers of their senders, for example. A reader looking for one number can skip blocks
/// that do not contain it.
///
/// Only facts that no later key or decoder can change belong here. An unknown facet may hold anything.
public struct EventFacts: Sendable, Equatable {
    struct Facet: Sendable, Equatable {
        var number: UInt8
        var values = NumberSet()
    }

    /// With more distinct values than this, the facet becomes unknown.
    static let largestFacet = 1024

    var facets: [Facet]

    /// Nothing is known.
    init() { facets = [] }

    /// No event so far: no facet has a value yet.
    init(facets numbers: [UInt8]) { facets = numbers.map { Facet(number: $0) } }

    /// Records that an event has `value` in the facet.
    public mutating func insert(_ value: UInt32, _ facet: UInt8) {
        guard let place = facets.firstIndex(where: { $0.number == facet }), !facets[place].values.contains(value) else { return }
        facets[place].values.insert(value)
        if facets[place].values.count > Self.largestFacet { facets.remove(at: place) }
    }

    /// Records that an event may have any value in every facet.
    public mutating func makeAllUnknown() { facets.removeAll() }

    /// Whether an event may have `value` in the facet.
    public func mayHold(_ value: UInt32, _ facet: UInt8) -> Bool {
        guard let known = facets.first(where: { $0.number == facet }) else { return true }
        return known.values.contains(value)
    }

    /// The facet's values in ascending order, nil if it is unknown.
    public func values(_ facet: UInt8) -> [UInt32]? { facets.first { $0.number == facet }?.values.sorted() }
}

extension EventFacts {
    var bytes: [UInt8] {
        var writer = WireWriter()
        for facet in facets.sorted(by: { $0.number < $1.number }) {
            writer.message(1) { message in
                message.varint(1, UInt64(facet.number))
                let values = facet.values.sorted()
                message.bytes(
                    2, values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) } })
            }
        }
        return writer.bytes
    }

    /// - Throws: if the bytes are not facts.
    init(_ bytes: RawSpan) throws(WireError) {
        facets = []
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            guard field.tag == WireField.tag(1, .lengthDelimited) else { continue }
            var facet = Facet(number: 0)
            var inner = WireReader(bytes, in: field.range)
            while let member = try inner.next() {
                switch member.tag {
                case WireField.tag(1, .varint): facet.number = UInt8(clamping: member.asUInt32)
                case WireField.tag(2, .lengthDelimited): facet.read(bytes.bytes(member.range))
                default: break
                }
            }
            if facet.number != 0 { facets.append(facet) }
        }
    }
}

extension EventFacts.Facet {
    fileprivate mutating func read(_ packed: RawSpan) {
        for place in 0..<packed.byteCount / 4 {
            values.insert(UInt32(littleEndian: unsafe packed.unsafeLoadUnaligned(fromByteOffset: 4 * place, as: UInt32.self)))
        }
    }
}

/// Extracts the facts of events. The log does not interpret payloads, so the process that opens it supplies one.
public struct EventSummariser: Sendable {
    /// The facets that it fills, from 1.
    public let facets: [UInt8]
    /// Adds the facts of one event.
    public let add: @Sendable (PayloadEncoding, RawSpan, inout EventFacts) -> Void

    public init(facets: [UInt8], add: @escaping @Sendable (PayloadEncoding, RawSpan, inout EventFacts) -> Void) {
        self.facets = facets
        self.add = add
    }
}
