internal import MeshCrypto
internal import ProtobufWire

/// Consecutive events that are also consecutive in their original log.
package struct OriginRun: Sendable, Equatable {
    package var ledger: LedgerID
    package var first: UInt64
    package var count: UInt64

    package init(ledger: LedgerID, first: UInt64, count: UInt64) {
        (self.ledger, self.first, self.count) = (ledger, first, count)
    }

    var last: UInt64 { first &+ count &- 1 }
}

extension [OriginRun] {
    /// Adds the next event's origin.
    package mutating func append(_ ledger: LedgerID, _ sequence: UInt64) {
        if let last, last.ledger == ledger, last.last &+ 1 == sequence {
            self[count - 1].count += 1
        } else {
            append(OriginRun(ledger: ledger, first: sequence, count: 1))
        }
    }

    package var eventCount: UInt64 { reduce(0) { $0 &+ $1.count } }
}

/// A row of the table of origins, as `FORMAT.md` describes it.
package enum OriginRow {
    package static func bytes(_ runs: [OriginRun], first: UInt64) -> [UInt8] {
        var ledgers: [LedgerID] = []
        var expected: [UInt64] = []
        var packed: [UInt8] = []
        for run in runs {
            var index = ledgers.firstIndex(of: run.ledger) ?? ledgers.count
            if index == ledgers.count {
                ledgers.append(run.ledger)
                expected.append(0)
                index = ledgers.count - 1
            }
            let step = Int64(bitPattern: run.first &- expected[index])
            append(UInt64(index), to: &packed)
            append(UInt64(bitPattern: (step << 1) ^ (step >> 63)), to: &packed)
            append(run.count, to: &packed)
            expected[index] = run.last &+ 1
        }
        var writer = WireWriter()
        for ledger in ledgers { writer.bytes(1, ledger.bytes) }
        writer.bytes(2, packed)
        let checksum = XXH3.hash(writer.bytes, seed: first)
        return (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt64($0))) } + writer.bytes
    }

    /// Nil if the bytes are not a row with that first sequence. The sequences of its events never overflow.
    package static func runs(_ value: RawSpan, first: UInt64) -> [OriginRun]? {
        guard value.byteCount > 8 else { return nil }
        let stored = UInt64(littleEndian: unsafe value.unsafeLoadUnaligned(as: UInt64.self))
        let body = value.extracting(droppingFirst: 8)
        guard XXH3.hash(body, seed: first) == stored else { return nil }
        do throws(WireError) {
            guard let runs = try runs(body) else { return nil }
            var next = first
            for run in runs {
                let (sum, isTooLarge) = next.addingReportingOverflow(run.count)
                guard !isTooLarge else { return nil }
                next = sum
            }
            return runs
        } catch {
            return nil
        }
    }

    private static func runs(_ body: RawSpan) throws(WireError) -> [OriginRun]? {
        var ledgers: [LedgerID] = []
        var runs: [OriginRun] = []
        var expected: [UInt64] = []
        var reader = WireReader(body)
        while let field = try reader.next() {
            if field.tag == WireField.tag(1, .lengthDelimited) {
                guard let ledger = LedgerID(body.bytes(field.range).copied) else { return nil }
                ledgers.append(ledger)
                expected.append(0)
            } else if field.tag == WireField.tag(2, .lengthDelimited) {
                let packed = body.bytes(field.range).copied
                var place = 0
                while place < packed.count {
                    guard let index = number(packed, &place), let step = number(packed, &place),
                        let count = number(packed, &place),
                        index < UInt64(ledgers.count), count > 0
                    else { return nil }
                    let distance = (step >> 1) ^ (0 &- (step & 1))
                    let run = OriginRun(ledger: ledgers[Int(index)], first: expected[Int(index)] &+ distance, count: count)
                    guard run.first > 0, !run.first.addingReportingOverflow(count).overflow else { return nil }
                    expected[Int(index)] = run.last &+ 1
                    runs.append(run)
                }
            }
        }
        return runs.isEmpty ? nil : runs
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var left = number
        while left >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        bytes.append(UInt8(left))
    }

    private static func number(_ bytes: [UInt8], _ place: inout Int) -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while place < bytes.count, shift < 64 {
            let byte = bytes[place]
            place += 1
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }
}

extension [OriginRun] {
    /// The runs of the first `count` events, and those of the others.
    package func split(at count: UInt64) -> (Self, Self) {
        var (first, rest): (Self, Self) = ([], [])
        var left = count
        for run in self {
            let taken = Swift.min(left, run.count)
            left -= taken
            if taken > 0 { first.append(OriginRun(ledger: run.ledger, first: run.first, count: taken)) }
            if taken < run.count {
                rest.append(OriginRun(ledger: run.ledger, first: run.first + taken, count: run.count - taken))
            }
        }
        return (first, rest)
    }
}
