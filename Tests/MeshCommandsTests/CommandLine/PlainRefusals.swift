import Foundation
import TestKit
import Testing

/// Errors that a new user meets.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct PlainRefusals {
    @Test(arguments: ["nodes", "packets", "view nodes", "export nodes", "messages", "search word"])
    func `a limit below zero is refused with the reason`(_ command: String) throws {
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
        for (path, words) in [
            (tool.folder.path, "is not a ledger but a folder with other things"), (file, "is not a ledger but a file"),
        ] {
            let outcome = try tool.run("nodes", "--ledger", path)
            #expect(outcome.status == 66 && outcome.errors.contains(words) && !outcome.errors.contains("init"), "\(outcome)")
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

    @Test func `a page without rows says what there is`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1), Line.text("two", from: 2)])
        for list in ["nodes", "messages", "packets", "events"] {
            #expect(try tool.run(list, "--limit", "0").errors.contains("--limit 0 shows no rows"), "\(list)")
            let beyond = try tool.run(list, "--offset", "100")
            #expect(beyond.status == 0 && beyond.errors.contains("--offset 100 is beyond the last of 2"), "\(list): \(beyond)")
        }
    }

    @Test func `an empty name of a ledger is no ledger, and a past without events is not an empty ledger`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1)])
        let unnamed = try tool.run("nodes", "--ledger", "")
        #expect(unnamed.status == 64 && unnamed.errors.contains("--ledger names no folder"), "\(unnamed)")
        let past = try tool.run("packets", "show", "1", "--as-of", "2025-01-01")
        #expect(past.status == 66 && past.errors.contains("there is no event 1; nothing had been heard by then"), "\(past)")
        #expect(try tool.run("nodes", "--as-of", "2025-11-01").errors.contains("2025-11-01T00:00:00Z: event 1\n"))
    }

    @Test func `an option that takes one value is refused when it is given twice`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1)])
        for (arguments, option) in [
            (["packets", "--port", "TEXT_MESSAGE_APP", "--port=POSITION_APP"], "--port"),
            (["nodes", "--columns", "node", "--columns", "name"], "--columns"),
            (["messages", "--count-by", "hour", "--count-by", "from"], "--count-by"),
            (["export", "nodes", "--output", "a", "--output", "b"], "--output"),
        ] {
            let outcome = try tool.start(arguments).wait()
            #expect(outcome.status == 64 && outcome.errors.contains("\(option) is given twice"), "\(outcome)")
        }
        for arguments in [
            ["messages", "--where", "from=!01", "--where", "channel~a"], ["nodes", "note", "!01", "--", "--ledger --ledger"],
            ["nodes", "--wide", "--wide"],
        ] {
            #expect(try tool.start(arguments).wait().status == 0, "\(arguments)")
        }
    }
}
