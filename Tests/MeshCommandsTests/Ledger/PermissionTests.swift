import Foundation
import TestKit
import Testing

/// The command as a user who may not do everything: root runs it as nobody, everyone else as themselves.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct PermissionTests {
    private static let nobody = 65_534

    /// A tool whose program and folder another user can reach.
    private func openTool() throws -> Tool {
        let tool = try Tool()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.folder.path)
        try FileManager.default.copyItem(at: Tool.program, to: tool.folder.file("meshledger"))
        try FileManager.default.createDirectory(
            at: place(tool), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return tool
    }

    /// Where the command is run: of root's folders nobody may enter this one.
    private func place(_ tool: Tool) -> URL { tool.folder.file("place") }

    private func run(_ tool: Tool, _ arguments: String...) throws -> Tool.Outcome { try run(tool, arguments) }

    private func run(_ tool: Tool, _ arguments: [String]) throws -> Tool.Outcome {
        let user = ["/usr/bin/setpriv", "--reuid", "\(Self.nobody)", "--regid", "\(Self.nobody)", "--clear-groups"]
        let program = [tool.folder.file("meshledger").path]
        return try tool.start(arguments, by: getuid() == 0 ? user + program : program, in: place(tool)).wait()
    }

    private func expectRefusal(_ outcome: Tool.Outcome, _ status: Int32, _ text: String) {
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("meshledger: "), "\(outcome.errors)")
        #expect(outcome.errors.filter(\.isNewline).count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
    }

    @Test func `a ledger that this user may not read is refused with 77`() throws {
        let tool = try openTool()
        try tool.run("init")
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: tool.ledger)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: tool.ledger) }
        expectRefusal(try run(tool, "nodes"), 77, "check the owner and mode")
        expectRefusal(try run(tool, "status"), 77, "check the owner and mode")
        expectRefusal(try run(tool, "import", tool.folder.file("meshledger").path), 77, "check the owner and mode")
    }

    @Test func `a file that this user may not read is refused with 77 and leaves the ledger as it was`() throws {
        let tool = try openTool()
        let file = try tool.write([Line.text("hello", from: 7)])
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: file)
        if getuid() == 0 { try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: tool.folder.path) }
        #expect(try run(tool, "init").status == 0)
        expectRefusal(try run(tool, "import", file), 77, file)
        #expect(try tool.run("checkpoint").lines.dropFirst().first == "0")
    }

    /// Changes the modes of everything in the ledger.
    private func setModes(_ tool: Tool, folders: Int, files: Int) throws {
        let root = URL(fileURLWithPath: tool.ledger)
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: tool.ledger)) {
            let path = name.isEmpty ? root.path : root.appendingPathComponent(name).path
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            try FileManager.default.setAttributes([.posixPermissions: isFolder.boolValue ? folders : files], ofItemAtPath: path)
        }
    }

    @Test func `W4: a ledger of mode 0555 answers, refuses to be written with 77, and is written again when it may be`() throws {
        let tool = try openTool()
        if getuid() == 0 { try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: tool.folder.path) }
        let file = try tool.write([Line.node(0x1234, long: "Rover", short: "RV"), Line.text("hello", from: 7)])
        #expect(try run(tool, "init").status == 0)
        #expect(try run(tool, "import", file).status == 0)
        let later = try tool.write([Line.text("later", from: 8)], to: "later.jsonl")

        for files in [0o600, 0o444] {
            try setModes(tool, folders: 0o555, files: files)
            defer { try? setModes(tool, folders: 0o755, files: 0o644) }
            for query in [
                ["nodes"], ["events"], ["messages"], ["stats"], ["verify"], ["export", "events"], ["packet", "show", "1"],
            ] {
                let outcome = try run(tool, query)
                #expect(outcome.status == 0, "\(query) \(outcome.errors)")
                #expect(outcome.errors.isEmpty, "\(query) \(outcome.errors)")
            }
            #expect(try run(tool, ["nodes"]).output.contains("Rover"))
            expectRefusal(try run(tool, "import", later), 77, "check the owner and mode")
        }
        #expect(try run(tool, "import", later).status == 0)
        #expect(try run(tool, "events", "--format", "csv").output.filter(\.isNewline).count == 4)
    }

    @Test func `a reader who may not write the lock file hears of a running writer, with 75`() throws {
        let tool = try openTool()
        if getuid() == 0 { try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: tool.folder.path) }
        #expect(try run(tool, "init").status == 0)
        try setModes(tool, folders: 0o555, files: 0o444)
        let writer = unsafe open(tool.ledger + "/LOCK", O_RDONLY | O_CLOEXEC)
        defer { close(writer) }
        #expect(flock(writer, LOCK_EX | LOCK_NB) == 0)
        expectRefusal(try run(tool, "nodes"), 75, "lock.mdb")
        #expect(flock(writer, LOCK_UN) == 0)
        #expect(try run(tool, "nodes").status == 0)
        // Reading without locks excludes writers, and their error says so.
        #expect(flock(writer, LOCK_SH | LOCK_NB) == 0)
        #expect(try run(tool, "nodes").status == 0)
        try setModes(tool, folders: 0o755, files: 0o644)
        expectRefusal(try run(tool, "rebuild"), 75, "a reader without write permission")
    }

    @Test(.enabled(if: getuid() == 0, "only root may mount a file system read-only"))
    func `W4: a ledger on a read-only mount answers and refuses to be written with 77`() throws {
        let tool = try Tool()
        let disk = tool.folder.file("disk").path
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try mount("/bin/mount", "-t", "tmpfs", "-o", "size=50m", "tmpfs", disk)
        defer { try? mount("/bin/umount", "-l", disk) }
        let environment = ["MESHLEDGER": disk + "/mesh.ledger"]
        let file = try tool.write([Line.node(0x1234, long: "Rover", short: "RV")])
        try tool.run("init", environment: environment)
        try tool.run("import", file, environment: environment)
        try mount("/bin/mount", "-o", "remount,ro", disk)
        let nodes = try tool.run("nodes", environment: environment)
        #expect(nodes.status == 0 && nodes.errors.isEmpty && nodes.output.contains("Rover"), "\(nodes.errors)")
        let refused = try tool.run("import", file, environment: environment)
        #expect(refused.status == 77 && refused.errors.filter(\.isNewline).count == 1, "\(refused.errors)")
        for command in [
            ["nodes", "--output", disk + "/new"], ["export", "all", "--output", disk + "/new"], ["lake", "write", disk + "/new"],
            ["backup", disk + "/new"], ["init", "--ledger", disk + "/new"], ["init", "--ledger", disk + "/new/deep"],
        ] {
            let outcome = try tool.start(command, environment: environment).wait()
            #expect(outcome.status == 77, "\(command): \(outcome)")
        }
    }

    private func mount(_ program: String, _ arguments: String...) throws {
        try Program.run(URL(fileURLWithPath: program), arguments)
    }

    @Test func `a ledger cannot be made in a folder that this user may not write`() throws {
        let tool = try openTool()
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: tool.folder.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.folder.path) }
        expectRefusal(try run(tool, "init"), 77, "check the owner and mode")
        let deep = tool.folder.file("new/mesh.ledger").path
        expectRefusal(try run(tool, "init", "--ledger", deep), 77, "check the owner and mode")
    }
}
