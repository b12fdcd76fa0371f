import Foundation
package import LMDB
import ProtobufWire

/// A baseline, which is only read.
package struct BaselineFile {
    fileprivate let environment: Environment

    package var path: String { environment.path }

    /// - Parameter file: its data file, which was checked.
    package init(_ file: String) throws {
        var options = EnvironmentOptions(access: .readOnly, sizeLimit: ViewStore.reservation, maximumTables: 64)
        options.excludesWriters = true
        options.createsFolder = false
        environment = try Environment.open((file as NSString).deletingLastPathComponent, options)
    }

    package func tableNames() throws(StorageError) -> [String] { try environment.tableNames() }

    /// Visits the rows of a table.
    package func forEach(_ name: String, _ body: (RawSpan, RawSpan) throws(StorageError) -> Void) throws(StorageError) {
        let table = try environment.table(name)
        let read = try environment.beginRead()
        var cursor = try read.cursor(table)
        while try cursor.next() { try body(cursor.key, cursor.value) }
    }

    package func close() { environment.close() }
}

/// Copies a baseline without some of its rows: no page of the new file contains their bytes.
package struct BaselineCopy {
    /// How many rows one transaction copies.
    private static let step = 4_096

    package let original: BaselineFile
    private let to: Environment

    /// - Parameters:
    ///   - file: the baseline's data file, which was checked; it is only read.
    ///   - path: a folder that does not exist yet.
    package init(of file: String, at path: String) throws {
        try OwnedFile.makeFolders(path, mode: .likeFolder)
        original = try BaselineFile(file)
        var options = EnvironmentOptions(sizeLimit: ViewStore.reservation, maximumTables: 64)
        options.isSharedLikeFolder = true
        to = try Environment.open(path, options)
    }

    /// Copies a table.
    /// - Parameter row: returns the row's new value, nil to drop the row.
    package func copy(_ name: String, _ row: (RawSpan, RawSpan) throws(StorageError) -> [UInt8]?) throws(StorageError) {
        let (source, target) = (try original.environment.table(name), try to.table(name))
        var last: [UInt8]?
        var isThere = true
        while isThere {
            let read = try original.environment.beginRead()
            var write = try to.beginWrite()
            var cursor = try read.cursor(source)
            if let last { isThere = try cursor.seek(atOrAfter: (last + [0]).rawSpan) } else { isThere = try cursor.first() }
            for _ in 0..<Self.step where isThere {
                if let value = try row(cursor.key, cursor.value) {
                    try write.put(target, key: cursor.key, value: value.rawSpan, .append)
                }
                last = cursor.key.asArray
                isThere = try cursor.next()
            }
            try write.commit()
        }
    }

    /// Closes both files; the new one is then on disk.
    package func finish() throws(StorageError) {
        try to.sync()
        to.close()
        original.close()
    }
}
