/// A type that a property of a row's key may have: integers, and enumerations of them. Their order is that of the keys.
public protocol RowKey: Sendable {
    /// In bytes.
    static var keyWidth: Int { get }
    var keyNumber: UInt64 { get }
    init?(keyNumber: UInt64)
}

extension RowKey where Self: FixedWidthInteger & UnsignedInteger {
    public static var keyWidth: Int { bitWidth / 8 }
    public var keyNumber: UInt64 { UInt64(self) }
    public init?(keyNumber: UInt64) { self.init(exactly: keyNumber) }
}

extension RowKey where Self: FixedWidthInteger & SignedInteger {
    public static var keyWidth: Int { bitWidth / 8 }
    /// With the sign bit inverted, so that negative numbers come first.
    public var keyNumber: UInt64 {
        let bits = UInt64(bitPattern: Int64(self)) ^ 1 << UInt64(Self.bitWidth - 1)
        return Self.bitWidth == 64 ? bits : bits & (1 << UInt64(Self.bitWidth) - 1)
    }
    public init?(keyNumber: UInt64) {
        let low = Int64(bitPattern: keyNumber ^ 1 << UInt64(Self.bitWidth - 1))
        let unused = Int64(64 - Self.bitWidth)
        self.init(exactly: (low << unused) >> unused)
    }
}

extension RowKey where Self: RawRepresentable, RawValue: RowKey {
    public static var keyWidth: Int { RawValue.keyWidth }
    public var keyNumber: UInt64 { rawValue.keyNumber }
    public init?(keyNumber: UInt64) {
        guard let raw = RawValue(keyNumber: keyNumber) else { return nil }
        self.init(rawValue: raw)
    }
}

extension UInt8: RowKey {}
extension UInt16: RowKey {}
extension UInt32: RowKey {}
extension UInt64: RowKey {}
extension Int8: RowKey {}
extension Int16: RowKey {}
extension Int32: RowKey {}
extension Int64: RowKey {}
