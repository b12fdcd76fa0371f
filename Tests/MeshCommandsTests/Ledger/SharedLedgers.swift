import Foundation
import TestKit
import Testing

/// A ledger that its owner has opened to a group.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct SharedLedgers {
    /// What nobody but the owner may read, unless the owner says so.
    private static let secrets: Set<String> = ["signing.key"]

    /// Runs the command with new files for the user only.
    private static let privately = ["/bin/sh", "-c", "umask 077; exec \"$@\"", "sh", Tool.program.path]

    @Test(arguments: [
        [["storage", "compact"]], [["view", "rebuild"]], [["erase", "--sequence", "20", "--yes"]],
        [["storage", "retain", "--larger-than", "100kB", "--yes"], ["view", "rebuild", "nodes"]],
        [["storage", "retain", "--policy", "--older-than", "90d"], ["storage", "limit", "1GB"]],
        [["keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "--yes"], ["nodes"]],
        [["follow", "--consumer", "a", "--no-follow"], ["follow", "--consumer", "b", "--view", "nodes", "--no-follow"]],
        [["messages", "--as-of", "1000"], ["verify"], ["backup", "BACKUP"]],
    ])
    func `a group that may read a ledger can read it after each command that changes it`(_ commands: [[String]]) throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "2000")
        try setModes(tool.ledger)
        for command in commands {
            let arguments = command.map { $0 == "BACKUP" ? tool.folder.path + "/backup" : $0 }
            let outcome = try tool.start(arguments, by: Self.privately).wait()
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        for (path, mode, isFolder) in try things(in: tool.ledger) {
            let name = (path as NSString).lastPathComponent
            let least = Self.secrets.contains(name) ? 0 : isFolder ? 0o050 : 0o040
            #expect(mode & least == least && mode & 0o007 == 0, "\(path) has the mode \(String(mode, radix: 8))")
        }
    }

    @Test func `a new ledger is its owner's`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "5", "--nodes", "30", "--packets", "500")
        try tool.run("storage", "compact")
        for (path, mode, _) in try things(in: tool.ledger) { #expect(mode & 0o077 == 0, "\(path)") }
    }

    private func things(in folder: String) throws -> [(path: String, mode: Int, isFolder: Bool)] {
        try ([""] + FileManager.default.subpathsOfDirectory(atPath: folder)).map { name in
            let path = folder + "/" + name
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            return (path, mode, attributes[.type] as? FileAttributeType == .typeDirectory)
        }
    }

    private func setModes(_ ledger: String) throws {
        for (path, mode, isFolder) in try things(in: ledger) {
            try FileManager.default.setAttributes([.posixPermissions: mode | (isFolder ? 0o050 : 0o040)], ofItemAtPath: path)
        }
    }
}
