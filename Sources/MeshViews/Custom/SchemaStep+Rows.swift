import LMDB
public import Projections
import ProtobufWire
public import ViewQuery

extension SchemaStep {
    /// Computes each row from the old one.
    ///
    /// ```swift
    /// SchemaVersion(3, .custom(PortUseV2.self, to: PortUse.self) { old in PortUse(node: old.node, megabytes: Double(old.bytes) / 1e6) })
    /// ```
    /// It runs when the ledger is opened for writing, in batches, into a separate file; the old rows answer until it is done, and stay if
    /// anything throws. A killed process continues where it stopped.
    ///
    /// - Parameters:
    ///   - will: called with the old rows before the first new one is made.
    ///   - did: called with the new rows before they are served.
    ///   - row: the new row; nil drops it.
    public static func custom<Old: StoredRow, New: StoredRow>(
        _ old: Old.Type, to new: New.Type, will: @escaping @Sendable (StepRows<Old>) throws -> Void = { _ in },
        did: @escaping @Sendable (StepRows<New>) throws -> Void = { _ in }, row: @escaping @Sendable (Old) throws -> New?
    ) -> SchemaStep {
        .custom(
            CustomStep(
                will: { try will(StepRows($0)) },
                row: { key, value in
                    guard let old = Old(key: key.rawSpan, value: value.rawSpan) else { throw StepError.unreadable(Old.view) }
                    return try row(old).map { ($0.key, $0.value) }
                },
                did: { try did(StepRows($0)) }))
    }
}

/// The rows before or after a custom step.
public struct StepRows<Row: StoredRow> {
    private let store: ViewStore

    init(_ store: ViewStore) { self.store = store }

    /// The number of rows.
    /// - Throws: errors of the view's file.
    public var count: Int {
        get throws { try store.environment.beginRead().count(store.table(Row.table)) }
    }

    /// Visits all rows in the order of their keys.
    /// - Throws: what `body` throws, and errors of the view's file.
    public func forEach(_ body: (Row) throws -> Void) throws {
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table(Row.table))
        while try cursor.next() {
            guard let row = Row(key: cursor.key, value: cursor.value) else { throw StepError.unreadable(Row.view) }
            try body(row)
        }
    }
}

/// Why a custom step stopped.
public enum StepError: Error, Sendable, CustomStringConvertible {
    case unreadable(String)

    public var description: String {
        switch self {
        case .unreadable(let view): "a row of \(view) cannot be read as the older version's"
        }
    }
}
