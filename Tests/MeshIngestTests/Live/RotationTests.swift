import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshIngest

/// Files that are rotated while their writer has them open, several times at once, or while nobody follows.
@Suite(.timeLimit(.minutes(2)))
struct RotationTests {
    private let bench: ImportBench

    init() throws { bench = try ImportBench() }

    private func follow() -> RunningSource<FileFollow> {
        RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target))
    }

    private func move(_ from: String, _ to: String) throws {
        try FileManager.default.moveItem(atPath: bench.path(from), toPath: bench.path(to))
    }

    private func reach(_ count: Int, _ running: RunningSource<FileFollow>) async throws {
        try await eventually { [bench] in try bench.events().count == count }
    }

    /// Whether lines 0 to `count` are stored, each once and whole.
    private func holds(_ count: Int) throws -> Bool {
        let expected = (0..<count).map {
            MadeEnvelope.bytes(from: 0x1000_0000 + UInt32($0 % 50), id: UInt32($0 + 1), text: "message \($0)")
        }
        return try Set(bench.events().map { Array($0.payload) }) == Set(expected) && bench.events().count == count
    }

    @Test(arguments: [false, true])
    func `what a writer adds long after the rename is imported, also the rest of a line`(hasSuccessor: Bool) async throws {
        let line = MadeEnvelope.line(20)
        try bench.write(MadeEnvelope.lines(0..<20) + line.prefix(10), to: "mesh.base64")
        let running = follow()
        try await reach(20, running)
        try move("mesh.base64", "mesh.base64.1")
        if hasSuccessor { try bench.write("", to: "mesh.base64") }
        try await eventually {
            running.source.status.state == .waitingForFile || running.source.status.connectionCount == 2
        }
        try bench.grow("mesh.base64.1", by: String(line.dropFirst(10)) + MadeEnvelope.lines(21..<30))
        try await reach(30, running)
        try bench.write(MadeEnvelope.lines(30..<40), to: "mesh.base64")
        try await reach(40, running)
        // Once more, although the successor has lines.
        try bench.grow("mesh.base64.1", by: MadeEnvelope.lines(40..<45))
        try await reach(45, running)
        try await running.stop()
        #expect(try holds(45))
    }

    /// Names from the newest to the oldest.
    @Test(arguments: [
        ["mesh.base64.1", "mesh.base64.2", "mesh.base64.3"],
        ["mesh.base64.9", "mesh.base64.10.gz", "mesh.base64.11.gz"],
        ["mesh.base64-20261128", "mesh.base64-20261127.gz", "mesh.base64-20261126.gz"],
        ["mesh-20261128.base64", "mesh-20261127.base64", "mesh-20261126.base64"],
    ])
    func `files that were rotated twice while nobody followed are read, and not those from before`(_ names: [String]) async throws
    {
        func compress(_ name: String) throws {
            if name.hasSuffix(".gz") { _ = try FinishedProcess(URL(fileURLWithPath: "/bin/gzip"), [bench.path(plain(name))]) }
        }
        func plain(_ name: String) -> String { name.replacing(".gz", with: "") }
        try bench.write(MadeEnvelope.lines(900..<910), to: plain(names[2]))
        try compress(names[2])
        try bench.write(MadeEnvelope.lines(0..<20), to: "mesh.base64")
        let first = follow()
        try await reach(20, first)
        try await first.stop()
        try bench.grow("mesh.base64", by: MadeEnvelope.lines(20..<25))
        try move("mesh.base64", plain(names[1]))
        try compress(names[1])
        try bench.write(MadeEnvelope.lines(25..<35), to: names[0])
        try bench.write(MadeEnvelope.lines(35..<40), to: "mesh.base64")
        try bench.write(MadeEnvelope.lines(910..<920), to: "mesh.base64.notes")
        let second = follow()
        try await reach(40, second)
        try await second.stop()
        #expect(try holds(40))
    }

    @Test(arguments: [false, true])
    func `a file between two rotations that follow each other at once is read`(isFirstRemoved: Bool) async throws {
        let old = try bench.write(MadeEnvelope.lines(900..<910), to: "mesh.base64.7")
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: old)
        try bench.write(MadeEnvelope.lines(0..<20), to: "mesh.base64")
        let running = follow()
        try await reach(20, running)
        // The last step of each rotation is atomic, so the source sees the path with no file or one of the three.
        try bench.write(MadeEnvelope.lines(20..<30), to: "mesh.base64.1")
        try bench.write(MadeEnvelope.lines(30..<40), to: "new")
        if !isFirstRemoved {
            try FileManager.default.linkItem(atPath: bench.path("mesh.base64"), toPath: bench.path("mesh.base64.2"))
        }
        let outcome = unsafe rename(bench.path("new"), bench.path("mesh.base64"))
        #expect(outcome == 0)
        try await reach(40, running)
        try await running.stop()
        #expect(try holds(40))
    }

    @Test func `half a line is kept as unreadable when its file was quiet for a while and the successor has lines`() async throws
    {
        let half = MadeEnvelope.line(20).prefix(10)
        try bench.write(MadeEnvelope.lines(0..<20) + half, to: "mesh.base64")
        let running = RunningSource(FileFollow(bench.path("mesh.base64"), into: bench.target, quietSeconds: 0.01))
        try await reach(20, running)
        try move("mesh.base64", "mesh.base64.1")
        try await eventually { running.source.status.state == .waitingForFile }
        try bench.write(MadeEnvelope.lines(20..<30), to: "mesh.base64")
        try await reach(31, running)
        try await running.stop()
        #expect(try bench.events().last.map { String(decoding: $0.payload, as: UTF8.self) } == String(half))
    }

    @Test func `names that rotation gives are put in order, and names of other files are not taken for them`() {
        let names = [
            "mesh.log", "mesh.log.10.gz", "mesh.log.9.gz", "mesh.log.9", "mesh.log.1", "mesh.log.bak", "mesh.log-notes",
            "mesh-2.log",
            "mesh.log.20261125", "mesh.log-20261126.gz", "mesh-20261127.log.zst", "mesh-20261127.txt",
            "mesh.log-2026-11-28_10:00",
            "mesh.log.99999999999999999999999", "other.log.1",
        ]
        let rotated = RotatedNames(of: "mesh.log", among: names)
        #expect(rotated.numbered == ["mesh.log.1", "mesh.log.9", "mesh.log.9.gz", "mesh.log.10.gz"])
        #expect(
            rotated.dated == [
                "mesh.log.99999999999999999999999", "mesh-20261127.log.zst", "mesh.log-20261126.gz", "mesh.log.20261125",
                "mesh.log-2026-11-28_10:00",
            ])
        #expect(rotated.others == ["mesh-2.log", "mesh.log-notes", "mesh.log.bak"])
        #expect(RotatedNames(of: "mesh", among: ["mesh-20261127", "mesh.1", "mesh"]).dated == ["mesh-20261127"])
    }
}
