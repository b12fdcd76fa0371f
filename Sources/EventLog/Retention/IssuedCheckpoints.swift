internal import Foundation
internal import Glibc
internal import LMDB

/// The sizes of the issued checkpoints, in the ledger's file `checkpoints`: a decimal number per line. A cut keeps the hashes
/// that these need in addition to those of whole tiles.
package struct IssuedCheckpoints {
    let path: String

    package init(ledger: String) { path = ledger + "/checkpoints" }

    var sizes: Set<UInt64> {
        guard let data = try? OwnedFile.contents(path) else { return [] }  // an unreadable file counts as no issued checkpoints
        return Set(data.split(separator: UInt8(ascii: "\n")).compactMap { UInt64(String(decoding: $0, as: UTF8.self)) })
    }

    /// Records a size. A user without write access to the ledger still gets a checkpoint; it can be compared until a cut drops the tile in
    /// which it ends.
    package func add(_ size: UInt64) {
        guard size % LogStore.tileSize != 0, !sizes.contains(size) else { return }
        guard let file = try? SmallFile.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: .likeFolder) else { return }  // see above
        defer { close(file) }
        let line = Array("\(size)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        fsync(file)
    }
}
