import Foundation
import TestKit
import Testing

/// The command as a user who may not do everything: root runs it as nobody, everyone else as themselves.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct PermissionTests {
    private static let nobody = 65_534

    private struct Outcome {
        let status: Int32
        let errors: String
    }

    /// A tool whose program and folder another user can reach.
    private func openTool() throws -> Tool {
        let tool = try Tool()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.folder.path)
        try FileManager.default.copyItem(at: Tool.program, to: tool.folder.file("meshledger"))
        return tool
    }

    private func run(_ tool: Tool, _ arguments: String...) throws -> Outcome {
        let process = Process()
        let program = tool.folder.file("meshledger").path
        let isRoot = getuid() == 0
        process.executableURL = URL(fileURLWithPath: isRoot ? "/usr/bin/setpriv" : program)
        let prefix = isRoot ? ["--reuid", "\(Self.nobody)", "--regid", "\(Self.nobody)", "--clear-groups", program] : []
        process.arguments = prefix + arguments
        process.environment = ["MESHLEDGER": tool.ledger, "HOME": tool.folder.path, "PATH": "/usr/bin:/bin"]
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, errors: text)
    }

    private func expectRefusal(_ outcome: Outcome, _ status: Int32, _ text: String) {
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

    @Test func `a ledger cannot be made in a folder that this user may not write`() throws {
        let tool = try openTool()
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: tool.folder.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.folder.path) }
        expectRefusal(try run(tool, "init"), 77, "check the owner and mode")
    }
}
