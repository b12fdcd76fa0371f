import Foundation

/// Makes the folder in which a new ledger's is to be, where it is missing.
func makeParent(of path: String) throws {
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    do {
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    } catch {
        throw CommandError(.cannotCreate, "the folder \(parent) cannot be made: \(error.localizedDescription)")
    }
}
