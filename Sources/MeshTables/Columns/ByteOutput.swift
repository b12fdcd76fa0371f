/// The destination of a format's bytes.
public protocol ByteOutput: AnyObject {
    /// Takes the next bytes, which are valid until it returns.
    /// - Throws: errors of the destination.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

extension ByteOutput {
    func write(_ bytes: [UInt8]) throws { try unsafe bytes.withUnsafeBytes { try unsafe write($0) } }
}

/// A format that stores columns.
public protocol BatchWriter: AnyObject {
    /// Writes the rows of a batch.
    /// - Throws: `TableError` if the format cannot store them, and errors of the output.
    func write(_ batch: ColumnBatch) throws
    /// Writes the end of the format.
    /// - Throws: as `write`.
    func finish() throws
}

/// Keeps the bytes.
public final class MemoryOutput: ByteOutput {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public func write(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes.append(contentsOf: bytes) }
}
