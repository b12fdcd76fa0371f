import EventLog
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
            guard !isStandardInput, isFolder(name) else {
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

    /// The files below a folder, also behind links, without hidden ones. A line names what is no file; each folder is read once, so that links which
    /// lead back end.
    private static func files(in folder: String) throws -> [String] {
        var paths: [String] = []
        var (folders, known) = ([folder], Set<[UInt64]>())
        while let folder = folders.popLast() {
            guard case .folder(let identity) = kind(of: folder), known.insert(identity).inserted else { continue }
            let start = folder + (folder.hasSuffix("/") ? "" : "/")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() where !name.hasPrefix(".") {
                let path = start + name
                switch kind(of: path) {
                case .file: paths.append(path)
                case .folder: folders.append(path)
                case .other(let what): StandardOutput.error("meshledger: left out: \(DisplayWidth.safe(path)): \(what)")
                }
            }
        }
        return paths.sorted()
    }

    private enum Kind {
        case file
        /// The device and number by which the system knows it.
        case folder([UInt64])
        case other(String)
    }

    private static func kind(of path: String) -> Kind {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else {
            let number = errno
            return .other(number == ENOENT ? "a link to nothing" : SystemError.text(number))
        }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder([UInt64(facts.st_dev), UInt64(facts.st_ino)])
        case S_IFIFO: return .other("a pipe")
        case S_IFSOCK: return .other("a socket")
        default: return .other("a device")
        }
    }
}
