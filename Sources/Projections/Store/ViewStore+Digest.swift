package import LMDB
import MeshCrypto
import ProtobufWire

extension ViewStore {
    /// A hash of the checkpoint and of all keys and values of the tables in order: equal for equal views, regardless of the layout of their
    /// files. 16 hexadecimal digits.
    package func digest(of tables: [String]) throws(StorageError) -> String {
        let hasher = XXH3Hasher()
        let transaction = try environment.beginRead()
        let checkpoint = try checkpoint(in: transaction)
        hasher.update((bigEndian(checkpoint.sequence) + bigEndian(checkpoint.checksum)).rawSpan)
        for name in tables {
            hasher.update(Array(name.utf8).rawSpan)
            var cursor = try transaction.cursor(table(name))
            while try cursor.next() {
                hasher.update(bigEndian(UInt32(cursor.key.byteCount)).rawSpan)
                hasher.update(cursor.key)
                hasher.update(bigEndian(UInt32(cursor.value.byteCount)).rawSpan)
                hasher.update(cursor.value)
            }
        }
        return Hexadecimal.text(bigEndian(hasher.value))
    }
}
