import Foundation
import LMDB
import MeshCrypto
import ProtobufWire

/// The baselines of a ledger: what each view had built from the events that retention dropped, in `baselines/N/VIEW`, where N is the last of these
/// events. These files never change.
package struct BaselineFolder: Sendable {
    package let path: String

    package init(ledger: String) { path = ledger + "/baselines" }

    /// Where the next ones are built.
    package var building: String { path + "/building" }

    /// Where those are built that a further erasure shortens.
    package func step(_ number: Int) -> String { "\(building)-\(number)" }
    package func removeStep(_ number: Int) throws { try OwnedFile.removeAll(step(number)) }

    package func folder(_ view: String, through last: UInt64) -> String { "\(path)/\(last)/\(view)" }
    package func file(_ view: String, through last: UInt64) -> String { folder(view, through: last) + "/data.mdb" }

    /// Empties the folder where the next ones are built.
    package func prepareBuilding() throws {
        try OwnedFile.removeAll(building)
        try OwnedFile.makeFolders(building, mode: .likeFolder)
    }

    /// Moves finished baselines, which are on disk, into place.
    package func finishBuilding(through last: UInt64) throws { try finishBuilding(as: String(last)) }

    private func finishBuilding(as name: String) throws {
        for view in try FileManager.default.contentsOfDirectory(atPath: building) {
            let lock = "\(building)/\(view)/lock.mdb"
            try OwnedFile.remove(lock)
            try Self.sync("\(building)/\(view)/data.mdb")
            try Self.sync("\(building)/\(view)")
        }
        try Self.sync(building)
        let place = path + "/" + name
        try OwnedFile.removeAll(place)
        try OwnedFile.move(building, to: place)
        try Self.sync(path)
        try Self.sync((path as NSString).deletingLastPathComponent)
    }

    // MARK: Replacing

    /// Puts finished baselines beside those in force, until an event names them.
    /// - Returns: the hash of each view's file.
    package func finishReplacement(of last: UInt64) throws -> [String: [UInt8]] {
        try finishBuilding(as: "\(last)-next")
        return try replacement(of: last) ?? [:]
    }

    /// The hashes of baselines that wait to replace those in force; nil if none do.
    package func replacement(of last: UInt64) throws -> [String: [UInt8]]? {
        let place = "\(path)/\(last)-next"
        try OwnedFile.requireFolder(place)
        guard FileManager.default.fileExists(atPath: place) else { return nil }
        var digests: [String: [UInt8]] = [:]
        for view in try FileManager.default.contentsOfDirectory(atPath: place) {
            digests[view] = try Self.digest(in: "\(place)/\(view)")
        }
        return digests
    }

    /// Replaces the baselines in force, which are removed. Can be repeated after an interruption.
    package func replace(_ last: UInt64) throws {
        let (place, next) = ("\(path)/\(last)", "\(path)/\(last)-next")
        // Without a replacement, those in force must not be removed.
        guard FileManager.default.fileExists(atPath: next) else { throw ViewFolderError(POSIXError(.ENOENT), next) }
        try OwnedFile.removeAll(place)
        try OwnedFile.move(next, to: place)
        try Self.sync(path)
    }

    /// Takes the baseline of one view out of those that wait to replace the ones in force.
    package func leaveOut(_ view: String, ofReplacement last: UInt64) throws {
        try OwnedFile.removeAll("\(path)/\(last)-next/\(view)")
        try Self.sync("\(path)/\(last)-next")
    }

    package func removeReplacement(of last: UInt64) throws {
        try OwnedFile.removeAll("\(path)/\(last)-next")
        try Self.sync(path)
    }

    /// Removes all baselines except those in force.
    package func removeAll(but last: UInt64) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        let names = try ViewFolderError.wrapping(path) { try FileManager.default.contentsOfDirectory(atPath: path) }
        let others = names.filter { $0 != String(last) }
        for name in others { try OwnedFile.removeAll(path + "/" + name) }
        if !others.isEmpty { try Self.sync(path) }
    }

    /// The hash of a baseline's file, by which it is named; nil if it is missing. The file is not interpreted before its hash was checked.
    package func digest(_ view: String, through last: UInt64) throws -> [UInt8]? {
        try OwnedFile.requireFolder("\(path)/\(last)")
        return try Self.digest(in: folder(view, through: last))
    }

    private static func digest(in folder: String) throws -> [UInt8]? {
        try OwnedFile.requireFolder(folder)
        let path = folder + "/data.mdb"
        guard try OwnedFile.require(path) != nil else { return nil }
        let handle = FileHandle(fileDescriptor: try OwnedFile.open(path, O_RDONLY), closeOnDealloc: true)
        var context = SHA256Context()
        while let chunk = try handle.read(upToCount: 1 << 20), !chunk.isEmpty { context.update(Array(chunk).rawSpan) }
        return context.finish().bytes
    }

    private static func sync(_ path: String) throws {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw ViewFolderError(POSIXError(errno), path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw ViewFolderError(POSIXError(errno), path) }
    }
}
