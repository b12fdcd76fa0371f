import Foundation
import Glibc
import LMDB
import Synchronization
import TestKit
import Testing

struct LimitTests {
    @Test func `a write that meets the size limit stores nothing and a raised limit lets it go on`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path, EnvironmentOptions(sizeLimit: 1 << 20))
        let table = try environment.table("rows", UInt32.self, [UInt8].self)
        var stored: UInt32 = 0
        let error = #expect(throws: StorageError.self) {
            while true { try store(10, after: &stored, in: table, of: environment) }
        }
        #expect(error?.code == .sizeLimitReached)
        #expect(stored > 500)
        #expect(try environment.info().usedSize <= 1 << 20)
        #expect(!environment.areWritesClosed)
        try expectRows(stored, in: table, of: environment)
        try environment.setSizeLimit(1 << 22)
        try store(10, after: &stored, in: table, of: environment)
        try expectRows(stored, in: table, of: environment)
    }

    @Test func `the limit is not moved under a live transaction`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path, EnvironmentOptions(sizeLimit: 1 << 20))
        let read = try environment.beginRead()
        let error = #expect(throws: StorageError.self) { try environment.setSizeLimit(1 << 22) }
        #expect(error?.code == .busy)
        _ = consume read
        try environment.setSizeLimit(1 << 22)
        #expect(try environment.info().mappedSize == 1 << 22)
    }

    @Test func `the limit is moved between transactions that never pause, and not under a long one`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path, EnvironmentOptions(sizeLimit: 1 << 20))
        let isOver = Mutex(false)
        let readers = (0..<3).map { place in
            let ended = DispatchSemaphore(value: 0)
            Thread {
                defer { ended.signal() }
                while !isOver.withLock({ $0 }) {
                    guard let read = try? environment.beginRead() else { return }
                    usleep(300 + UInt32(place) * 150)
                    _ = consume read
                }
            }.start()
            return ended
        }
        for size in [1 << 22, 1 << 21, 1 << 23] {
            try environment.setSizeLimit(size, patience: .seconds(60))
            #expect(try environment.info().mappedSize == size)
        }
        isOver.withLock { $0 = true }
        for reader in readers { #expect(reader.wait(timeout: .now() + 60) == .success) }
        let read = try environment.beginRead()
        let error = #expect(throws: StorageError.self) { try environment.setSizeLimit(1 << 22, patience: .milliseconds(20)) }
        #expect(error?.code == .busy)
        // Others go on.
        _ = try environment.beginRead()
        _ = consume read
    }

    @Test(.enabled(if: SmallDisk.isAllowed, "needs the right to mount a file system"))
    func `a full disk stores nothing of the write that met it and goes on when there is room`() throws {
        let folder = try TemporaryFolder()
        try #require(SmallDisk.mount(folder.path, size: "1m"))
        defer { SmallDisk.unmount(folder.path) }
        let environment = try Environment.open(folder.path + "/store")
        defer { environment.close() }
        let table = try environment.table("rows", UInt32.self, [UInt8].self)
        let ballast = folder.file("ballast")
        try Data(count: 300_000).write(to: ballast)
        var stored: UInt32 = 0
        let error = #expect(throws: StorageError.self) {
            while true { try store(10, after: &stored, in: table, of: environment) }
        }
        #expect(error?.code == .diskFull)
        try expectRows(stored, in: table, of: environment)
        try FileManager.default.removeItem(at: ballast)
        try store(10, after: &stored, in: table, of: environment)
        try expectRows(stored, in: table, of: environment)
    }

    @Test func `keys of no bytes and of more than 511 are refused`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", [UInt8].self, UInt32.self)
        for count in [0, 512, 1000] {
            let error = #expect(throws: StorageError.self) {
                try environment.write { (write) throws(StorageError) in
                    try write.put(table, [UInt8](repeating: 1, count: count), 1)
                }
            }
            #expect(error?.code == .keySize, "\(count)")
        }
        try environment.write { (write) throws(StorageError) in try write.put(table, [UInt8](repeating: 1, count: 511), 1) }
    }

    @Test func `places of readers that died are freed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let environment = try Environment.open(path)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let environment = try Environment.open(path, EnvironmentOptions(access: .readOnly))
            let read = try environment.beginRead()
            kill(getpid(), SIGKILL)
            _ = consume read
        }
        #expect(try environment.clearStaleReaders() == 1)
        #expect(try environment.clearStaleReaders() == 0)
    }

    /// Stores rows of a kilobyte behind those that are there, all or none.
    private func store(
        _ count: UInt32, after stored: inout UInt32, in table: Table<UInt32, [UInt8]>, of environment: Environment
    ) throws {
        let (first, row) = (stored, [UInt8](repeating: 1, count: 1000))
        try environment.write { (write) throws(StorageError) in
            for number in first..<first + count { try write.put(table, number, row) }
        }
        stored += count
    }

    private func expectRows(_ count: UInt32, in table: Table<UInt32, [UInt8]>, of environment: Environment) throws {
        var keys: [UInt32] = []
        try environment.read { (read) throws(StorageError) in
            try read.forEach(table) { (key, _) throws(StorageError) in
                keys.append(key)
                return true
            }
        }
        #expect(keys == Array(0..<count))
    }
}
