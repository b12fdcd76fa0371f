import Foundation
import MeshLedger

/// Creates the parent folder of a new ledger, if it is missing. A place inside another ledger is refused.
func makeParent(of path: String) throws {
    try OutputFiles.refuseLedgers(path)
    let parent = parentFolder(of: path)
    do {
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    } catch {
        if let failure = LedgerError(ofFile: error), [.full, .permission, .readOnly].contains(failure.code),
            let known = CommandError(known: failure)
        {
            throw known
        }
        let above = sequence(first: URL(fileURLWithPath: parent)) { $0.path == "/" ? nil : $0.deletingLastPathComponent() }
        if let file = above.map(\.path).first(where: { FileManager.default.fileExists(atPath: $0) }), !isFolder(file) {
            throw CommandError(.cannotCreate, "the folder \(parent) cannot be made: \(file) is a file; name another folder")
        }
        let reason = LedgerError(ofFile: error)?.description ?? "\(error)"
        throw CommandError(.cannotCreate, "the folder \(parent) cannot be made: \(reason)")
    }
}

func parentFolder(of path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
}

/// Whether something is there that is neither a file nor a folder.
func isOther(_ path: String) -> Bool {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0 else { return false }
    return facts.st_mode & S_IFMT != S_IFREG && facts.st_mode & S_IFMT != S_IFDIR
}
