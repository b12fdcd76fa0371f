import Foundation

/// The folder of one view: an environment for each recipe, and a small file that names the one that is served.
public struct ViewFolder: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    public func store(_ identifier: String) -> String { path + "/" + identifier }

    private var currentFile: String { path + "/current" }

    /// The recipe that is served, or nil before the first build and where the file that names it is damaged: then the view is built anew.
    public func current() -> String? {
        var last: String?
        // Another process may serve another recipe, and remove this one, between the two looks: then the name has changed.
        while let name = named(), name != last {
            if FileManager.default.fileExists(atPath: store(name)) { return name }
            last = name
        }
        return nil
    }

    private func named() -> String? {
        guard let data = FileManager.default.contents(atPath: currentFile) else { return nil }
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

    /// Serves another recipe from now on: written aside, synced, renamed, and the folder synced, so that a reader or a
    /// crash sees the old name or the new one.
    public func serve(_ identifier: String) throws(ViewFolderError) {
        try create()
        let temporary = currentFile + ".new"
        let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ViewFolderError.last(temporary) }
        let bytes = Array((identifier + "\n").utf8)
        let isWritten = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) == bytes.count }
        guard isWritten, fsync(file) == 0 else {
            close(file)
            throw ViewFolderError.last(temporary)
        }
        close(file)
        guard unsafe rename(temporary, currentFile) == 0 else { throw ViewFolderError.last(currentFile) }
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw ViewFolderError.last(path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw ViewFolderError.last(path) }
    }

    /// Makes the folder, for its owner only, unless it is there.
    public func create() throws(ViewFolderError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ViewFolderError(path: path, reason: "\(error)")
        }
    }

    /// The recipes that have a folder, finished or not.
    public func recipes() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // no folder: no recipes
        return names.filter { $0.hasPrefix("v") }.sorted()
    }

    /// Deletes a recipe's files. A process that still reads them keeps them until it closes them.
    public func remove(_ identifier: String) throws(ViewFolderError) {
        do {
            try FileManager.default.removeItem(atPath: store(identifier))
        } catch {
            throw ViewFolderError(path: store(identifier), reason: "\(error)")
        }
    }
}

/// A view's folder could not be changed.
public struct ViewFolderError: Error, Sendable, CustomStringConvertible {
    public let path: String
    public let reason: String

    static func last(_ path: String) -> ViewFolderError {
        ViewFolderError(path: path, reason: unsafe String(cString: strerror(errno)))
    }

    public var description: String { "the view's folder could not be changed: \(path): \(reason)" }
}
