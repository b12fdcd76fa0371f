/// What prevents writing a table.
public struct TableError: Error, CustomStringConvertible, Sendable {
    public enum Code: Sendable {
        /// A file is damaged or belongs to something else, or a value cannot be held.
        case damaged
        case missing
        /// Something else is there already.
        case exists
        /// The place for a new file or folder is missing.
        case cannotCreate
        /// Another process is writing there.
        case locked
        case permission
        /// What was asked for is not possible.
        case request
        /// The disk failed or is full.
        case storage
    }

    public var code: Code
    public var description: String

    public init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}
