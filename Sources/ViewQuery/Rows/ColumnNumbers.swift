internal import Synchronization

/// Finds a row's columns by their key paths.
///
/// Comparing two key paths takes about a hundred nanoseconds, and each place in a program has a separate one for the same property; so results
/// are cached by the key path's identity.
///
/// Synchronization: the mutex.
final class ColumnNumbers: Sendable {
    private struct Known {
        /// Retained so that no other key path gets its address.
        let keyPath: any AnyKeyPath & Sendable
        let number: Int?
    }

    private let columns: [any AnyKeyPath & Sendable]
    private let known = Mutex<[ObjectIdentifier: Known]>([:])
    /// Key paths that a program creates each time must not be retained forever.
    private static let mostKnown = 1_024

    init(_ columns: [any AnyKeyPath & Sendable]) { self.columns = columns }

    /// The place of the property among the row's columns; nil if it is not a column.
    func number(of keyPath: AnyKeyPath) -> Int? {
        // It is only retained and never read through, so it does not matter whether its captures are Sendable.
        let held = unsafe unsafeBitCast(keyPath, to: (any AnyKeyPath & Sendable).self)
        return known.withLock { known in
            if let known = known[ObjectIdentifier(keyPath)] { return known.number }
            let number = columns.firstIndex { $0 as AnyKeyPath == held as AnyKeyPath }
            if known.count >= Self.mostKnown { known.removeAll() }
            known[ObjectIdentifier(keyPath)] = Known(keyPath: held, number: number)
            return number
        }
    }
}
