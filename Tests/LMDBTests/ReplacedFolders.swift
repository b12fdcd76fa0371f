import Foundation
import Synchronization
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

    @Test func `in a folder that others may change, what takes a file's place while it is opened is not written to`() throws {
        let (store, victim, own, next) = (
            folder.path + "/store", outside + "/victim", folder.path + "/own", folder.path + "/next"
        )
        try Environment.open(store).close()
        #expect(unsafe chmod(store, 0o777) == 0)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        #expect(unsafe link(store + "/lock.mdb", own) == 0)
        let isDone = Atomic(false)
        let opened = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            guard number == 0 else {
                while !isDone.load(ordering: .relaxed) {
                    unsafe symlink(victim, next)
                    unsafe rename(next, store + "/lock.mdb")
                    unsafe link(own, next)
                    unsafe rename(next, store + "/lock.mdb")
                }
                return
            }
            for _ in 0..<400 {
                guard let environment = try? Environment.open(store) else { continue }  // the link was there
                environment.close()
                opened.add(1, ordering: .relaxed)
            }
            isDone.store(true, ordering: .relaxed)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("precious".utf8))
        #expect(opened.load(ordering: .relaxed) > 0)
    }

    @Test func `a store in a folder that others may change has its own files, and links to them are not left`() throws {
        let store = folder.path + "/store"
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        #expect(unsafe chmod(store, 0o777) == 0)
        for number in 0..<3 {
            let environment = try Environment.open(store)
            let table = try environment.table("rows", UInt32.self, [UInt8].self)
            try environment.write { (write) throws(StorageError) in try write.put(table, UInt32(number), [1]) }
            #expect(try environment.beginRead().count(table.raw) == number + 1)
            environment.close()
        }
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: store)) == ["data.mdb", "lock.mdb"])
        var files: LinkedFiles? = try LinkedFiles(["data.mdb", "lock.mdb"], in: OpenedFolder(store))
        let links = try #require(files?.path)
        for name in ["data.mdb", "lock.mdb"] {
            #expect(try inode(links + "/" + name) == inode(store + "/" + name))
        }
        files = nil
        #expect(!FileManager.default.fileExists(atPath: links))
    }

    @Test func `a folder is open to others if they can exchange it or a folder above it`() throws {
        let inner = folder.path + "/above/inner"
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        #expect(unsafe chmod(inner, 0o700) == 0)
        // In the last one, only the owner of a folder can rename it.
        for (mode, isOpen) in [(UInt32(0o755), false), (0o775, true), (0o777, true), (0o1777, false)] {
            #expect(unsafe chmod(folder.path + "/above", mode) == 0)
            #expect(try OpenedFolder(inner).isOpenToOthers == isOpen, "\(String(mode, radix: 8))")
        }
        #expect(try OpenedFolder(folder.path + "/above").isOpenToOthers, "its files can be exchanged")
    }

    @Test func `what is made in a folder of a ledger is as open to others as the folder, but not in one such as /tmp`() throws {
        for (mode, folders, files) in [
            (UInt32(0o700), UInt32(0o700), UInt32(0o600)), (0o750, 0o750, 0o640), (0o2770, 0o2770, 0o660), (0o755, 0o755, 0o644),
            (0o1777, 0o700, 0o600),
        ] {
            let above = folder.path + "/" + String(mode, radix: 8)
            try FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: true)
            #expect(unsafe chmod(above, mode) == 0)
            var options = EnvironmentOptions()
            options.isSharedLikeFolder = true
            try Environment.open(above + "/store", options).close()
            try OwnedFile.replace(above + "/store/current", with: [1], mode: .likeFolder)
            try OwnedFile.replace(above + "/secret", with: [1])
            #expect(try rights(above + "/store") == folders)
            for name in ["data.mdb", "lock.mdb", "current"] { #expect(try rights(above + "/store/" + name) == files, "\(name)") }
            #expect(try rights(above + "/secret") == 0o600)
        }
    }

    @Test func `a file that is replaced keeps its access rights`() throws {
        let path = folder.path + "/current"
        try OwnedFile.replace(path, with: [1])
        for mode in [UInt32(0o640), 0o604, 0o600] {
            #expect(unsafe chmod(path, mode) == 0)
            try OwnedFile.replace(path, with: [2])
            #expect(try rights(path) == mode)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func `in a folder that a group may write, files of its members are the ledger's; others are not`() throws {
        let (group, other, user) = (gid_t(54_321), gid_t(54_322), uid_t(65_534))
        let path = folder.path + "/current"
        try Data([1]).write(to: URL(fileURLWithPath: path))
        for (mode, fileGroup, isAccepted) in [
            (UInt32(0o770), group, true), (0o2775, group, true), (0o770, other, false), (0o750, group, false),
            (0o1777, group, false),
        ] {
            #expect(unsafe chown(folder.path, geteuid(), group) == 0 && chown(path, user, fileGroup) == 0)
            #expect(unsafe chmod(folder.path, mode) == 0)
            let found = try? OwnedFile.contents(path)
            #expect((found != nil) == isAccepted, "\(String(mode, radix: 8)) \(fileGroup)")
        }
    }

    private func rights(_ path: String) throws -> UInt32 {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    private func inode(_ path: String) throws -> UInt64 {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return UInt64(status.st_ino)
    }

    /// When the folder's entries last changed; nil if it is no longer there.
    private func changed(_ path: String) -> [Int]? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? [status.st_mtim.tv_sec, status.st_mtim.tv_nsec] : nil
    }
}
