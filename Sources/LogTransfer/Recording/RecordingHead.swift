internal import EventLog
internal import ProtobufWire

/// What a recording states about itself at its start.
struct RecordingHead: Sendable, Equatable {
    /// The log that the events belong to.
    var ledger: LedgerID
    var created: Timestamp
    var first: UInt64 = 1
    /// 0 if it ends with its last event.
    var last: UInt64 = 0
    /// How the events were selected from another log, whose name follows; empty if the log itself is recorded.
    var selection = ""
    var selectedFrom: LedgerID?

    var bytes: [UInt8] {
        var writer = WireWriter()
        writer.bytes(1, ledger.bytes)
        writer.int64(2, created.microseconds)
        writer.varint(3, first)
        writer.varint(4, last)
        if !selection.isEmpty { writer.string(5, selection) }
        if let selectedFrom { writer.bytes(6, selectedFrom.bytes) }
        return writer.bytes
    }

    init(ledger: LedgerID, created: Timestamp) {
        self.ledger = ledger
        self.created = created
    }

    init?(_ bytes: [UInt8]) {
        var ledger: LedgerID?
        created = Timestamp(microseconds: 0)
        let span = bytes.span.rawBytes
        var reader = WireReader(span)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.number {
                case 1: ledger = LedgerID(span.bytes(field.range).copied)
                case 2: created = Timestamp(microseconds: Int64(bitPattern: field.scalar))
                case 3: first = field.scalar
                case 4: last = field.scalar
                case 5: selection = reader.string(field)
                case 6: selectedFrom = LedgerID(span.bytes(field.range).copied)
                default: break
                }
            }
        } catch {
            return nil
        }
        guard let ledger, first > 0 else { return nil }
        self.ledger = ledger
    }
}

/// Pairs of a number or key and a value, as several frames hold them.
struct RecordingPairs {
    var pairs: [(key: [UInt8], number: UInt64, value: [UInt8])] = []

    mutating func append(_ number: UInt64, _ value: [UInt8]) { pairs.append(([], number, value)) }
    mutating func append(_ key: [UInt8], _ value: [UInt8]) { pairs.append((key, 0, value)) }

    var bytes: [UInt8] {
        var writer = WireWriter()
        for pair in pairs {
            writer.message(1) { message in
                if pair.key.isEmpty { message.varint(1, pair.number) } else { message.bytes(3, pair.key) }
                message.bytes(2, pair.value)
            }
        }
        return writer.bytes
    }

    init() {}

    init?(_ bytes: [UInt8]) {
        let span = bytes.span.rawBytes
        var reader = WireReader(span)
        do throws(WireError) {
            while let field = try reader.next() {
                guard field.tag == WireField.tag(1, .lengthDelimited) else { continue }
                var pair: (key: [UInt8], number: UInt64, value: [UInt8]) = ([], 0, [])
                var inner = WireReader(span, in: field.range)
                while let member = try inner.next() {
                    switch member.tag {
                    case WireField.tag(1, .varint): pair.number = member.scalar
                    case WireField.tag(2, .lengthDelimited): pair.value = span.bytes(member.range).copied
                    case WireField.tag(3, .lengthDelimited): pair.key = span.bytes(member.range).copied
                    default: break
                    }
                }
                pairs.append(pair)
            }
        } catch {
            return nil
        }
    }
}
