internal import Foundation

/// A value that can be stored in an index: as big-endian numbers of fixed widths, so that equal values have equal bytes.
///
/// Numbers, Booleans, texts and optionals of them conform, and enumerations of them that declare it: `enum Kind: UInt8, RowEnum, IndexValue`.
public protocol IndexValue: Sendable {
    /// In bytes: how wide each of the value's numbers is, 1 to 8.
    static var indexWidths: [Int] { get }
    /// Whether the order of the bytes is that of `<` and sort descriptors. For texts it is not: sort descriptors order them as people do.
    static var isIndexOrdered: Bool { get }
    /// For a value with one ordered number: the numbers of the values that can be compared, unlike NaN.
    static var indexSpan: ClosedRange<UInt64>? { get }
    /// Whether other values have the same bytes (an index stores only the beginning of a long text), or the value is not equal to itself, like NaN.
    var isIndexCut: Bool { get }

    /// Whether the value is nil.
    var isIndexNil: Bool { get }

    func appendIndexBytes(to bytes: inout [UInt8])
}

extension IndexValue {
    public var isIndexNil: Bool { false }
    public static var isIndexOrdered: Bool { false }
    public static var indexSpan: ClosedRange<UInt64>? { nil }
    public var isIndexCut: Bool { false }
}

extension IndexValue where Self: FixedWidthInteger {
    public static var indexWidths: [Int] { [bitWidth / 8] }
    public static var isIndexOrdered: Bool { true }

    public func appendIndexBytes(to bytes: inout [UInt8]) {
        // The sign bit is inverted, so that negative numbers come first.
        let flipped = Self.isSigned ? self ^ (1 << Self(Self.bitWidth - 1)) : self
        unsafe withUnsafeBytes(of: flipped.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}

extension UInt8: IndexValue {}
extension UInt16: IndexValue {}
extension UInt32: IndexValue {}
extension UInt64: IndexValue {}
extension UInt: IndexValue {}
extension Int8: IndexValue {
    public func appendIndexBytes(to bytes: inout [UInt8]) { bytes.append(UInt8(bitPattern: self) ^ 0x80) }
}
extension Int16: IndexValue {}
extension Int32: IndexValue {}
extension Int64: IndexValue {}
extension Int: IndexValue {}

extension Bool: IndexValue {
    public static var indexWidths: [Int] { [1] }
    public func appendIndexBytes(to bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
}

/// The bits of IEEE 754 sort as numbers do once negative ones are inverted. Both zeros are the same, and every NaN comes first.
extension Float: IndexValue {
    public static var indexWidths: [Int] { [4] }
    public static var isIndexOrdered: Bool { true }
    public static var indexSpan: ClosedRange<UInt64>? { UInt64((-infinity).ordered)...UInt64(infinity.ordered) }
    public var isIndexCut: Bool { isNaN }
    public func appendIndexBytes(to bytes: inout [UInt8]) { ordered.appendIndexBytes(to: &bytes) }

    private var ordered: UInt32 {
        guard !isNaN else { return 0 }
        let bits = self == 0 ? 0 : bitPattern
        return bits >> 31 == 1 ? ~bits : bits | 1 << 31
    }
}

extension Double: IndexValue {
    public static var indexWidths: [Int] { [8] }
    public static var isIndexOrdered: Bool { true }
    public static var indexSpan: ClosedRange<UInt64>? { (-infinity).ordered...infinity.ordered }
    public var isIndexCut: Bool { isNaN }
    public func appendIndexBytes(to bytes: inout [UInt8]) { ordered.appendIndexBytes(to: &bytes) }

    private var ordered: UInt64 {
        guard !isNaN else { return 0 }
        let bits = self == 0 ? 0 : bitPattern
        return bits >> 63 == 1 ? ~bits : bits | 1 << 63
    }
}

/// The first 64 bytes of the text's canonical composition in UTF-8, padded with zeros, and their number: 65 for more than 64.
/// Texts that are equal in Swift have equal bytes.
extension String: IndexValue {
    static let indexBytes = 64

    public static var indexWidths: [Int] { Array(repeating: 8, count: indexBytes / 8) + [1] }
    public var isIndexCut: Bool { composed.count > Self.indexBytes }

    public func appendIndexBytes(to bytes: inout [UInt8]) {
        let start = bytes.count
        let composed = composed
        bytes.append(contentsOf: composed.prefix(Self.indexBytes))
        bytes.append(contentsOf: repeatElement(0, count: start + Self.indexBytes - bytes.count))
        bytes.append(UInt8(min(composed.count, Self.indexBytes + 1)))
    }

    /// At most one byte more than an index stores.
    private var composed: [UInt8] {
        let most = Self.indexBytes + 1
        let front = Array(utf8.prefix(most))
        // A mark after the last of these changes at most that one.
        guard front.contains(where: { $0 >= 0x80 }) else { return front }
        return Array(beginning.precomposedStringWithCanonicalMapping.utf8.prefix(most))
    }

    /// Everything that the first bytes of the composition can depend on, unless hundreds of marks follow one another.
    private var beginning: String {
        utf8.count <= 1_024 ? self : String(UnicodeScalarView(unicodeScalars.prefix(512)))
    }
}

extension Optional: IndexValue where Wrapped: IndexValue {
    public static var indexWidths: [Int] { [1] + Wrapped.indexWidths }
    /// Nil comes first, as with sort descriptors.
    public static var isIndexOrdered: Bool { Wrapped.isIndexOrdered }
    public var isIndexCut: Bool { self?.isIndexCut ?? false }
    public var isIndexNil: Bool { self == nil }

    public func appendIndexBytes(to bytes: inout [UInt8]) {
        bytes.append(self == nil ? 0 : 1)
        if let value = self {
            value.appendIndexBytes(to: &bytes)
        } else {
            bytes.append(contentsOf: repeatElement(0, count: Wrapped.indexWidths.reduce(0, +)))
        }
    }
}

extension RawRepresentable where Self: IndexValue, RawValue: IndexValue {
    public static var indexWidths: [Int] { RawValue.indexWidths }
    public var isIndexCut: Bool { rawValue.isIndexCut }
    public func appendIndexBytes(to bytes: inout [UInt8]) { rawValue.appendIndexBytes(to: &bytes) }
}
