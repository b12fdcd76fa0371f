/// One version of a view's rows and of the fold that makes them, and how a view migrates to it from the previous version.
public struct SchemaVersion: Sendable {
    public let number: UInt32
    public let step: SchemaStep

    /// - Parameter step: by default the view is folded again from the log, which is always correct.
    public init(_ number: UInt32, _ step: SchemaStep = .replay) {
        self.number = number
        self.step = step
    }
}

/// How a view migrates from one version to the next.
public enum SchemaStep: Sendable {
    /// The log is folded again, beside the old rows, which answer queries meanwhile.
    case replay
    /// The rows stay as they are, since they are read by field number: what they do not store reads as its default. Correct if
    /// the new fold can continue from them as if it had made them.
    case lightweight([RowChange])
    /// Each row is computed from the old one, into a new file.
    case custom(CustomStep)

    /// Its name for people.
    public var name: String {
        switch self {
        case .replay: "replay"
        case .lightweight: "lightweight"
        case .custom: "custom"
        }
    }
}

/// How a lightweight step changes the properties of rows.
public enum RowChange: Sendable, Hashable {
    case added(String)
    case removed(String)
    /// Its field number stays.
    case renamed(String, from: String)
}

/// A transform of rows.
public struct CustomStep: Sendable {
    /// Called before the first row is made, with the old rows; an error stops the step before anything is written.
    package let will: @Sendable (_ old: ViewStore) throws -> Void
    /// Computes a row's new key and value from the old ones; nil drops the row.
    public let row: @Sendable (_ key: [UInt8], _ value: [UInt8]) throws -> (key: [UInt8], value: [UInt8])?
    /// Called with the new rows before they are served; an error leaves the old ones in place.
    package let did: @Sendable (_ new: ViewStore) throws -> Void

    package init(
        will: @escaping @Sendable (ViewStore) throws -> Void,
        row: @escaping @Sendable (_ key: [UInt8], _ value: [UInt8]) throws -> (key: [UInt8], value: [UInt8])?,
        did: @escaping @Sendable (ViewStore) throws -> Void
    ) {
        self.will = will
        self.row = row
        self.did = did
    }
}
