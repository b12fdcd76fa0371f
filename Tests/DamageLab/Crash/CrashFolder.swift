import Foundation
import TestKit

/// A folder as a disk may have it after a crash: what a sync of a file has brought there of its bytes, what a sync of a folder has of its names, and
/// of what came later some.
///
/// Names of one folder reach the disk in their order, those of different folders independently; bytes of files in any order, torn in sectors of 512 bytes.
struct CrashFolder {
    private enum Entry: Hashable {
        case folder
        case file(Int)
    }

    private enum Change {
        case set(String, Entry)
        case remove(String)
        case rename(String, String)

        func apply(to names: inout [String: Entry]) {
            switch self {
            case .set(let path, let entry): names[path] = entry
            case .remove(let path): names[path] = nil
            case .rename(let from, let to):
                guard let entry = names.removeValue(forKey: from) else { return }
                names[to] = entry
                guard entry == .folder else { return }
                for path in names.keys where path.hasPrefix(from + "/") {
                    names[Self.moved(path, from, to)] = names.removeValue(forKey: path)
                }
            }
        }

        /// The same, after a folder in which it lies got another name.
        func moved(_ from: String, _ to: String) -> Change {
            switch self {
            case .set(let path, let entry): .set(Self.moved(path, from, to), entry)
            case .remove(let path): .remove(Self.moved(path, from, to))
            case .rename(let old, let new): .rename(Self.moved(old, from, to), Self.moved(new, from, to))
            }
        }

        static func moved(_ path: String, _ from: String, _ to: String) -> String {
            path == from || path.hasPrefix(from + "/") ? to + path.dropFirst(from.count) : path
        }
    }

    private enum Edit {
        case write(Int, ArraySlice<UInt8>)
        case resize(Int, onlyGrows: Bool)

        func apply(to bytes: inout [UInt8]) {
            switch self {
            case .write(let offset, let written):
                Self.grow(&bytes, offset + written.count)
                bytes.replaceSubrange(offset..<offset + written.count, with: written)
            case .resize(let length, let onlyGrows):
                if length < bytes.count && !onlyGrows { bytes.removeSubrange(length...) } else { Self.grow(&bytes, length) }
            }
        }

        private static func grow(_ bytes: inout [UInt8], _ length: Int) {
            if bytes.count < length { bytes += [UInt8](repeating: 0, count: length - bytes.count) }
        }
    }

    private struct File {
        var durable: [UInt8] = []
        var pending: [Edit] = []
    }

    private var files: [File] = []
    /// As running processes see them, and as the disk surely has them.
    private var names: [String: Entry] = [:]
    private var durableNames: [String: Entry] = [:]
    private var pendingNames: [(folder: String, change: Change)] = []

    /// What lies in a folder, all of it on the disk.
    init(_ root: String) throws {
        names[""] = .folder
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
            let attributes = try FileManager.default.attributesOfItem(atPath: root + "/" + path)
            if attributes[.type] as? FileAttributeType == .typeDirectory {
                names["/" + path] = .folder
            } else if !["lock.mdb", "LOCK", "control.sock", "acks"].contains((path as NSString).lastPathComponent) {
                files.append(File(durable: [UInt8](try Data(contentsOf: URL(fileURLWithPath: root + "/" + path)))))
                names["/" + path] = .file(files.count - 1)
            }
        }
        durableNames = names
    }

    /// - Returns: whether anything may be otherwise after a crash than before the call.
    mutating func apply(_ call: FolderTrace.Call) -> Bool {
        switch call {
        case .makeFile(let path):
            files.append(File())
            change(path, .set(path, .file(files.count - 1)))
        case .makeFolder(let path): change(path, .set(path, .folder))
        case .remove(let path): change(path, .remove(path))
        case .rename(let from, let to): change(to, .rename(from, to))
        case .write(let path, let offset, let bytes, let isSynced):
            guard case .file(let number)? = names[path] else { return false }
            if isSynced {
                Edit.write(offset, bytes).apply(to: &files[number].durable)
            } else {
                files[number].pending.append(.write(offset, bytes))
            }
        case .resize(let path, let length, let onlyGrows):
            guard case .file(let number)? = names[path] else { return false }
            files[number].pending.append(.resize(length, onlyGrows: onlyGrows))
        case .sync(let path):
            sync(path)
            return false
        case .acknowledged: break
        }
        return true
    }

    private mutating func change(_ path: String, _ change: Change) {
        if case .rename(let from, let to) = change, names[from] == .folder {
            // What has changed in it is still to come to the disk, under its new name.
            pendingNames = pendingNames.map { earlier in
                let isInside = earlier.folder == from || earlier.folder.hasPrefix(from + "/")
                return isInside ? (Change.moved(earlier.folder, from, to), earlier.change.moved(from, to)) : earlier
            }
        }
        change.apply(to: &names)
        pendingNames.append(((path as NSString).deletingLastPathComponent.replacing(/^\/$/, with: ""), change))
    }

    private mutating func sync(_ path: String) {
        switch names[path] {
        case .file(let number)?:
            for edit in files[number].pending { edit.apply(to: &files[number].durable) }
            files[number].pending = []
        case .folder?:
            for (folder, change) in pendingNames where folder == path { change.apply(to: &durableNames) }
            pendingNames.removeAll { $0.folder == path }
        case nil: break
        }
    }

    /// What a crash leaves: all that was done, or some of it.
    func image(isWhole: Bool, _ generator: inout SeededGenerator) -> [String: [UInt8]?] {
        var found = isWhole ? names : durableNames
        if !isWhole {
            var left: [String: Int] = [:]
            for folder in Set(pendingNames.map(\.folder)).sorted() {
                let count = pendingNames.count { $0.folder == folder }
                left[folder] = Int.random(in: 0...count, using: &generator)
            }
            for (folder, change) in pendingNames where left[folder, default: 0] > 0 {
                left[folder, default: 0] -= 1
                change.apply(to: &found)
            }
        }
        var image: [String: [UInt8]?] = [:]
        for (path, entry) in found.sorted(by: { $0.key < $1.key }) {
            let parent = (path as NSString).deletingLastPathComponent.replacing(/^\/$/, with: "")
            guard path.isEmpty || image.keys.contains(parent) else { continue }
            switch entry {
            case .folder: image[path] = .some(nil)
            case .file(let number): image[path] = bytes(files[number], isWhole: isWhole, &generator)
            }
        }
        return image
    }

    private func bytes(_ file: File, isWhole: Bool, _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = file.durable
        let chance = isWhole ? 1 : [0.0, 0.1, 0.5, 0.9, 1][Int.random(in: 0..<5, using: &generator)]
        for edit in file.pending where isWhole || Double.random(in: 0..<1, using: &generator) < chance {
            guard !isWhole, case .write(let start, let written) = edit, Int.random(in: 0..<4, using: &generator) == 0 else {
                edit.apply(to: &bytes)
                continue
            }
            var (offset, rest) = (start, written)
            while !rest.isEmpty {
                let count = min(512 - offset % 512, rest.count)
                if Bool.random(using: &generator) { Edit.write(offset, rest.prefix(count)).apply(to: &bytes) }
                rest = rest.dropFirst(count)
                offset += count
            }
        }
        return bytes
    }

    /// Puts an image where a process can open it.
    static func store(_ image: [String: [UInt8]?], at path: String) throws {
        try? FileManager.default.removeItem(atPath: path)  // else making it fails
        for (name, bytes) in image.sorted(by: { $0.key < $1.key }) {
            if let bytes {
                guard FileManager.default.createFile(atPath: path + name, contents: Data(bytes)) else {
                    throw Failure("no \(path + name)")
                }
            } else {
                try FileManager.default.createDirectory(atPath: path + name, withIntermediateDirectories: true)
            }
        }
    }
}
