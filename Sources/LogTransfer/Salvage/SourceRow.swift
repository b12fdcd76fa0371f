internal import EventLog
internal import LMDB

/// Rows of the table of sources, recognised by their form if nothing else shows what a page belongs to.
enum SourceRow {
    /// Nil if key and value are not a source: another encoding of the same source would give other bytes.
    static func source(_ key: RawSpan, _ value: RawSpan) -> EventSource? {
        guard key.byteCount == 4, (1...4200).contains(value.byteCount) else { return nil }
        let number = UInt32(bigEndian: unsafe key.unsafeLoadUnaligned(as: UInt32.self))
        let bytes = unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
        guard number > 0, let source = EventSource(id: number, bytes: bytes), source.bytes == bytes, !source.name.isEmpty else {
            return nil
        }
        return source
    }
}
