import EventLog
import Foundation
import Glibc
import Synchronization
import TestKit
import Testing

/// What the system refuses to a process that writes, and what becomes of it when the system does so no more.
@Suite(.serialized, .timeLimit(.minutes(40))) struct ResourceTests {
    private struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var kind: String
        var number: Int32
        /// The code of the append's failure, and words of its line.
        var code: String
        var words: [String]
        /// Whether appends go on without a reopening: never after a failed sync, since nobody knows then what the disk holds.
        var goesOn: Bool
        var testDescription: String { name }
    }

    private static let faults = [
        Fault(
            name: "full disk", kind: "write", number: ENOSPC, code: "diskFull", words: ["/log/1", "free some space"],
            goesOn: true),
        Fault(
            name: "quota", kind: "write", number: EDQUOT, code: "diskFull", words: ["/log/1", "quota", "free some space"],
            goesOn: true),
        Fault(
            name: "failed write", kind: "write", number: EIO, code: "outcomeUnknown",
            words: ["reopen it", "Input/output error"], goesOn: false),
        Fault(
            name: "failed sync", kind: "sync", number: EIO, code: "outcomeUnknown",
            words: ["reopen it", "Input/output error"], goesOn: false),
        Fault(
            name: "sync of a full disk", kind: "sync", number: ENOSPC, code: "outcomeUnknown",
            words: ["reopen it", "No space left"], goesOn: false),
        Fault(
            name: "read-only file system", kind: "write", number: EROFS, code: "outcomeUnknown",
            words: ["reopen it", "Read-only file system"], goesOn: false),
    ]

    @Test(arguments: faults)
    private func `a failing call gives one clear error, reading goes on, and so do appends where that is safe`(fault: Fault)
        async throws
    {
        let bench = try await Bench()
        let switchFile = bench.folder.path + "/switch"
        let shim = try FaultShim(in: bench.folder.path)
        let child = try bench.child(
            shim.environment(
                root: bench.path, ["SHIM_SWITCH": switchFile, "SHIM_KIND": fault.kind, "SHIM_ERROR": "\(fault.number)"]))
        #expect(child.ask("append") == "stored 1")
        #expect(child.ask("condition") == "0 false false")
        _ = FileManager.default.createFile(atPath: switchFile, contents: nil)
        let failure = child.ask("append")
        #expect(failure.hasPrefix("failed \(fault.code) "))
        for word in fault.words { #expect(failure.contains(word), "\(failure)") }
        #expect(child.ask("read") == "read 1")
        #expect(child.ask("condition") == "1 true \(!fault.goesOn)")
        let second = child.ask("append")
        #expect(second.hasPrefix(fault.goesOn ? "failed \(fault.code) " : "failed writesClosed "), "\(second)")
        try FileManager.default.removeItem(atPath: switchFile)
        if !fault.goesOn {
            #expect(child.ask("append").hasPrefix("failed writesClosed "))
            #expect(child.ask("read") == "read 1")
            #expect(child.ask("reopen") == "open")
        }
        // What had an unknown outcome is appended with its token: once, whatever had reached the disk.
        #expect(child.ask("append") == "stored 2")
        #expect(child.ask("condition").contains(" false false"))
        #expect(child.ask("append") == "stored 3")
        child.end()
        let log = try EventLog.open(at: bench.path)
        #expect(log.head == EventSequence(3))
        #expect(try log.verify().isIntact)
    }

    @Test func `where no file can be opened any more, appends and reading go on, and what needs one says so`() async throws {
        let bench = try await Bench()
        let child = try bench.child()
        #expect(child.ask("append") == "stored 1")
        #expect(child.ask("files") == "limited 0")
        #expect(child.ask("append") == "stored 2")
        #expect(child.ask("read") == "read 2")
        let failure = child.ask("compact")
        #expect(
            failure.hasPrefix("failed ") && failure.contains("ulimit -n") && failure.contains("Too many open files"), "\(failure)"
        )
        #expect(child.ask("append") == "stored 3")
        #expect(child.ask("files again") == "limited 0")
        #expect(child.ask("compact") == "compacted 2")
        #expect(child.ask("append") == "stored 4")
        child.end()
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "needs the right to mount a file system"))
    func `D9: a file system that is full, and one that is mounted for reading only, are reported, and all goes on afterwards`()
        async throws
    {
        let bench = try await Bench(size: "4m")
        try #require(bench.isMounted)
        let ballast = bench.folder.path + "/disk/ballast"
        let child = try bench.child()
        #expect(child.ask("append") == "stored 1")
        try Data(count: 2 << 20).write(to: URL(fileURLWithPath: ballast))
        var answer = ""
        var stored = 1
        repeat {
            answer = child.ask("large")
            if answer.hasPrefix("stored") { stored += 1 }
        } while answer.hasPrefix("stored")
        #expect(answer.hasPrefix("failed diskFull ") && answer.contains("free some space"), "\(answer)")
        #expect(child.ask("read") == "read \(stored)")
        try FileManager.default.removeItem(atPath: ballast)
        #expect(child.ask("large") == "stored \(stored + 1)")
        child.end()
        let readOnly = unsafe mount(nil, bench.folder.path + "/disk", nil, UInt(MS_REMOUNT | MS_RDONLY), "size=4m")
        #expect(readOnly == 0)
        let error = #expect(throws: EventLogError.self) { _ = try EventLog.open(at: bench.path) }
        #expect(error?.code == .readOnly || error?.code == .permission, "\(String(describing: error))")
        let reader = try EventLog.open(at: bench.path, options: EventLogOptions(access: .readOnly))
        #expect(try reader.events(in: EventSequence(1)...EventSequence(99)).count == stored + 1)
        #expect(try reader.verify().isIntact)
    }
}

/// A log, and processes that write to it.
private final class Bench: Sendable {
    let folder: TemporaryFolder
    let path: String
    let isMounted: Bool

    /// - Parameter size: of a file system of its own, in memory.
    init(size: String? = nil) async throws {
        folder = try TemporaryFolder()
        let disk = folder.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        isMounted = size.map { SmallDisk.mount(disk, size: $0) } ?? false
        path = disk + "/ledger"
        try await EventLog.create(at: path).close()
    }

    deinit { if isMounted { SmallDisk.unmount(folder.path + "/disk") } }

    func child(_ environment: [String: String] = [:]) throws -> SteeredChild {
        try SteeredChild(path, environment: environment)
    }
}

/// The program that does what it is asked to, line by line.
private final class SteeredChild: Sendable {
    private let process: Mutex<Process>
    private let input: FileHandle
    private let output: FileHandle

    init(_ ledger: String, environment: [String: String]) throws {
        let (questions, answers) = (Pipe.ofOneChild(), Pipe.ofOneChild())
        process = Mutex(
            try Process.start(
                BuiltProgram.url("crashchild"), ["steer", ledger],
                environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, input: questions, output: answers,
                errors: FileHandle.standardError))
        input = questions.fileHandleForWriting
        output = answers.fileHandleForReading
    }

    func ask(_ line: String) -> String {
        input.write(Data((line + "\n").utf8))
        var answer: [UInt8] = []
        while true {
            let data = output.availableData
            if data.isEmpty { return String(decoding: answer, as: UTF8.self) + " (ended)" }
            answer += data
            if answer.last == 10 { return String(decoding: answer.dropLast(), as: UTF8.self) }
        }
    }

    func end() {
        input.write(Data("end\n".utf8))
        process.withLock { $0.waitUntilExit() }
    }
}
