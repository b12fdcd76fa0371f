import EventLog
import Foundation
import MeshTables
import ProtobufWire

extension CellValue {
    /// Whether it has a mean: a number, or what is true or false.
    var isSummable: Bool {
        if case .bool = self { return true }
        return isNumber
    }

    /// For tables: a fraction with so many digits.
    func rounded(_ digits: Int) -> String {
        func text(_ value: Double) -> String {
            let text = Self.fixed(value, digits)
            // Nothing is not below zero.
            return text.hasPrefix("-") && !text.contains { ("1"..."9").contains($0) || $0.isLetter }
                ? String(text.dropFirst()) : text
        }
        return switch self {
        case .double(let value): text(value)
        case .float(let value): text(Double(value))
        default: plain
        }
    }

    /// For tables: times in their zone to the second, fractions with as many digits as people read.
    func table(_ zone: TableZone, digits: Int = 2) -> String {
        switch self {
        case .instant(let time): zone.text(time.seconds)
        case .second(let time): zone.text(time)
        case .double(let value): Self.short(value, digits)
        case .float(let value): Self.short(Double(value), digits)
        case .list(let values): values.map { $0.table(zone, digits: digits) }.joined(separator: " ")
        default: plain
        }
    }

    /// As C prints it: the greatest number has 309 digits before the point.
    private static func fixed(_ value: Double, _ digits: Int) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 352) { room in
            let count = unsafe withVaList([Int32(digits), value]) { unsafe vsnprintf(room.baseAddress, room.count, "%.*f", $0) }
            let bytes = unsafe UnsafeRawBufferPointer(
                rebasing: UnsafeRawBufferPointer(room)[..<max(0, min(Int(count), room.count - 1))])
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
    }

    /// At most so many digits after the point; of small numbers more.
    private static func short(_ value: Double, _ most: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return value.description }
        let digits = value != 0 && abs(value) < 0.01 ? max(5, most) : most
        var text = fixed(value, digits)
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text == "-0" ? "0" : text
    }

    /// Nil for what is no time.
    var time: Timestamp? {
        switch self {
        case .instant(let time): time
        case .second(let time): Timestamp(seconds: time)
        case .text(let text): ISO8601Parser.parse(text)
        default: nil
        }
    }

    /// The same in a list's order: null and NaN come last in the reverse order as well.
    func precedes(_ other: CellValue, reverse: Bool) -> Bool {
        guard reverse, !isLast, !other.isLast else { return precedes(other) }
        return other.precedes(self)
    }

    private var isLast: Bool { self == .null || isNaN }

    private var isNaN: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .double(let value): value.isNaN
        default: false
        }
    }

    /// Numbers by value, before NaN and texts; null comes last.
    func precedes(_ other: CellValue) -> Bool {
        switch (self, other) {
        case (.null, _): false
        case (_, .null): true
        case (.instant(let left), .instant(let right)): left < right
        case (.second(let left), .second(let right)): left < right
        case (.unsigned(let left), .unsigned(let right)): left < right
        case (.integer(let left), .integer(let right)): left < right
        case (.float(let left), .float(let right)): left < right || right.isNaN && !left.isNaN
        case (.double(let left), .double(let right)): left < right || right.isNaN && !left.isNaN
        case (.text(let left), .text(let right)): left < right
        default:
            switch (isNumber ? Double(plain) : nil, other.isNumber ? Double(other.plain) : nil) {
            case (let left?, let right?): left < right || right.isNaN && !left.isNaN
            case (nil, nil): plain < other.plain
            case (let left, _): left != nil
            }
        }
    }

    /// For tables: like `wifi=12 ble=3`, nested ones in braces.
    var summary: String {
        switch self {
        case .object(let members): members.map { "\($0.name)=\($0.value.braced)" }.joined(separator: " ")
        case .list(let values): values.map(\.braced).joined(separator: " ")
        default: plain
        }
    }

    private var braced: String {
        switch self {
        case .object, .list: "{\(summary)}"
        default: plain
        }
    }
}
