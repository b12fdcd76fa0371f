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
}
