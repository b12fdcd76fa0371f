internal import Foundation

/// Stores a property of a type that rows do not support, or in a custom form: as bytes.
public struct RowCodec<Value: Sendable>: Sendable {
    /// Its name in the fingerprint: change it whenever the stored form changes.
    public let name: String
    let encode: @Sendable (Value) -> [UInt8]
    let decode: @Sendable ([UInt8]) -> Value?

    /// - Parameter decode: nil for bytes that are not a value, so that the row has the default.
    public init(
        _ name: String, encode: @escaping @Sendable (Value) -> [UInt8], decode: @escaping @Sendable ([UInt8]) -> Value?
    ) {
        self.name = name
        self.encode = encode
        self.decode = decode
    }
}

extension RowCodec where Value: Codable {
    /// As JSON with sorted keys, for dictionaries and structs. JSON has no NaN: a value that cannot be encoded reads as the default. Not for values
    /// whose encoding varies, such as a set: equal rows must have equal bytes.
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
