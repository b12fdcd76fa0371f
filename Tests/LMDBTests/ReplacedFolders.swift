import Foundation
import TestKit
import Testing

@testable import LMDB

/// Folders that somebody replaces by a link to another folder while a command works in them.
struct ReplacedFolders {
    private let folder: TemporaryFolder
    private let outside: String

    init() throws {
        folder = try TemporaryFolder()
        outside = folder.path + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
    }

    @Test func `a folder that is replaced by a link while it is removed keeps the files behind the link`() throws {
        let removed = folder.path + "/views-removed/nodes"
        try FileManager.default.createDirectory(atPath: removed, withIntermediateDirectories: true)
        let names = (0..<3_000).map { "f\($0)" }
        for place in [removed, outside] {
            for name in names { try Data().write(to: URL(fileURLWithPath: place + "/" + name)) }
        }
        let before = changed(removed)
        let (moved, outside, top) = (folder.path + "/moved", outside, folder.path + "/views-removed")
        let isReady = DispatchSemaphore(value: 0)
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            if number == 0 {
                isReady.wait()
                #expect(throws: Never.self) { try OwnedFile.removeAll(top) }
                return
            }
            isReady.signal()
            while let now = changed(removed), now == before {}
            if unsafe rename(removed, moved) == 0 { unsafe symlink(outside, removed) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside).count == names.count)
        #expect(!FileManager.default.fileExists(atPath: top))
    }

    @Test func `folders that are nested without end are refused`() throws {
        let top = folder.path + "/views-removed"
        let deep = top + String(repeating: "/a", count: 200)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        #expect(throws: StorageError.self) { try OwnedFile.removeAll(top) }
        #expect(FileManager.default.fileExists(atPath: deep))
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give folders away"))
    func `another user's link does not lead the superuser to a third user's folder`() throws {
        let ledger = folder.path + "/ledger"
        try FileManager.default.createDirectory(atPath: ledger, withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: outside + "/kept"))
        try FileManager.default.createDirectory(atPath: outside + "/nodes", withIntermediateDirectories: true)
        unsafe symlink(outside, ledger + "/views")
        unsafe lchown(ledger + "/views", 65_534, 65_534)
        unsafe chown(ledger, 65_534, 65_534)
        let views = ledger + "/views"
        #expect(throws: StorageError.self) { try OwnedFile.removeAll(views + "/nodes") }
        #expect(throws: StorageError.self) { try OwnedFile.remove(views + "/kept") }
        #expect(throws: StorageError.self) { try OwnedFile.replace(views + "/kept", with: [2]) }
        #expect(throws: StorageError.self) { try OwnedFile.makeFolder(views + "/new") }
        #expect(throws: StorageError.self) { try OwnedFile.open(views + "/new", O_RDWR | O_CREAT) }
        #expect(throws: StorageError.self) { try Environment.open(views + "/nodes") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside).sorted() == ["kept", "nodes"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside + "/nodes").isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside + "/kept")) == Data([1]))
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give folders away"))
    func `the superuser opens another user's store with files that belong to that user`() throws {
        let ledger = folder.path + "/ledger"
        try FileManager.default.createDirectory(atPath: ledger, withIntermediateDirectories: true)
        unsafe chown(ledger, 65_534, 65_534)
        for access in [EnvironmentOptions.Access.readWrite, .readOnly] {
            let environment = try Environment.open(ledger + "/store", EnvironmentOptions(access: access))
            _ = try environment.tableNames()
            environment.close()
        }
        for name in ["", "/data.mdb", "/lock.mdb"] {
            var status = stat()
            unsafe lstat(ledger + "/store" + name, &status)
            #expect(status.st_uid == 65_534)
        }
    }

    /// When the folder's entries last changed; nil if it is no longer there.
    private func changed(_ path: String) -> [Int]? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? [status.st_mtim.tv_sec, status.st_mtim.tv_nsec] : nil
    }
}
