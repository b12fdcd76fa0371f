/// A change of a property: it is set, cleared, or kept. An optional value can express only two of the three.
public enum Patch<Value> {
    case set(Value)
    case clear
    case keep

    /// Sets the value, or clears it if it is nil.
    public init(_ value: Value?) { self = value.map { .set($0) } ?? .clear }

    /// The property's value afterwards.
    @inlinable
    public func applied(to value: Value?) -> Value? {
        switch self {
        case .set(let new): new
        case .clear: nil
        case .keep: value
        }
    }

    @inlinable
    public func apply(to value: inout Value?) { value = applied(to: value) }
}

extension Patch where Value: Fillable {
    /// The same for a property that is empty when cleared.
    @inlinable
    public func apply(to value: inout Value) {
        switch self {
        case .set(let new): value = new
        case .clear: value = .unfilled
        case .keep: break
        }
    }
}

extension Patch: Sendable where Value: Sendable {}
extension Patch: Equatable where Value: Equatable {}
extension Patch: Hashable where Value: Hashable {}
