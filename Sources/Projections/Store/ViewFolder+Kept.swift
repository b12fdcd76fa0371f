import Foundation
import LMDB

/// Recipes that are kept besides the one that is served, so that a user can go back: `kept` lists them, one per line; `pinned` exists while one of
/// them is served although the program asks for another.
extension ViewFolder {
    private var keptFile: String { path + "/kept" }
    private var pinFile: String { path + "/pinned" }

    /// The last one kept comes last.
    package func kept() -> [String] {
        (try? keptOrFailure()) ?? []  // unnamed ones are not kept; removal requires that the file is readable
    }

    private func keptOrFailure() throws(ViewFolderError) -> [String] {
        let data = try ViewFolderError.wrapping(keptFile) { try OwnedFile.contents(keptFile) ?? [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { !$0.contains("/") && FileManager.default.fileExists(atPath: store($0)) }
    }

    package func setKept(_ identifiers: [String]) throws(ViewFolderError) {
        try write(identifiers.map { $0 + "\n" }.joined(), to: keptFile)
    }

    package var isPinned: Bool { FileManager.default.fileExists(atPath: pinFile) }

    package func setPinned(_ isPinned: Bool) throws(ViewFolderError) {
        if isPinned { return try write("", to: pinFile) }
        guard self.isPinned else { return }
        try ViewFolderError.wrapping(pinFile) { try OwnedFile.remove(pinFile) }
    }

    func write(_ text: String, to file: String) throws(ViewFolderError) {
        try ViewFolderError.wrapping(file) { try OwnedFile.replace(file, with: Array(text.utf8), mode: .likeFolder) }
    }

    /// Checks that the served and kept recipes can be read, before a writer decides about them: a file that cannot be opened does not mean an empty list.
    package func requireReadable() throws(ViewFolderError) {
        for file in [currentFile, keptFile] {
            do throws(StorageError) {
                _ = try OwnedFile.contents(file)
            } catch {
                guard error.code == .foreign else { throw ViewFolderError(error, file) }  // reported when it is written
            }
        }
    }

    // MARK: Names

    /// Another name for a recipe's folder: a lightweight step leaves the rows where they are.
    package func alias(_ identifier: String, to other: String) throws(ViewFolderError) {
        guard !FileManager.default.fileExists(atPath: store(identifier)) else { return }
        let target = target(of: other)
        try ViewFolderError.wrapping(store(identifier)) { try OwnedFile.link(target, at: store(identifier)) }
    }

    /// The folder's own name, with aliases resolved.
    private func target(of identifier: String) -> String {
        var name = identifier
        for _ in 0..<64 {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: store(name))  // nil if it is not a link
            guard let next = link else { return name }
            name = next
        }
        return name
    }

    /// Removes all recipes except this one and the kept ones.
    package func removeOthers(than identifier: String) throws(ViewFolderError) {
        let names = [identifier] + (try keptOrFailure()).filter { $0 != identifier }
        let stays = Set(names + names.map { target(of: $0) })
        for name in recipes() where !stays.contains(name) { try remove(name) }
    }

    /// The version in a folder's name.
    package static func version(of identifier: String) -> UInt32? {
        identifier.hasPrefix("v") ? UInt32(identifier.dropFirst().prefix { $0 != "-" }) : nil
    }
}
