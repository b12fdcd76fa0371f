internal import ProtobufWire

/// Why a text is not JSON, and where.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        case unexpectedEnd, unexpectedByte, badNumber, badEscape, tooDeep, trailingBytes
    }

    public var code: Code
    /// Counted in bytes from the first.
    public var offset: Int

    public var description: String {
        let what =
            switch code {
            case .unexpectedEnd: "the text ends inside a value"
            case .unexpectedByte: "a character that does not belong here"
            case .badNumber: "an invalid number"
            case .badEscape: "an unknown escape in a text"
            case .tooDeep: "values are nested deeper than \(JSONParser.depthLimit)"
            case .trailingBytes: "more text after the value"
            }
        return "\(what) at byte \(offset)"
    }
}

extension JSONValue {
    /// Parses a text in UTF-8, each ill-formed part of it replaced by U+FFFD. Accepts control characters in texts, and
    /// spaces and zeros after the value: radios write both.
    ///
    /// - Throws: `JSONError` if the text is not JSON or is nested deeper than 32 values.
    public init(parsing bytes: RawSpan) throws(JSONError) {
        var parser = JSONParser(bytes)
        self = try parser.document()
    }
}

/// Parses JSON in place. Recursion is bounded, and every position is compared with the end, so no text can make it trap.
struct JSONParser: ~Escapable {
    static let depthLimit = 32

    private let bytes: RawSpan
    private var place = 0

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value(depth: 0)
        while place < bytes.byteCount {
            guard isSpace(bytes.byte(at: place)) || bytes.byte(at: place) == 0 else { throw failure(.trailingBytes) }
            place += 1
        }
        return value
    }

    private func failure(_ code: JSONError.Code) -> JSONError { JSONError(code: code, offset: place) }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    /// The next byte that is not a space, without consuming it.
    private mutating func peek() throws(JSONError) -> UInt8 {
        while place < bytes.byteCount {
            let byte = bytes.byte(at: place)
            if !isSpace(byte) { return byte }
            place += 1
        }
        throw failure(.unexpectedEnd)
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < Self.depthLimit else { throw failure(.tooDeep) }
        switch try peek() {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .array(try elements(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in word.description.utf8 {
            guard place < bytes.byteCount else { throw failure(.unexpectedEnd) }
            guard bytes.byte(at: place) == byte else { throw failure(.unexpectedByte) }
            place += 1
        }
        return value
    }

    private mutating func elements(depth: Int) throws(JSONError) -> [JSONValue] {
        var values: [JSONValue] = []
        place += 1
        if try peek() == UInt8(ascii: "]") {
            place += 1
            return values
        }
        while true {
            values.append(try value(depth: depth + 1))
            if try isLast(closing: UInt8(ascii: "]")) { return values }
        }
    }

    private mutating func members(depth: Int) throws(JSONError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        place += 1
        if try peek() == UInt8(ascii: "}") {
            place += 1
            return members
        }
        while true {
            guard try peek() == UInt8(ascii: "\"") else { throw failure(.unexpectedByte) }
            let name = try string()
            guard try peek() == UInt8(ascii: ":") else { throw failure(.unexpectedByte) }
            place += 1
            members.append(JSONValue.Member(name, try value(depth: depth + 1)))
            if try isLast(closing: UInt8(ascii: "}")) { return members }
        }
    }

    /// Consumes a comma or the closing bracket; true for the latter.
    private mutating func isLast(closing: UInt8) throws(JSONError) -> Bool {
        let byte = try peek()
        guard byte == closing || byte == UInt8(ascii: ",") else { throw failure(.unexpectedByte) }
        place += 1
        return byte == closing
    }

    private mutating func number() throws(JSONError) -> String {
        let start = place
        while place < bytes.byteCount {
            switch bytes.byte(at: place) {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"),
                UInt8(ascii: "E"):
                place += 1
                continue
            default: break
            }
            break
        }
        guard place > start else { throw failure(.unexpectedByte) }
        let digits = bytes.bytes(ByteRange(truncating: start, place - start)).asRepairedString
        guard Double(digits) != nil else {
            place = start
            throw failure(.badNumber)
        }
        return digits
    }
}

extension JSONParser {
    private mutating func string() throws(JSONError) -> String {
        place += 1
        var text: [UInt8] = []
        while place < bytes.byteCount {
            let byte = bytes.byte(at: place)
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += Array(String(try escape()).utf8)
            default: text.append(byte)
            }
        }
        throw failure(.unexpectedEnd)
    }

    /// The character after a backslash; a surrogate without its partner becomes U+FFFD.
    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard place < bytes.byteCount else { throw failure(.unexpectedEnd) }
        let byte = bytes.byte(at: place)
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = try hex4()
            if (0xd800..<0xdc00).contains(unit), let low = lowSurrogate() {
                return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)) ?? "\u{fffd}"
            }
            return Unicode.Scalar(unit) ?? "\u{fffd}"
        default:
            place -= 1
            throw failure(.badEscape)
        }
    }

    private mutating func hex4() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard place < bytes.byteCount else { throw failure(.unexpectedEnd) }
            guard let digit = Character(Unicode.Scalar(bytes.byte(at: place))).hexDigitValue else { throw failure(.badEscape) }
            value = value << 4 | UInt32(digit)
            place += 1
        }
        return value
    }

    /// The second half of a pair if it is here; otherwise nothing is consumed.
    private mutating func lowSurrogate() -> UInt32? {
        let start = place
        guard bytes.byte(at: place) == UInt8(ascii: "\\"), bytes.byte(at: place + 1) == UInt8(ascii: "u") else { return nil }
        place += 2
        do throws(JSONError) {
            let unit = try hex4()
            if (0xdc00..<0xe000).contains(unit) { return unit }
        } catch {}
        place = start
        return nil
    }
}
