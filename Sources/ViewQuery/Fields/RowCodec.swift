internal import Foundation

/// How a property is stored whose type rows do not know, or which is to be stored otherwise: as bytes.
public struct RowCodec<Value: Sendable>: Sendable {
    /// As it stands in the fingerprint: give it another name whenever it stores something else.
    public let name: String
    let encode: @Sendable (Value) -> [UInt8]
    let decode: @Sendable ([UInt8]) -> Value?

    /// - Parameter decode: nil for bytes that are no value: the row then has the default.
    public init(
        _ name: String, encode: @escaping @Sendable (Value) -> [UInt8], decode: @escaping @Sendable ([UInt8]) -> Value?
    ) {
        self.name = name
        self.encode = encode
        self.decode = decode
    }
}

extension RowCodec where Value: Codable {
    /// As JSON with sorted keys, for dictionaries and structs. JSON has no NaN: what cannot be encoded reads as the default. Not for what is encoded in
    /// another order each time, such as a set: equal rows must be equal bytes.
    public static var json: RowCodec {
        RowCodec("json") { value in
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return (try? encoder.encode(value)).map { Array($0) } ?? []  // as its comment says
        } decode: { bytes in
            try? JSONDecoder().decode(Value.self, from: Data(bytes))  // as its comment says
        }
    }
}
