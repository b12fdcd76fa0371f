/// A value that may be unfilled: an empty text, a number of 0, no value at all.
public protocol Fillable {
    /// The unfilled value.
    static var unfilled: Self { get }
    var isFilled: Bool { get }
}

extension Optional: Fillable {
    @inlinable public static var unfilled: Wrapped? { nil }
    @inlinable public var isFilled: Bool { self != nil }
}

extension String: Fillable {
    @inlinable public static var unfilled: String { "" }
    @inlinable public var isFilled: Bool { !isEmpty }
}

extension Array: Fillable {
    @inlinable public static var unfilled: [Element] { [] }
    @inlinable public var isFilled: Bool { !isEmpty }
}

extension Fillable where Self: FixedWidthInteger {
    @inlinable public static var unfilled: Self { 0 }
    @inlinable public var isFilled: Bool { self != 0 }
}

extension Fillable where Self: BinaryFloatingPoint {
    @inlinable public static var unfilled: Self { 0 }
    @inlinable public var isFilled: Bool { self != 0 }
}

extension UInt8: Fillable {}
extension UInt16: Fillable {}
extension UInt32: Fillable {}
extension UInt64: Fillable {}
extension UInt: Fillable {}
extension Int8: Fillable {}
extension Int16: Fillable {}
extension Int32: Fillable {}
extension Int64: Fillable {}
extension Int: Fillable {}
extension Float: Fillable {}
extension Double: Fillable {}
