import Foundation
import LMDB
import TestKit
import Testing

struct TransactionTests {
    @Test func `a reader keeps seeing the state it began with`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt64.self, String.self)
        try environment.write { (write) throws(StorageError) in try write.put(table, 1, "before") }
        let read = try environment.beginRead()
        try environment.write { (write) throws(StorageError) in try write.put(table, 1, "after") }
        let old = try read.get(table, 1)
        let new = try environment.read { (read) throws(StorageError) in try read.get(table, 1) }
        #expect(old == "before")
        #expect(new == "after")
    }

    @Test func `a read that takes over the place of an ended one sees the newest commit, new tables included`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt64.self, String.self)
        for round in UInt64(0)..<20 {
            try environment.write { (write) throws(StorageError) in try write.put(table, 1, "\(round)") }
            let fresh = try environment.table("rows of \(round)", UInt64.self, String.self)
            try environment.write { (write) throws(StorageError) in try write.put(fresh, round, "new") }
            let first = try environment.beginRead()
            let second = try environment.beginRead()
            #expect(try first.get(table, 1) == "\(round)")
            #expect(try second.get(fresh, round) == "new")
            #expect(try environment.openReads().count == 2)
            _ = consume first
            _ = consume second
            #expect(try environment.openReads().isEmpty)
        }
    }

    @Test func `tables that are missing are made in one commit, and by nobody who only reads`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        try environment.openTables(["a", "b", "c"])
        #expect(try environment.extent().lastTransaction == 1)
        try environment.openTables(["c", "a", "d", "e"])
        #expect(try environment.extent().lastTransaction == 2)
        #expect(try environment.tableNames() == ["a", "b", "c", "d", "e"])
        let table = try environment.table("e", UInt64.self, String.self)
        try environment.write { (write) throws(StorageError) in try write.put(table, 1, "row") }
        environment.close()
        let reader = try Environment.open(folder.path, EnvironmentOptions(access: .readOnly))
        let error = #expect(throws: StorageError.self) { try reader.openTables(["e", "f"]) }
        #expect(error?.code == .noSuchTable)
        let known = try reader.table("e", UInt64.self, String.self)
        #expect(try reader.read { (read) throws(StorageError) in try read.get(known, 1) } == "row")
    }

    @Test func `K15 W6: a transaction that is neither committed nor aborted leaves no trace`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt64.self, String.self)
        do {
            var write = try environment.beginWrite()
            try write.put(table, 1, "lost")
        }
        let found = try environment.read { (read) throws(StorageError) in try read.get(table, 1) }
        #expect(found == nil)
    }

    @Test func `a closed environment serves the transactions it has and takes no others`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt64.self, String.self)
        try environment.write { (write) throws(StorageError) in try write.put(table, 1, "kept") }
        do {
            let read = try environment.beginRead()
            environment.close()
            let found = try read.get(table, 1)
            #expect(found == "kept")
            #expect(throws: StorageError(.closed, call: "mdb_txn_begin", path: folder.path)) {
                _ = try environment.info()
            }
            let second = #expect(throws: StorageError.self) { _ = try Environment.open(folder.path) }
            #expect(second?.code == .alreadyOpen)
        }
        let reopened = try Environment.open(folder.path)
        #expect(try reopened.info().usedSize > 0)
    }

    @Test func `to open what is being closed waits for the transactions of other threads`() throws {
        let folder = try TemporaryFolder()
        for _ in 0..<50 {
            let environment = try Environment.open(folder.path)
            let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread {
                let read = try? environment.beginRead()
                isReading.signal()
                mayEnd.wait()
                _ = consume read
            }.start()
            isReading.wait()
            environment.close()
            mayEnd.signal()
            try Environment.open(folder.path).close()
        }
    }

    @Test func `a transaction keeps its environment open after the last reference is gone`() throws {
        let folder = try TemporaryFolder()
        func begin() throws -> (Reader) {
            let environment = try Environment.open(folder.path)
            let table = try environment.table("rows", UInt64.self, [UInt8].self)
            try environment.write { (write) throws(StorageError) in try write.put(table, 1, [7, 8, 9]) }
            return Reader(table: table, transaction: try environment.beginRead())
        }
        let reader = try begin()
        let found = try reader.transaction.get(reader.table, 1)
        #expect(found == [7, 8, 9])
    }

    @Test func `appending out of order is refused`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt64.self, String.self)
        let error = #expect(throws: StorageError.self) {
            try environment.write { (write) throws(StorageError) in
                try write.put(table, 5, "a", .append)
                try write.put(table, 4, "b", .append)
            }
        }
        #expect(error?.code == .keyExists)
        let count = try environment.read { (read) throws(StorageError) in try read.count(table.raw) }
        #expect(count == 0)
    }

    @Test func `a write cursor appends and deletes, and only the row that its last move found`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt32.self, [UInt8].self)
        try environment.write { (write) throws(StorageError) in
            var cursor = try write.writeCursor(table.raw)
            for number in 1...1000 as ClosedRange<UInt32> {
                var key = KeyBuffer()
                key.append(number)
                try [UInt8](repeating: 1, count: 10).withValueBytes { (bytes) throws(StorageError) in
                    try cursor.put(key: key.bytes, value: bytes, .append)
                }
            }
        }
        try environment.write { (write) throws(StorageError) in
            var cursor = try write.writeCursor(table.raw)
            while try cursor.place.next() {
                let number = try UInt32(decodingKey: cursor.place.key)
                if number % 2 == 0 { try cursor.delete() }
            }
        }
        for isEnd in [true, false] {
            let error = #expect(throws: StorageError.self) {
                try environment.write { (write) throws(StorageError) in
                    var cursor = try write.writeCursor(table.raw)
                    if isEnd {
                        _ = try cursor.place.last()
                        _ = try cursor.place.next()
                    } else {
                        _ = try cursor.place.first()
                        try cursor.delete()
                    }
                    try cursor.delete()
                }
            }
            #expect(error?.code == .misuse)
        }
        var rows: [UInt32: [UInt8]] = [:]
        try environment.read { (read) throws(StorageError) in
            try read.forEach(table) { (key, value) throws(StorageError) in
                rows[key] = value
                return true
            }
        }
        #expect(rows.count == 500)
        #expect(rows.keys.allSatisfy { $0 % 2 == 1 })
    }
}

private struct Reader: ~Copyable {
    let table: Table<UInt64, [UInt8]>
    let transaction: ReadTransaction
}
