internal import Foundation

/// A position in the order of a query, after a row: another query of the same order continues from it, whatever rows were added or removed meanwhile, also
/// after a restart. It contains the values of that row by which the query is ordered.
///
/// Its text consists of letters, digits, `-` and `_`.
public struct QueryCursor: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// Identifies the view and the order, so that a cursor of another one is refused.
    let order: UInt32
    let place: [UInt8]

    init(order: UInt32, place: [UInt8]) {
        self.order = order
        self.place = place
    }

    public init?(_ description: String) {
        var text = description.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = Data(base64Encoded: text).map(Array.init), bytes.count > 5, bytes[0] == 1 else { return nil }
        order = bytes[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
        place = Array(bytes[5...])
    }

    public var description: String {
        let bytes = [1] + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: order >> UInt32($0)) } + place
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = QueryCursor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is not the cursor of a query")
        }
        self = cursor
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
