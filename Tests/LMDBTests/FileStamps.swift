import Foundation
import LMDB
import TestKit
import Testing

/// By what a reader recognises the file that it has read before.
struct FileStamps {
    @Test func `a stamp stays for as long as the file does, and differs after each change of it`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/current"
        #expect(FileStamp(path) == nil)
        try Data("v1-abc".utf8).write(to: folder.file("current"))
        let first = try #require(FileStamp(path))
        #expect(FileStamp(path) == first)
        // Another file of the same size in its place.
        try Data("v2-def".utf8).write(to: folder.file("next"))
        let next = try #require(FileStamp(folder.path + "/next"))
        #expect(next != first)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: folder.path + "/next", toPath: path)
        #expect(FileStamp(path) != first)
        #expect(FileStamp(folder.path + "/next") == nil)
        let handle = try FileHandle(forWritingTo: folder.file("current"))
        let before = FileStamp(path)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("more".utf8))
        try handle.close()
        #expect(FileStamp(path) != before)
    }
}
