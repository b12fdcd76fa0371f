import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(40)))
struct RecordingsBesideWriters {
    private func recording(_ tool: Tool, _ arguments: String...) throws -> String {
        let other = tool.folder.path + "/other"
        let environment = ["MESHLEDGER": other]
        try tool.run("init", environment: environment)
        try tool.run("simulate", "--seed", "3", "--nodes", "20", "--packets", "2000", environment: environment)
        let file = tool.folder.file("mesh.recording").path
        #expect(
            try tool.start(["export", "--format", "ledger"] + arguments + [file], environment: environment).wait().status == 0)
        return file
    }

    @Test(arguments: [false, true]) func `a recording is imported beside a running writer as without one`(fromPipe: Bool) throws {
        var outputs: [[String]] = []
        let source = try Tool()
        let file = try recording(source)
        for isListening in [false, true] {
            let tool = try Tool()
            try tool.run("init")
            try tool.run("simulate", "--seed", "9", "--nodes", "9", "--packets", "200")
            let writer = isListening ? try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"]) : nil
            if let writer { try writer.wait(for: "trying again") }
            var output: [String] = []
            for path in [file, file, "/etc/passwd"] {
                let arguments = fromPipe ? ["import", "--recording", "-"] : ["import", "--recording", path]
                let input = fromPipe ? try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) : nil
                let outcome = try tool.start(arguments, input: input).wait()
                output.append(
                    "\(outcome.status) \(outcome.output) \(outcome.errors)".replacing(/import-[0-9A-F-]{36}/, with: "x"))
            }
            output.append(try tool.run("view", "digest").output)
            outputs.append(output)
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.ledger).filter { $0.hasPrefix("import-") } == [])
            guard let writer else { continue }
            writer.process.interrupt()
            #expect(try writer.wait().status == 0)
            #expect(try tool.run("verify").status == 0)
        }
        #expect(outputs[0][0].contains("2,000 events, copied from") && outputs[0][1].contains("0 events"), "\(outputs[0])")
        #expect(outputs[0][0] == outputs[1][0] && outputs[0][1] == outputs[1][1] && outputs[0][3] == outputs[1][3], "\(outputs)")
        #expect(outputs[0][2].hasPrefix("65 ") && outputs[1][2].hasPrefix("65 "), "\(outputs)")
    }

    @Test func `a recording whose reader ends early ends quietly`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--nodes", "20", "--packets", "30000")
        let outcome = try tool.shell("\"$0\" export --format ledger - | head -c 100 > /dev/null; echo \"${PIPESTATUS[0]}\"")
        #expect(outcome.output == "141\n" && outcome.errors.isEmpty, "\(outcome)")
    }
}
