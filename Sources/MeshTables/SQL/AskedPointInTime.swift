internal import EventLog
internal import MeshLedger

/// The value of `as_of`: an event's number, a time in ISO 8601, or as a real one in seconds since 1970.
enum AskedPointInTime {
    static func parse(_ constant: SQLConstant) throws -> PointInTime? {
        switch constant {
        case .null: return nil
        case .integer(let number):
            guard let sequence = UInt64(exactly: number) else { throw wrong("\(number)") }
            return .sequence(sequence)
        case .text(let text):
            if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                guard let sequence = UInt64(text) else { throw wrong(text) }
                return .sequence(sequence)
            }
            guard let time = ISO8601Parser.parse(text) else { throw wrong(text) }
            return .time(time)
        case .real(let seconds):
            // A smaller one, before 2001, is meant as an event's number.
            guard seconds >= 1e9, seconds < 1e11 else { throw wrong("\(seconds)") }
            return .time(Timestamp(microseconds: Int64((seconds * 1e6).rounded())))
        case .bytes: throw wrong("a blob")
        }
    }

    private static func wrong(_ text: String) -> SQLFailure {
        SQLFailure(
            description: "as_of is an event's number or a time such as '2025-09-01' or '2025-09-01T10:00:00Z', not \(text)")
    }
}
