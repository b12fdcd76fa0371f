/// A table with typed keys and values.
///
/// ```swift
/// let names = try environment.table("names", UInt32.self, String.self)
/// try environment.write { (write) throws(StorageError) in try write.put(names, 7, "Base") }
/// ```
public struct Table<Key: KeyCodec, Value: ValueCodec>: Sendable {
    public let raw: RawTable

    public init(raw: RawTable) { self.raw = raw }
}

extension TransactionReading where Self: ~Copyable {
    /// The value stored under `key`, or nil.
    /// - Throws: `.malformedValue` if the bytes are not a `Value`, and what the form without types throws.
    public func get<Key, Value>(_ table: Table<Key, Value>, _ key: Key) throws(StorageError) -> Value? {
        var buffer = KeyBuffer()
        key.encode(into: &buffer)
        guard let bytes = try get(table.raw, buffer.bytes) else { return nil }
        return try Value(decodingValue: bytes)
    }

    /// All rows from `start` on (from the first when nil) in the order of their keys, until `body` returns false.
    /// - Throws: `.malformedValue` if the bytes are not a `Key` or a `Value`, what `body` throws, and what moving a cursor
    ///   throws.
    public func forEach<Key, Value>(
        _ table: Table<Key, Value>, from start: Key? = nil, _ body: (Key, Value) throws(StorageError) -> Bool
    ) throws(StorageError) {
        var cursor = try cursor(table.raw)
        var isThere: Bool
        if let start {
            var buffer = KeyBuffer()
            start.encode(into: &buffer)
            isThere = try cursor.seek(atOrAfter: buffer.bytes)
        } else {
            isThere = try cursor.first()
        }
        while isThere {
            guard try body(Key(decodingKey: cursor.key), Value(decodingValue: cursor.value)) else { return }
            isThere = try cursor.next()
        }
    }
}

extension WriteTransaction {
    /// Stores `value` under `key`.
    /// - Throws: as the form without types.
    public mutating func put<Key, Value>(
        _ table: Table<Key, Value>, _ key: Key, _ value: Value, _ mode: PutMode = .replace
    ) throws(StorageError) {
        var buffer = KeyBuffer()
        key.encode(into: &buffer)
        try value.withValueBytes { (bytes) throws(StorageError) in
            try put(table.raw, key: buffer.bytes, value: bytes, mode)
        }
    }

    /// Removes a row.
    /// - Returns: whether it existed.
    /// - Throws: as the form without types.
    @discardableResult
    public mutating func delete<Key, Value>(_ table: Table<Key, Value>, _ key: Key) throws(StorageError) -> Bool {
        var buffer = KeyBuffer()
        key.encode(into: &buffer)
        return try delete(table.raw, key: buffer.bytes)
    }
}

/// A named table of an open environment: byte keys in byte order, each with one byte value.
public struct RawTable: Sendable, Hashable {
    public let name: String
    @usableFromInline let number: UInt32

    /// The table in which LMDB keeps its free pages.
    static let freePages = RawTable(name: "", number: 0)

    init(name: String, number: UInt32) {
        self.name = name
        self.number = number
    }
}
