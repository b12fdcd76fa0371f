import EventLog
import Foundation
import Glibc
import LogKit
import TestKit
import Testing

/// The log between processes: each exit test runs its body in a process of its own.
struct ProcessTests {
    @Test func `M1: a second writer is refused with the process that writes, a reader is not`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 10)
        let writer = getpid()
        await #expect(processExitsWith: .success) { [path = path as String, writer = writer as Int32] in
            let error = #expect(throws: EventLogError.self) { _ = try EventLog.open(at: path) }
            #expect(error?.code == .locked)
            #expect(error?.holder == writer)
            let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
            #expect(reader.head == EventSequence(10))
            let append = await #expect(throws: EventLogError.self) {
                try await reader.append(NewEvent([1], encoding: .note, source: .log))
            }
            #expect(append?.code == .readOnly)
            await reader.close()
        }
        await log.close()
    }

    @Test(.timeLimit(.minutes(20)))
    func `a writer goes on behind the last event of one that was killed while another process reads`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let created = try EventLog.create(at: path)
        try await appendNumbered(created, 1)
        await created.close()
        let reader = try KilledChild("read", path, folder.path + "/reads")
        defer { reader.kill() }
        try await eventually { FileManager.default.fileExists(atPath: folder.path + "/reads") }
        for _ in 0..<30 {
            let writer = try KilledChild("append", path)
            writer.waitForOutput()
            usleep(.random(in: 0...4_000))
            writer.kill()
            let log = try EventLog.open(at: path)
            let head = log.head
            let stored = try await log.append([NewEvent([1], encoding: .note, source: .log)])
            #expect(stored?.lowerBound == head.advanced(by: 1))
            await log.close()
        }
    }

    @Test func `a subscription follows what another process appends`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 100)
        let appending = Task {
            while !Task.isCancelled {
                try await appendNumbered(log, 10)
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
            let first = reader.head
            var last = EventSequence.zero
            for await range in reader.subscribe(after: .zero, batch: 64) {
                #expect(range.lowerBound == last.advanced(by: 1))
                #expect(range.count <= 64)
                for event in try reader.events(in: range) {
                    #expect(event.payload == numberedPayload(Int(event.sequence.rawValue)))
                }
                last = range.upperBound
                if last > first.advanced(by: 50) { break }
            }
            #expect(last > first)
            await reader.close()
        }
        appending.cancel()
        _ = await appending.result
        await log.close()
    }

    @Test func `M3: what was appended before a kill is there afterwards and the lock is free`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let log = try EventLog.create(at: path)
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for number in 0..<10_000 {
                            let event = NewEvent(Array("\(task) \(number)".utf8), encoding: .note, source: .log)
                            guard let sequence = try? await log.append(event) else { _exit(3) }  // the exit status tells
                            if sequence.rawValue > 500 { kill(getpid(), SIGKILL) }
                        }
                    }
                }
            }
        }
        let log = try EventLog.open(at: path)
        #expect(log.head.rawValue > 500)
        #expect(try log.verify().isIntact)
        var next = [Int](repeating: 0, count: 8)
        for event in try log.events(in: EventSequence(1)...log.head) {
            let parts = String(decoding: event.payload, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
            #expect(parts[1] == next[parts[0]])
            next[parts[0]] += 1
        }
        await log.close()
    }

    @Test(.enabled(if: geteuid() == 0, "changing the user needs root"))
    func `W4: someone who may only read opens a folder that may only be read`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 300)
        await log.close()
        let nobody: UInt32 = 65534
        for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: path).map({ "/" + $0 }) {
            let isFolder = name.isEmpty || name == "/log" || name == "/log/1"
            let changed = unsafe (chown(path + name, nobody, nobody), chmod(path + name, isFolder ? 0o555 : 0o444))
            #expect(changed == (0, 0))
        }
        unsafe unlink(path + "/log/1/lock.mdb")
        let opened = unsafe chmod(folder.path, 0o755)
        #expect(opened == 0)
        await #expect(processExitsWith: .success) { [path = path as String, nobody = nobody as UInt32] in
            #expect(setuid(nobody) == 0)
            let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
            #expect(reader.head == EventSequence(300))
            #expect(try reader.event(EventSequence(300))?.payload == numberedPayload(300))
            #expect(try reader.verify().isIntact)
            await reader.close()
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)  // the list's own is gone
            }
            #expect(!open.contains { $0.hasPrefix(path + "/") }, "\(open)")
            let error = #expect(throws: EventLogError.self) { _ = try EventLog.open(at: path) }
            #expect(error?.code == .permission)
        }
    }

    /// What a reader who owns neither the folders nor their files may do with LMDB's list of readers and with the lock of writers.
    @Test(.enabled(if: geteuid() == 0, "changing the user needs root"))
    func `W4: a reader excludes writers only where it cannot be in LMDB's list of readers, and then needs the lock`() async throws
    {
        let folder = try TemporaryFolder()
        let opened = unsafe chmod(folder.path, 0o755)
        #expect(opened == 0)
        for (name, list, lock) in [
            ("listed", 0o666, 0o444), ("unlisted", 0o444, 0o444), ("hidden", 0, 0o444), ("without list", nil, 0o444),
            ("without lock", 0o444, nil), ("closed lock", 0o444, 0),
        ] as [(String, mode_t?, mode_t?)] {
            let path = folder.path + "/" + name
            let log = try EventLog.create(at: path)
            await log.close()
            for entry in try [""] + FileManager.default.subpathsOfDirectory(atPath: path).map({ "/" + $0 }) {
                let isFolder = ["", "/log", "/log/1"].contains(entry)
                let changed = unsafe chmod(path + entry, isFolder ? 0o755 : 0o444)
                #expect(changed == 0)
            }
            for (file, mode) in [("/log/1/lock.mdb", list), ("/LOCK", lock)] {
                let changed = if let mode { unsafe chmod(path + file, mode) } else { unsafe unlink(path + file) }
                #expect(changed == 0)
            }
        }
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let writer = unsafe Glibc.open(path + "/unlisted/LOCK", O_RDWR)
            #expect(setuid(65534) == 0)
            func read(_ name: String) throws -> EventLog {
                try EventLog.open(at: path + "/" + name, options: EventLogOptions(access: .readOnly))
            }
            func failure(_ name: String) -> EventLogError? {
                #expect(throws: EventLogError.self) { _ = try read(name) }
            }
            for name in ["listed", "unlisted", "hidden", "without list"] {
                let log = try read(name)
                #expect(log.excludesWriters == (name != "listed"), "\(name)")
                await log.close()
            }
            #expect(flock(writer, LOCK_EX | LOCK_NB) == 0, "the reader has given it back")
            #expect(failure("unlisted")?.code == .writerRunning)
            #expect(flock(writer, LOCK_UN) == 0)
            let reader = try read("unlisted")
            #expect(flock(writer, LOCK_EX | LOCK_NB) != 0, "a reader keeps writers away")
            await reader.close()
            let (missing, closed) = (failure("without lock"), failure("closed lock"))
            #expect(missing?.code == .permission && missing?.detail?.contains("is missing") == true, "\(missing as Any)")
            #expect(closed?.code == .permission && closed?.detail?.contains("is missing") != true, "\(closed as Any)")
            #expect(missing?.path == path + "/without lock/LOCK" && closed?.path == path + "/closed lock/LOCK")
        }
    }
}

/// Another process, which is killed.
private struct KilledChild {
    private let process: Process
    private let output = Pipe.ofOneChild()

    init(_ arguments: String...) throws {
        process = try Process.start(BuiltProgram.url("crashchild"), arguments, output: output, errors: FileHandle.standardError)
    }

    func waitForOutput() { _ = output.fileHandleForReading.availableData }

    func kill() {
        process.kill()
        process.waitUntilExit()
    }
}
