/// A failure of libcrypto.
public struct CryptoError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: UInt8, Sendable {
        /// A key has a length that the algorithm does not support.
        case wrongKeyLength
        /// libcrypto is missing the algorithm or is out of memory.
        case unavailable
        /// A key is a weak point, or the inputs are invalid for the operation.
        case refused
    }

    public var code: Code
    /// What was attempted, such as `AES-CTR`.
    public var operation: String

    public init(_ code: Code, _ operation: String) {
        self.code = code
        self.operation = operation
    }

    public var description: String {
        switch code {
        case .wrongKeyLength: "\(operation): the algorithm does not support keys of this length"
        case .unavailable: "\(operation): libcrypto does not provide it"
        case .refused: "\(operation): libcrypto refused the key or the input"
        }
    }
}
