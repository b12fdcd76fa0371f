import Foundation
import TestKit
import Testing

/// Commands that write beside a process that listens: it does for them what they would do themselves.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(40)))
struct BesideWriterTests {
    private func listener(_ tool: Tool) throws -> Tool.Running {
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        try writer.wait(for: "trying again")
        return writer
    }

    private func capture(_ tool: Tool, _ packets: Int) throws -> String {
        let path = tool.folder.file("capture.base64").path
        let outcome = try tool.run(
            "simulate", "--nodes", "30", "--packets", "\(packets)", "--to", path, "--as", "envelopes")
        #expect(outcome.status == 0)
        return path
    }

    @Test func `every command that writes gives the same output and views as without a listener`() throws {
        let (alone, beside) = (try Tool(), try Tool())
        let file = try capture(alone, 3_000)
        var outputs: [[String]] = []
        for tool in [alone, beside] {
            #expect(try tool.run("init").status == 0)
            let writer = tool.ledger == beside.ledger ? try listener(tool) : nil
            var output: [String] = []
            for command in [
                ["import", file], ["import", file],
                ["keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="],
                ["keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="], ["keys", "remove", "Nope"],
                ["simulate", "--seed", "5", "--nodes", "9", "--packets", "500"], ["rebuild"], ["rebuild", "nope"],
                ["rebuild", "nodes"], ["seal"], ["import", "/nonexistent"], ["import", "/etc/passwd"],
                ["erase", "--sequence", "7-9", "--reason", "test", "--yes"], ["erase", "--sequence", "7", "--yes"], ["compact"],
            ] {
                let outcome = try tool.start(command).wait()
                let text = command == ["compact"] ? "" : outcome.output + outcome.errors
                output.append("\(command) \(outcome.status) \(text)")
            }
            output.append(try tool.run("messages", "--channel", "Harbour", "--limit", "5").output)
            outputs.append(output)
            guard let writer else { continue }
            let digests = try tool.run("view", "digest").output
            writer.process.interrupt()
            #expect(try writer.wait().status == 0)
            #expect(try tool.run("rebuild").status == 0)
            #expect(try tool.run("view", "digest").output == digests)
            #expect(try tool.run("verify").status == 0)
        }
        for (one, other) in zip(outputs[0], outputs[1]) { #expect(one == other) }
    }

    @Test func `when the listener is killed an import gives one line, and the next one completes without doubles`() throws {
        let tool = try Tool()
        let file = try capture(tool, 60_000)
        #expect(try tool.run("init").status == 0)
        let writer = try listener(tool)
        let importing = try tool.start(["import", file])
        try stop(importing, after: 8_000, in: tool)
        kill(writer.process.processIdentifier, SIGKILL)
        kill(importing.process.processIdentifier, SIGCONT)
        let outcome = try importing.wait()
        #expect(outcome.status == 75, "\(outcome.errors)")
        #expect(outcome.errors.filter(\.isNewline).count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("process \(writer.process.processIdentifier)"), "\(outcome.errors)")
        let again = try tool.run("import", file)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains("continued at byte"))
        #expect(try events(tool) == 60_000)
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `a live source goes on by itself when the listener is killed, and stores everything once`() throws {
        let tool = try Tool()
        let lines = try String(contentsOfFile: capture(tool, 3_000), encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: true)
        let growing = tool.folder.file("growing.base64").path
        func write(_ part: some Sequence<Substring>) throws {
            let file = try #require(FileHandle(forWritingAtPath: growing))
            try file.seekToEnd()
            try file.write(contentsOf: Data(part.map { $0 + "\n" }.joined().utf8))
            try file.close()
        }
        try Data().write(to: URL(filePath: growing))
        #expect(try tool.run("init").status == 0)
        let writer = try listener(tool)
        try write(lines.prefix(1_000))
        let source = try tool.start(["ingest", "file", "--follow", growing, "--format", "envelopes"])
        while source.process.isRunning, try events(tool) < 1_000 {}
        kill(writer.process.processIdentifier, SIGKILL)
        try write(lines.dropFirst(1_000))
        while source.process.isRunning, try events(tool) < lines.count {}
        source.process.interrupt()
        let outcome = try source.wait()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try events(tool) == lines.count)
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `an import goes on by itself when the listener ends`() throws {
        let tool = try Tool()
        let file = try capture(tool, 40_000)
        #expect(try tool.run("init").status == 0)
        let writer = try listener(tool)
        let importing = try tool.start(["import", file])
        try stop(importing, after: 4_096, in: tool)
        writer.process.terminate()
        #expect(try writer.wait().status == 0)
        kill(importing.process.processIdentifier, SIGCONT)
        let outcome = try importing.wait()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try events(tool) == 40_000)
        #expect(try tool.run("verify").status == 0)
    }

    /// Stops an import as soon as so many events are stored. It stands still while they are counted: on a loaded machine it would
    /// otherwise be over before the count is known.
    private func stop(_ importing: Tool.Running, after events: Int, in tool: Tool) throws {
        let process = importing.process
        while process.isRunning {
            kill(process.processIdentifier, SIGSTOP)
            if try self.events(tool) >= events { break }
            kill(process.processIdentifier, SIGCONT)
            usleep(5_000)
        }
        #expect(process.isRunning, "the import was over before it was stopped")
    }

    /// The head, from the log alone.
    private func events(_ tool: Tool) throws -> Int {
        let note = try tool.run("checkpoint")
        return note.status == 0 ? try #require(Int(note.lines[1])) : 0
    }

    @Test(.timeLimit(.minutes(3)))
    func `an older copy in a view's place is noticed by the process that writes, while nothing comes and nobody asks`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 7)])
        let (view, copy) = (tool.ledger + "/views/messages", tool.folder.file("copy").path)
        try FileManager.default.copyItem(atPath: view, toPath: copy)
        try tool.run("import", tool.write([Line.text("two", from: 8)], to: "more.jsonl"))
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        defer { writer.process.terminate() }
        try writer.wait(for: "trying again")
        try FileManager.default.removeItem(atPath: view)
        try FileManager.default.moveItem(atPath: copy, toPath: view)
        while try tool.run("messages", "--format", "jsonl").objects.count < 2 {}
    }
}
