import Foundation
import MeshLedger

/// A ledger of `count` positions of as many nodes, one per 37 seconds and node, with times that are not in order.
func makeLedger(
    _ folder: String, count: Int, nodes: Int, options: LedgerOptions = LedgerOptions(log: EventLogOptions(isDurable: false))
) async throws -> Ledger {
    let ledger = try await Ledger.create(at: folder, options: options)
    try await appendPositions(count, nodes: nodes, from: 1_780_000_000, seed: 42, to: ledger)
    try await ledger.catchUp()
    return ledger
}

func appendPositions(_ count: Int, nodes: Int, from start: UInt32, seed: UInt64, to ledger: Ledger) async throws {
    let source = try await ledger.log.source(named: "benchmark")
    var random = seed
    func next() -> UInt64 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return random >> 24
    }
    var batch = EventBatch()
    for index in 0..<count {
        let node = 0x1000_0000 + UInt32(next() % UInt64(nodes))
        let time = start + UInt32(index / 54) + UInt32(next() % 3_600)
        let position = message { bytes in
            fixed(1, UInt32(bitPattern: Int32(truncatingIfNeeded: 473_000_000 + next() % 1_000_000)), &bytes)
            fixed(2, UInt32(bitPattern: Int32(truncatingIfNeeded: 84_000_000 + next() % 1_000_000)), &bytes)
            varint(3, next() % 2_000, &bytes)
            varint(19, 5 + next() % 8, &bytes)
            varint(23, 32, &bytes)
        }
        let packet = message { bytes in
            fixed(1, node, &bytes)
            fixed(2, .max, &bytes)
            nested(
                4,
                message {
                    varint(1, 3, &$0); nested(2, position, &$0)
                }, &bytes)
            fixed(6, UInt32(truncatingIfNeeded: UInt64(index + 1) &+ seed << 20), &bytes)
            fixed(7, time, &bytes)
        }
        batch.append(event(packet, source, at: time))
        if batch.count == 10_000 {
            try await ledger.log.append(batch)
            batch = EventBatch()
        }
    }
    if batch.count > 0 { try await ledger.log.append(batch) }
}

/// A packet as a gateway publishes it.
func event(_ packet: [UInt8], _ source: SourceID, at time: UInt32) -> NewEvent {
    let envelope = message { bytes in
        nested(1, packet, &bytes)
        nested(2, Array("LongFast".utf8), &bytes)
        nested(3, Array("!aabbccdd".utf8), &bytes)
    }
    return NewEvent(envelope, encoding: .serviceEnvelope, source: source, reception: .recorded(Timestamp(seconds: Int64(time))))
}

// MARK: Fields of protobuf

func message(_ fill: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes: [UInt8] = []
    fill(&bytes)
    return bytes
}

func number(_ value: UInt64, _ bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
    }
    bytes.append(UInt8(rest))
}

func varint(_ field: UInt64, _ value: UInt64, _ bytes: inout [UInt8]) {
    number(field << 3, &bytes)
    number(value, &bytes)
}

func fixed(_ field: UInt64, _ value: UInt32, _ bytes: inout [UInt8]) {
    number(field << 3 | 5, &bytes)
    for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
}

func nested(_ field: UInt64, _ value: [UInt8], _ bytes: inout [UInt8]) {
    number(field << 3 | 2, &bytes)
    number(UInt64(value.count), &bytes)
    bytes += value
}
