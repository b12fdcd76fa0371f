import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct FolderImports {
    @Test func `the files of a folder are imported, and what is no traffic there is named and left out`() throws {
        let tool = try Tool()
        try tool.run("init")
        let folder = tool.folder.file("captures").path
        try FileManager.default.createDirectory(atPath: folder + "/deep/.hidden", withIntermediateDirectories: true)
        for (name, seed) in [("b.jsonl", 1), ("deep/a.bin", 2), ("deep/.hidden/c.jsonl", 3)] {
            let format = name.hasSuffix("bin") ? "stream" : "jsonl"
            let made = try tool.run(
                "simulate", "--packets", "50", "--seed", "\(seed)", "--as", format, "--to", "\(folder)/\(name)")
            #expect(made.status == 0, "\(made)")
        }
        try Data("notes about these files\n".utf8).write(to: URL(fileURLWithPath: folder + "/NOTES.md"))
        let done = try tool.run("import", folder)
        #expect(done.status == 0, "\(done)")
        #expect(done.output.contains("captures/b.jsonl") && done.output.contains("captures/deep/a.bin"))
        #expect(!done.output.contains("hidden") && done.errors.contains("left out") && done.errors.contains("NOTES.md"))
        let named = try tool.run("import", folder + "/NOTES.md")
        #expect(named.status == 65 && named.errors.contains("NOTES.md"), "\(named)")
        try FileManager.default.createDirectory(atPath: folder + "/none", withIntermediateDirectories: true)
        let none = try tool.run("import", folder + "/none")
        #expect(none.status == 66 && none.errors.contains("no files"), "\(none)")
    }

    @Test func `links to folders and files are followed, once where they lead back, and what is no file is named`() throws {
        let tool = try Tool()
        try tool.run("init")
        let folder = tool.folder.file("captures").path
        try FileManager.default.createDirectory(atPath: folder + "/deep", withIntermediateDirectories: true)
        _ = try tool.write([Line.text("one", from: 1)], to: "captures/deep/a.jsonl")
        let other = try tool.write([Line.text("two", from: 2)], to: "other.jsonl")
        for (name, target) in [
            ("captures/b.jsonl", other), ("captures/deep/up", folder), ("captures/same", "."), ("captures/gone", "nowhere"),
            ("captures/round", "round"), ("linked", "captures"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: tool.folder.file(name).path, withDestinationPath: target)
        }
        #expect(unsafe mkfifo(folder + "/pipe", 0o600) == 0)
        for name in ["linked", "linked/"] {
            let done = try tool.run("import", tool.folder.path + "/" + name)
            #expect(done.status == 0 && done.lines.count { $0.contains(".jsonl (") } == 2, "\(done)")
            for line in ["linked/gone: a link to nothing", "linked/round: ", "linked/pipe: a pipe"] {
                #expect(done.errors.contains("left out: \(tool.folder.path)/\(line)"), "\(done)")
            }
            #expect(done.errors.count { $0 == "\n" } == 3, "\(done)")
        }
        #expect(try tool.run("messages", "--format", "jsonl").objects.count == 2)
    }

    @Test func `a damaged file of a folder is named, the others are imported, and the command fails`() throws {
        let tool = try Tool()
        try tool.run("init")
        let folder = tool.folder.file("captures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in [("a.jsonl", Line.text("lost", from: 1)), ("b.jsonl", Line.text("kept", from: 2))] {
            try Data((text + "\n").utf8).write(to: folder.appending(path: name))
        }
        _ = try FinishedProcess(URL(fileURLWithPath: "/bin/gzip"), [folder.path + "/a.jsonl"])
        let packed = folder.appending(path: "a.jsonl.gz")
        try Data(contentsOf: packed).dropLast(9).write(to: packed)
        let done = try tool.run("import", folder.path)
        #expect(done.status == 65 && done.output.contains("b.jsonl") && done.errors.contains("not imported"), "\(done)")
        #expect(done.errors.contains("a.jsonl.gz") && done.errors.contains("cut short"), "\(done)")
        #expect(try tool.run("messages", "--format", "jsonl").objects.map { $0["text"] as? String } == ["kept"])
    }
}
