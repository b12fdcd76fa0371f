import Foundation
import Synchronization
import TestKit
import Testing

@testable import LMDB

struct RemovedFolders {
    @Test func `a folder goes also while others make files in it`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/views"
        let elsewhere = folder.path + "/elsewhere"
        try Data([1]).write(to: URL(fileURLWithPath: elsewhere))
        let isDone = Atomic<Bool>(false)
        for _ in 0..<20 {
            try FileManager.default.createDirectory(atPath: path + "/nodes/v1", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: elsewhere)
            isDone.store(false, ordering: .relaxed)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 {
                    #expect(throws: Never.self) { try OwnedFile.removeAll(path) }
                    isDone.store(true, ordering: .relaxed)
                    return
                }
                while !isDone.load(ordering: .relaxed) {
                    _ = FileManager.default.createFile(atPath: path + "/nodes/v1/lock.mdb", contents: Data([2]))
                }
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        #expect(FileManager.default.fileExists(atPath: elsewhere))
        try OwnedFile.removeAll(path)
    }
}
