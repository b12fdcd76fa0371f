import Foundation
import TestKit
import Testing

/// What an import says of itself.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct ImportCounts {
    private func capture(_ tool: Tool, _ name: String, seed: Int, packets: Int = 200, _ more: [String] = []) throws -> String {
        let file = tool.folder.file(name).path
        let made = try tool.start(
            ["simulate", "--seed", "\(seed)", "--nodes", "15", "--packets", "\(packets)", "--bad", "0", "--to", file] + more
        ).wait()
        #expect(made.status == 0, "\(made)")
        return file
    }

    @Test func `where a file is refused, the others are stored and summed up, and the refusal is the status`() throws {
        let tool = try Tool()
        try tool.run("init")
        let good = try capture(tool, "good", seed: 1)
        let notes = try tool.write(["notes about", "these files"], to: "notes.txt")
        let later = try capture(tool, "later", seed: 2)
        let outcome = try tool.run("import", good, notes, later)
        #expect(outcome.status == 65 && outcome.errors.hasSuffix("meshledger: not imported: \(notes)\n"), "\(outcome)")
        #expect(outcome.errors.contains("not a format that can be imported"), "\(outcome)")
        #expect(outcome.output.contains("good (") && outcome.output.contains("later ("), "\(outcome)")
        let alone = try Tool()
        try alone.run("init")
        let summary = try #require(alone.run("import", good, later).lines.first { $0.contains("packets: ") })
        #expect(outcome.lines.contains(summary), "\(outcome)")
    }

    @Test func `two imports at once count what they stored themselves`() throws {
        let tool = try Tool()
        try tool.run("init")
        let files = try [(1, 3_000), (2, 2_000)].map { try capture(tool, "capture\($0.0)", seed: $0.0, packets: $0.1) }
        let alone = try files.map { file in
            let one = try Tool()
            try one.run("init")
            return try #require(one.run("import", file).lines.first { $0.contains("packets: ") })
        }
        let running = try files.map { try tool.start(["import", $0]) }
        let outcomes = try running.map { try $0.wait() }
        for (outcome, summary) in zip(outcomes, alone) {
            #expect(outcome.status == 0 && outcome.lines.contains(summary), "\(outcome) without \(summary)")
        }
    }

    @Test(arguments: ["gzip", "zstd"]) func `a compressed capture is read from standard input as from a file`(program: String)
        throws
    {
        let tool = try Tool()
        try tool.run("init")
        let file = try capture(tool, "capture", seed: 3)
        let packed = tool.folder.file("packed")
        try Program.run(URL(fileURLWithPath: "/usr/bin/env"), [program, "-c", file], to: packed)
        let bytes = try Data(contentsOf: packed)
        /// Through a pipe, in small pieces.
        func piped(_ bytes: Data) throws -> Tool.Outcome {
            let pipe = Pipe.ofOneChild()
            let running = try tool.start(["import", "-"], input: pipe)
            for start in stride(from: 0, to: bytes.count, by: 997) {
                try pipe.fileHandleForWriting.write(contentsOf: bytes[start..<min(start + 997, bytes.count)])
            }
            try pipe.fileHandleForWriting.close()
            return try running.wait()
        }
        let outcome = try piped(bytes)
        #expect(outcome.status == 0 && outcome.output.contains(": 200 events"), "\(outcome)")
        let redirected = try tool.start(["import", "-"], input: try FileHandle(forReadingFrom: packed)).wait()
        #expect(redirected.status == 0 && redirected.output.contains("receptions were already there"), "\(redirected)")
        let cut = try piped(bytes.prefix(bytes.count - 9))
        #expect(cut.status == 65 && cut.errors.contains("cut short"), "\(cut)")
    }

    @Test
    func `JSON of an unknown type, and packets under a known channel's hash that its key does not open, get advice that helps`()
        throws
    {
        let tool = try Tool()
        try tool.run("init")
        let odd =
            #"{"channel":0,"from":305419896,"id":77,"payload":{"who":"knows"},"sender":"!12345678","timestamp":1780000000,"to":4294967295,"type":"never heard of"}"#
        let json = try tool.run("import", tool.write([odd], to: "odd.jsonl"))
        #expect(json.status == 0 && json.output.contains("1 came as JSON of an unknown type"), "\(json)")
        #expect(!json.output.contains("keys add"), "\(json)")
        let shown = try tool.run("packets", "show", "1").output
        #expect(shown.contains("no key is missing") && !shown.contains("keys add"), "\(shown)")
        // LongFast has hash 8: 24 bytes that its key turns into nothing.
        var packet: [UInt8] = [0x0d, 0x78, 0x56, 0x34, 0x12, 0x15, 0xff, 0xff, 0xff, 0xff, 0x18, 0x08, 0x2a, 24]
        packet += (0..<24).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) } + [0x35, 1, 2, 3, 4]
        let envelope =
            [0x0a, UInt8(packet.count)] + packet + [0x12, 8] + Array("LongFast".utf8) + [0x1a, 9] + Array("!0000abcd".utf8)
        let damaged = try tool.run("import", tool.write([Data(envelope).base64EncodedString()], to: "damaged.base64"))
        #expect(damaged.status == 0 && damaged.output.contains("hash 8 is also that of LongFast"), "\(damaged)")
        let advice = try tool.run("packets", "show", "2").output
        #expect(advice.contains("whose key is known and does not open it") && !advice.contains("keys add LongFast"), "\(advice)")
    }

    @Test func `what cannot be decoded of files with one name is counted by their paths, of others by their sources`() throws {
        let tool = try Tool()
        try tool.run("init")
        for folder in ["one", "two"] {
            try FileManager.default.createDirectory(at: tool.folder.file(folder), withIntermediateDirectories: true)
        }
        let packet: [UInt8] =
            [0x0d, 0x78, 0x56, 0x34, 0x12, 0x15, 0xff, 0xff, 0xff, 0xff, 0x22, 4, 8, 1, 0x12, 0] + [0x35, 1, 2, 3, 4]
        let envelope = Data([0x0a, UInt8(packet.count)] + packet).base64EncodedString()
        let broken = (1...3).map { Data([0x0a, 0x7f, UInt8($0)]).base64EncodedString() }
        let files = try [("one/bad.base64", broken[..<1]), ("two/bad.base64", broken[1...]), ("other.base64", broken[2...])]
            .map { try tool.write([envelope] + $0.1, to: $0.0) }
        let together = try tool.start(["import"] + files).wait()
        #expect(together.output.contains("1 event of \(files[0]) cannot be decoded"), "\(together)")
        #expect(together.output.contains("2 events of \(files[1]) cannot be decoded"), "\(together)")
        #expect(together.output.contains("1 event of file:other.base64 cannot be decoded"), "\(together)")
        let sources = Set(try tool.run("events", "--format", "jsonl").objects.compactMap { $0["source"] as? String })
        #expect(sources == ["file:bad.base64", "file:other.base64"])
    }
}
