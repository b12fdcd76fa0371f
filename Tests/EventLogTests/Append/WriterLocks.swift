import Foundation
import Glibc
import TestKit
import Testing

@testable import EventLog

/// The file LOCK: whose it is, what it says of its holder, and what is never taken for it.
struct WriterLocks {
    private static let namespace = ProcessNamespace.own ?? 0

    private func failure(_ path: String) -> EventLogError? {
        #expect(throws: EventLogError.self) { _ = try WriterLock(path: path) }
    }

    @Test func `a lock says who holds it until it is released or its owner is gone`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/LOCK"
        let lock = try WriterLock(path: path)
        #expect(lock.isHeldNow && lock.isInPlace(at: path))
        #expect(try WriterLock.isHeld(path))
        #expect(try SmallFile.read(path).hasPrefix("\(getpid())\n"))
        #expect(try ProcessNamespace.own == nil || SmallFile.read(path) == "\(getpid())\nnamespace \(Self.namespace)\n")
        let error = failure(path)
        #expect(error?.code == .alreadyOpen && error?.holder == getpid())
        lock.release()
        lock.release()
        #expect(try !lock.isHeldNow && !WriterLock.isHeld(path))
        do { _ = try WriterLock(path: path) }
        #expect(try !WriterLock.isHeld(path))
        let next = try WriterLock(path: path)
        try FileManager.default.moveItem(atPath: path, toPath: path + " of old")
        #expect(!next.isInPlace(at: path) && next.isHeldNow)
        let other = try WriterLock(path: path)
        #expect(other.isInPlace(at: path) && !next.isInPlace(at: path))
        next.release()
        #expect(try WriterLock.isHeld(path))
    }

    @Test(.enabled(if: ProcessNamespace.own != nil, "needs /proc"))
    func `M1: a refusal names the process that writes, and the container where its number is another's here`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/LOCK"
        let other = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        let own = Self.namespace
        for (text, holder, elsewhere) in [
            ("", nil, nil), ("junk\n", nil, nil), ("77\n", 77, nil), ("77\nnamespace \(own)\n", 77, nil),
            ("77\nnamespace \(own + 1)\n", nil, 77), ("77\nother \(own + 1)\n", 77, nil), ("77\nnamespace\n", 77, nil),
            ("77\nnamespace \(own + 1) 2\n", 77, nil), ("\(getpid())\nnamespace \(own)\n", nil, getpid()),
            ("\(getpid())\n", nil, getpid()),
        ] as [(String, Int32?, Int32?)] {
            #expect(ftruncate(other, 0) == 0)
            try SmallFile.write(other, text, path)
            let error = failure(path)
            #expect(error?.code == .locked && error?.holder == holder, "\(text)")
            #expect(error?.detail == elsewhere.map { "process \($0) in another container" }, "\(text)")
            #expect(try SmallFile.read(path) == text)
        }
        #expect(flock(other, LOCK_SH | LOCK_NB) == 0)
        let excluding = failure(path)
        #expect(excluding?.code == .locked && excluding?.detail?.contains("a reader") == true)
    }

    @Test
    func `a file that has a hard link is taken for a lock only if it holds what a writer stores, and is never emptied else`()
        throws
    {
        let folder = try TemporaryFolder()
        let locks = ["17\n", "-17\n", "17\nnamespace 4026531836\n"]
        let others = [
            "", "\n", "hello\n", "17 18\n", "17\nhello\n", "17\nhello world\n", "17\nnamespace\n", "17\nnamespace 1 2\n",
            "17\nnamespace 1\nhello world\n", "namespace 1\n17\n", "namespace 17\n", "17\n17\n",
        ]
        for text in locks + others {
            let (path, link) = (folder.path + "/LOCK", folder.path + "/link")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.linkItem(atPath: path, toPath: link)
            if locks.contains(text) {
                let lock = try WriterLock(path: path)
                #expect(try SmallFile.read(link).hasPrefix("\(getpid())\n"), "\(text)")
                lock.release()
            } else {
                let error = failure(path)
                #expect(error?.code == .foreign && error?.detail?.contains("hard link") == true, "\(text)")
                #expect(try SmallFile.read(link) == text && !WriterLock.isHeld(path))
            }
            for name in [path, link] { try FileManager.default.removeItem(atPath: name) }
        }
        // Without a link, anything that a file of that name held is replaced.
        try Data("hello world\n".utf8).write(to: URL(fileURLWithPath: folder.path + "/LOCK"))
        let lock = try WriterLock(path: folder.path + "/LOCK")
        #expect(try SmallFile.read(folder.path + "/LOCK").hasPrefix("\(getpid())\n"))
        lock.release()
    }
}
