import EventLog
import MeshLedger
import Meshtastic

/// Reads the lines that `LedgerLine` writes.
struct LedgerLineDecoder: LineDecoder {
    func decode(_ line: Span<UInt8>) throws(RecordFault) -> IngestRecord {
        var members = try JSONMembers(line)
        var (payload, encoding, source): ([UInt8]?, PayloadEncoding?, String?) = (nil, nil, nil)
        var (arrival, reception): (Reception, Reception?) = (.unrecorded, .unrecorded)
        var (isMasked, isErased) = (false, false)
        while let member = try members.next(line) {
            if member.isNamed("payload_b64", in: line) {
                payload = try PacketLine.payload(member, line)
            } else if member.isNamed("encoding", in: line) {
                encoding = try Self.encoding(member, line)
            } else if member.isNamed("source", in: line) {
                source = try member.string(in: line)
            } else if member.isNamed("arrival", in: line) {
                arrival = try Self.time(member, line)
            } else if member.isNamed("reception", in: line) {
                reception = try member.string(in: line) == "live" ? nil : Self.time(member, line)
            } else if member.isNamed("masked", in: line) {
                // Anything else is masked again: a line that is refused is kept as text, with its secrets.
                isMasked = member.boolean(in: line) == true
            } else if member.isNamed("erased", in: line) {
                guard let value = member.boolean(in: line) else { throw RecordFault("erased is neither true nor false") }
                isErased = value
            }
        }
        guard let payload, let encoding else { throw RecordFault("no payload_b64 or no encoding") }
        if isErased { return gap(arrival, reception ?? arrival, source) }
        if encoding == PayloadEncoding(.fromRadio), !isMasked {
            return StreamCutter.record(payload, reception: reception ?? arrival, origin: source.map { .named($0) } ?? .file)
        }
        var record = IngestRecord(
            payload, .unreadable, reception: reception ?? arrival, origin: source.map { .named($0) } ?? .file)
        record.encoding = encoding
        record.isMasked = isMasked
        return record
    }

    private func gap(_ arrival: Reception, _ reception: Reception, _ source: String?) -> IngestRecord {
        var time = Timestamp(microseconds: 0)
        if case .recorded(let recorded) = arrival { time = recorded }
        let gap = Gap(count: 1, first: time, last: time, reason: "the event was erased in the ledger that it comes from")
        var record = IngestRecord(
            gap.payload, .unreadable, reception: reception, origin: source.map { .named($0) } ?? .file)
        record.encoding = .gap
        return record
    }

    func isWhole(_ record: IngestRecord) -> Bool { true }

    private static func encoding(_ member: JSONMembers.Member, _ line: Span<UInt8>) throws(RecordFault) -> PayloadEncoding {
        if let name = try member.string(in: line), let encoding = LedgerLine.encoding(named: name) { return encoding }
        if let number = member.integer(in: line), let raw = UInt8(exactly: number), raw > 0 {
            return PayloadEncoding(rawValue: raw)
        }
        throw RecordFault("unknown encoding")
    }

    /// Numbers are microseconds here, unlike in other captures.
    private static func time(_ member: JSONMembers.Member, _ line: Span<UInt8>) throws(RecordFault) -> Reception {
        if let microseconds = member.integer(in: line) { return .recorded(Timestamp(microseconds: microseconds)) }
        return try ReceptionTime.read(member, line)
    }
}
