import EventLog

/// The reception time in a record.
enum ReceptionTime {
    /// Unix seconds, with or without a fraction, or ISO 8601 with `Z` or an offset; 0 and null mean that it was not recorded.
    static func read(_ member: JSONMembers.Member, _ line: Span<UInt8>) throws(RecordFault) -> Reception {
        switch member.kind {
        case .null: return .unrecorded
        case .string:
            guard let text = try member.string(in: line), let time = ISO8601Parser.parse(text, needsZone: true) else {
                throw RecordFault("a time that is not ISO 8601 with Z or an offset")
            }
            return .recorded(time)
        case .number:
            if let seconds = member.integer(in: line) {
                if seconds == 0 { return .unrecorded }
                let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
                guard !overflow else { throw RecordFault("a time out of range") }
                return .recorded(Timestamp(microseconds: microseconds))
            }
            guard let seconds = member.double(in: line), abs(seconds) < 9e12 else { throw RecordFault("a time out of range") }
            return seconds == 0 ? .unrecorded : .recorded(Timestamp(microseconds: Int64((seconds * 1_000_000).rounded())))
        default: throw RecordFault("a time that is neither a number nor a text")
        }
    }
}
