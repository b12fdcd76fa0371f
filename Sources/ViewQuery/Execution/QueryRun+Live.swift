package import LMDB
internal import MeshCrypto
package import Projections
internal import ProtobufWire

/// A result with a digest that identifies it.
package struct DigestedResult<Row: QueryRow> {
    package let rows: [Row]
    package let keys: [[UInt8]]
    /// SHA-256 over keys and stored rows, in the result's order.
    package let digest: [UInt8]
}

extension QueryRun {
    package func result(in store: ViewStore, _ transaction: borrowing ReadTransaction) throws -> DigestedResult<Row> {
        let keys = try identifiers(in: store, transaction).map(\.key)
        let table = try store.table(Row.table)
        var context = SHA256Context()
        var rows: [Row] = []
        rows.reserveCapacity(keys.count)
        context.start()
        for key in keys {
            guard let value = try transaction.get(table, key.rawSpan) else { continue }
            rows.append(try Self.decode(key.rawSpan, value, store))
            for part in [UInt64(key.count), UInt64(value.byteCount)] { context.update(part.bigEndianBytes.rawSpan) }
            context.update(key.rawSpan)
            context.update(value)
        }
        return DigestedResult(rows: rows, keys: keys, digest: context.finish().bytes)
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - 8 * $0)) } }
}
