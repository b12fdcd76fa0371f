import Foundation
import MeshIngest

/// The files to import: the named ones, and those at any depth in named folders.
struct InputFiles {
    /// In the order in which they were named; those of a folder are sorted by path.
    var paths: [String] = []
    /// The files from folders: those without traffic are skipped, since they were not named.
    private var found: Set<String> = []

    /// - Throws: if a named one does not exist or cannot be read.
    init(_ names: [String]) throws {
        for name in names {
            let isStandardInput = name == "-"
            if !isStandardInput { try FileImport.requireReadable(name) }
            guard !isStandardInput, Self.isFolder(name) else {
                paths.append(name)
                continue
            }
            let inside = try Self.files(in: name)
            guard !inside.isEmpty else { throw CommandError(.noInput, "\(name): there are no files in this folder") }
            found.formUnion(inside)
            paths += inside
        }
    }

    /// Whether a failure only means that a file from a folder is not traffic.
    func mayLeaveOut(_ path: String, because error: any Error) -> Bool {
        found.contains(path) && (error as? IngestError)?.code == .wrongFormat
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The plain files below a folder, without hidden ones and links.
    private static func files(in folder: String) throws -> [String] {
        let keys: [URLResourceKey] = [.isRegularFileKey]
        var failure: (any Error)?
        let walk = FileManager.default.enumerator(
            at: URL(fileURLWithPath: folder), includingPropertiesForKeys: keys, options: [.skipsHiddenFiles]
        ) { _, error in
            failure = error
            return false
        }
        let base = URL(fileURLWithPath: folder).path
        var paths: [String] = []
        while let file = walk?.nextObject() as? URL {
            guard try file.resourceValues(forKeys: Set(keys)).isRegularFile == true else { continue }
            paths.append(folder + (folder.hasSuffix("/") ? "" : "/") + file.path.dropFirst(base.count).drop { $0 == "/" })
        }
        if let failure { throw failure }
        return paths.sorted()
    }
}
