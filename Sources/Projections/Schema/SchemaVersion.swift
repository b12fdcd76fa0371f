/// One version of a view's rows and of the fold that makes them, and how a view comes to it from the version before.
public struct SchemaVersion: Sendable {
    public let number: UInt32
    public let step: SchemaStep

    /// - Parameter step: by default the view is folded again from the log, which is always right.
    public init(_ number: UInt32, _ step: SchemaStep = .replay) {
        self.number = number
        self.step = step
    }
}

/// How a view comes from one version to the next.
public enum SchemaStep: Sendable {
    /// The log is folded again, beside the old rows, which answer meanwhile.
    case replay
    /// The rows stay as they are, since they are read by the numbers of their fields: what they do not store reads as its default. Right where
    /// the new fold would go on with them as if it had made them.
    case lightweight([RowChange])
    /// Each row is made anew from the old one, into a new file.
    case custom(CustomStep)

    /// As people name it.
    public var name: String {
        switch self {
        case .replay: "replay"
        case .lightweight: "lightweight"
        case .custom: "custom"
        }
    }
}

/// What a lightweight step does to the properties of rows.
public enum RowChange: Sendable, Hashable {
    case added(String)
    case removed(String)
    /// The number of its field stays.
    case renamed(String, from: String)
}

/// A transform of rows.
public struct CustomStep: Sendable {
    /// Called before the first row is made, with the old rows; what it throws stops the step before anything is written.
    public let will: @Sendable (_ old: ViewStore) throws -> Void
    /// Makes a row's key and value of an old row's; nil where it goes.
    public let row: @Sendable (_ key: [UInt8], _ value: [UInt8]) throws -> (key: [UInt8], value: [UInt8])?
    /// Called with the new rows before they are served; what it throws leaves the old ones in place.
    public let did: @Sendable (_ new: ViewStore) throws -> Void

    public init(
        will: @escaping @Sendable (ViewStore) throws -> Void,
        row: @escaping @Sendable (_ key: [UInt8], _ value: [UInt8]) throws -> (key: [UInt8], value: [UInt8])?,
        did: @escaping @Sendable (ViewStore) throws -> Void
    ) {
        self.will = will
        self.row = row
        self.did = did
    }
}
