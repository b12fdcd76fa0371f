import Foundation
import TestKit
import Testing

/// Errors that a new user meets.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct PlainRefusals {
    @Test(arguments: ["nodes", "packets", "view nodes", "export nodes", "messages", "search word"])
    func `a limit below nothing is told as such`(_ command: String) throws {
        let tool = try Tool()
        for (option, number) in [("--limit", "-1"), ("--offset", "-20")] {
            let outcome = try tool.start(command.split(separator: " ").map(String.init) + [option, number]).wait()
            #expect(outcome.status == 64 && outcome.errors.contains("\(option) is a number of rows"), "\(outcome)")
            #expect(outcome.errors.contains("0 or more, not \(number)"), "\(outcome)")
        }
    }

    @Test func `a folder or file that is no ledger is not to be made one`() throws {
        let tool = try Tool()
        let file = try tool.write(["something"], to: "notes.txt")
        for (path, told) in [
            (tool.folder.path, "is not a ledger but a folder with other things"), (file, "is not a ledger but a file"),
        ] {
            let outcome = try tool.run("nodes", "--ledger", path)
            #expect(outcome.status == 66 && outcome.errors.contains(told) && !outcome.errors.contains("init"), "\(outcome)")
        }
        let empty = tool.folder.file("empty").path
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
        #expect(try tool.run("nodes", "--ledger", empty).errors.contains("make one with `meshledger init"))
    }

    @Test func `a file that is missing, or a folder, has one status wherever it is named`() throws {
        let tool = try Tool()
        try tool.run("init")
        for file in [tool.folder.file("none").path, tool.folder.path] {
            for command in [
                ["verify", "--checkpoint", file], ["ingest", "mqtt", "mqtt://127.0.0.1:1", "--password-file", file],
                ["ingest", "mqtt", "mqtts://127.0.0.1:1", "--ca-file", file],
            ] {
                let refused = try tool.start(command).wait()
                #expect(refused.status == 66 && refused.errors.contains(file), "\(command): \(refused)")
            }
        }
        let endless = try tool.run("verify", "--checkpoint", "/dev/zero")
        #expect(endless.status == 65 && endless.errors.contains("/dev/zero is no note"), "\(endless)")
    }
}
