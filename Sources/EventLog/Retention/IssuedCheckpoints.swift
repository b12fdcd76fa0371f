internal import Foundation
internal import Glibc
internal import LMDB

/// The sizes of the checkpoints that were given out, in the ledger's file `checkpoints`: a decimal number a line. A cut keeps the hashes
/// that these need beside those of whole tiles.
struct IssuedCheckpoints {
    let path: String

    init(ledger: String) { path = ledger + "/checkpoints" }

    var sizes: Set<UInt64> {
        guard let data = try? OwnFile.contents(path) else { return [] }  // what cannot be read was given out by nobody
        return Set(data.split(separator: UInt8(ascii: "\n")).compactMap { UInt64(String(decoding: $0, as: UTF8.self)) })
    }

    /// Notes a size. Whoever may not write to the ledger gets a checkpoint all the same; it can be compared until a cut drops the tile in
    /// which it ends.
    func add(_ size: UInt64) {
        guard size % LogStore.tileSize != 0, !sizes.contains(size) else { return }
        guard let file = try? SmallFile.open(path, O_WRONLY | O_CREAT | O_APPEND) else { return }  // see above
        defer { close(file) }
        let line = Array("\(size)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        fsync(file)
    }
}
