import Foundation

/// The size of a ledger on the disk.
enum LedgerFiles {
    /// In bytes; baselines count with the views, but not with the current ones, which count towards the limit.
    static func sizes(_ ledger: String) -> (log: UInt64, views: UInt64, current: UInt64) {
        let views = size(of: ledger + "/views")
        return (size(of: ledger + "/log"), views + size(of: ledger + "/baselines"), views)
    }

    /// Bytes of all files below a folder.
    private static func size(of folder: String) -> UInt64 {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return files.reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + file)  // removed in the meantime: 0
            return sum + (attributes?[.type] as? FileAttributeType == .typeRegular ? attributes?[.size] as? UInt64 ?? 0 : 0)
        }
    }
}
