/// The members of one JSON object, read in place: a line of a file is scanned once, and only requested values are copied.
///
/// It is strict about syntax (RFC 8259), so that a damaged line is detected, and skips nested values without examining them further.
struct JSONMembers {
    enum Kind: Sendable { case string, number, object, array, boolean, null }

    struct Member {
        /// Between the quotes, as written.
        var name: Range<Int>
        var kind: Kind
        /// The value as written, a string with its quotes.
        var value: Range<Int>
        var hasEscapes: Bool
    }

    /// The maximum nesting depth of values.
    static let depthLimit = 64

    private var position = 0
    private var isFirst = true

    /// Opens the object that fills `text` except for white space around it.
    init(_ text: Span<UInt8>) throws(RecordFault) {
        Self.skipSpace(text, &position)
        guard position < text.count, text[position] == UInt8(ascii: "{") else { throw RecordFault("not a JSON object") }
        position += 1
    }

    /// The next member, or nil when the object has ended and nothing but white space follows.
    mutating func next(_ text: Span<UInt8>) throws(RecordFault) -> Member? {
        Self.skipSpace(text, &position)
        if try peek(text) == UInt8(ascii: "}") {
            position += 1
            Self.skipSpace(text, &position)
            guard position == text.count else { throw RecordFault("text after the JSON object, at character \(position + 1)") }
            return nil
        }
        if !isFirst {
            try expect(UInt8(ascii: ","), text)
            Self.skipSpace(text, &position)
        }
        isFirst = false
        let name = try string(text)
        Self.skipSpace(text, &position)
        try expect(UInt8(ascii: ":"), text)
        Self.skipSpace(text, &position)
        let start = position
        let (kind, hasEscapes) = try value(text, depth: 0)
        return Member(name: name.inside, kind: kind, value: start..<position, hasEscapes: hasEscapes)
    }

    private func peek(_ text: Span<UInt8>) throws(RecordFault) -> UInt8 {
        guard position < text.count else { throw RecordFault("the JSON is cut short") }
        return text[position]
    }

    private mutating func expect(_ character: UInt8, _ text: Span<UInt8>) throws(RecordFault) {
        guard try peek(text) == character else { throw RecordFault("JSON: unexpected character at \(position + 1)") }
        position += 1
    }

    private static func skipSpace(_ text: Span<UInt8>, _ position: inout Int) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    private mutating func string(_ text: Span<UInt8>) throws(RecordFault) -> (inside: Range<Int>, hasEscapes: Bool) {
        try expect(UInt8(ascii: "\""), text)
        let start = position
        var hasEscapes = false
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<position - 1, hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 1
                try escape(text)
            case 0..<0x20:
                throw RecordFault("JSON: control character at \(position + 1)")
            default:
                position += 1
            }
        }
        throw RecordFault("the JSON is cut short")
    }

    private mutating func escape(_ text: Span<UInt8>) throws(RecordFault) {
        switch try peek(text) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                switch try peek(text) {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    position += 1
                default: throw RecordFault("JSON: a bad escape at \(position + 1)")
                }
            }
        default: throw RecordFault("JSON: unknown escape at \(position + 1)")
        }
    }

    private mutating func value(_ text: Span<UInt8>, depth: Int) throws(RecordFault) -> (Kind, hasEscapes: Bool) {
        guard depth < Self.depthLimit else { throw RecordFault("JSON nested deeper than \(Self.depthLimit)") }
        switch try peek(text) {
        case UInt8(ascii: "\""): return (.string, try string(text).hasEscapes)
        case UInt8(ascii: "{"):
            try elements(text, closing: UInt8(ascii: "}"), depth: depth, isObject: true)
            return (.object, false)
        case UInt8(ascii: "["):
            try elements(text, closing: UInt8(ascii: "]"), depth: depth, isObject: false)
            return (.array, false)
        case UInt8(ascii: "t"): try word("true", text)
        case UInt8(ascii: "f"): try word("false", text)
        case UInt8(ascii: "n"):
            try word("null", text)
            return (.null, false)
        default:
            try number(text)
            return (.number, false)
        }
        return (.boolean, false)
    }

    private mutating func elements(_ text: Span<UInt8>, closing: UInt8, depth: Int, isObject: Bool) throws(RecordFault) {
        position += 1
        Self.skipSpace(text, &position)
        if try peek(text) == closing {
            position += 1
            return
        }
        while true {
            if isObject {
                _ = try string(text)
                Self.skipSpace(text, &position)
                try expect(UInt8(ascii: ":"), text)
                Self.skipSpace(text, &position)
            }
            _ = try value(text, depth: depth + 1)
            Self.skipSpace(text, &position)
            if try peek(text) == closing {
                position += 1
                return
            }
            try expect(UInt8(ascii: ","), text)
            Self.skipSpace(text, &position)
        }
    }

    private mutating func word(_ word: StaticString, _ text: Span<UInt8>) throws(RecordFault) {
        for character in "\(word)".utf8 { try expect(character, text) }
    }

    private mutating func number(_ text: Span<UInt8>) throws(RecordFault) {
        if try peek(text) == UInt8(ascii: "-") { position += 1 }
        let whole = position
        try digits(text)
        if text[whole] == UInt8(ascii: "0"), position > whole + 1 { throw RecordFault("JSON: a number starts with 0") }
        if position < text.count, text[position] == UInt8(ascii: ".") {
            position += 1
            try digits(text)
        }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = try peek(text)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try digits(text)
        }
    }

    private mutating func digits(_ text: Span<UInt8>) throws(RecordFault) {
        let start = position
        while position < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) { position += 1 }
        guard position > start else {
            throw RecordFault(position < text.count ? "JSON: unexpected character at \(position + 1)" : "the JSON is cut short")
        }
    }
}
