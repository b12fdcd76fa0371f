import Foundation
package import LMDB

/// The folder of one view: an environment for each recipe, and a small file that names the one that is served.
package struct ViewFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package func store(_ identifier: String) -> String { path + "/" + identifier }

    package var currentFile: String { path + "/current" }

    /// While this is the same, so is `current()`, unless that recipe's own file was removed. Read it before `current()`.
    package var stamp: FileStamp? { FileStamp(currentFile) }

    /// The served recipe; nil before the first build, or if the file that names it is damaged, so that the view is rebuilt.
    package func current() -> String? {
        var last: String?
        // Another process may serve another recipe, and remove this one, between the two checks: then the name has changed.
        while let name = named(), name != last {
            if hasFile(name) { return name }
            last = name
        }
        return nil
    }

    /// Whether the recipe has its file: a folder without one is only the remains of a view.
    private func hasFile(_ identifier: String) -> Bool {
        var status = stat()
        return unsafe lstat(store(identifier) + "/data.mdb", &status) == 0
    }

    private func named() -> String? {
        guard (try? OwnedFile.requireFolder(path)) != nil,  // otherwise writing it reports the error
            let data = try? OwnedFile.contents(currentFile, limit: 4096)  // damaged: the view is rebuilt
        else { return nil }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let isName =
            text.hasPrefix("v")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
        return isName ? text : nil
    }

    /// Serves another recipe from now on: written to a temporary file, synced, renamed, and the folder synced, so that a reader or a
    /// crash sees the old name or the new one.
    package func serve(_ identifier: String) throws(ViewFolderError) {
        try create()
        try write(identifier + "\n", to: currentFile)
    }

    /// Creates the folder, for its owner only, unless it exists.
    package func create() throws(ViewFolderError) {
        try ViewFolderError.wrapping(path) {
            try OwnedFile.requireFolder(path)
            try OwnedFile.makeFolders(path, mode: .likeFolder)
        }
    }

    /// The recipes that have a folder, finished or not.
    package func recipes() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // no folder: no recipes
        return names.filter { $0.hasPrefix("v") }.sorted()
    }

    /// Deletes a recipe's files. Processes that still read them keep them until they close them.
    package func remove(_ identifier: String) throws(ViewFolderError) {
        try ViewFolderError.wrapping(store(identifier)) { try OwnedFile.removeAll(store(identifier)) }
    }
}

/// A view's folder could not be changed.
package struct ViewFolderError: Error, Sendable, CustomStringConvertible {
    package let path: String
    package let cause: StorageError

    /// Runs `body`; whatever it throws becomes an error about the file or folder at `path`.
    static func wrapping<Result>(_ path: String, _ body: () throws -> Result) throws(ViewFolderError) -> Result {
        do {
            return try body()
        } catch {
            throw ViewFolderError(error, path)
        }
    }

    init(_ error: any Error, _ path: String) {
        self.path = path
        cause = StorageError(foundation: error, path: path)
    }

    package var description: String { "the view's folder could not be changed: \(cause)" }
}
