/// Why a query was not answered.
public struct QueryError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The predicate or the order uses what this version cannot evaluate.
        case unsupported
        /// The predicate has no value for a row: it unwraps nil, or its range ends before it begins.
        case noValue
        /// The query needs a scan, and the descriptor refuses one.
        case needsScan
        /// A cursor belongs to another view or another order.
        case otherCursor
        /// More rows had to be tested than the descriptor allows.
        case filterLimit
        /// Data of other views that the conditions need could not be read.
        case related
        /// A stored row cannot be read.
        case malformedRow
    }

    public let code: Code
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
