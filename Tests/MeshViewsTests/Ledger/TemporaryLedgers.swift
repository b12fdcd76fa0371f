import Foundation
import TestKit
import Testing
import ViewQuery

@testable import MeshLedger

struct TemporaryLedgers {
    private let files = FileManager.default

    private func age(_ path: String, seconds: Double) throws {
        try files.setAttributes([.modificationDate: Date.now.addingTimeInterval(-seconds)], ofItemAtPath: path + "/LOCK")
    }

    @Test func `what a killed process left of its temporary ledger goes when the next one is made, and nothing else does`()
        async throws
    {
        let alive = try await Ledger.temporary()
        try age(alive.path, seconds: 3_600)
        let (left, young, other) = (
            "/dev/shm/meshledger-\(UUID())", "/dev/shm/meshledger-\(UUID())", "/dev/shm/meshledger-not-ours-\(UUID())"
        )
        defer { for path in [left, young, other] { try? files.removeItem(atPath: path) } }  // those that are left
        // A copy of an open ledger is what a killed process leaves: the files, and nobody who holds the lock.
        for path in [left, young, other] { try files.copyItem(atPath: alive.path, toPath: path) }
        for path in [left, other] { try age(path, seconds: 3_600) }
        // The superuser removes those of all users.
        if geteuid() == 0 {
            for path in ["", "/LOCK"] { try #require(unsafe chown(left + path, 65_534, 65_534) == 0) }
        }
        try age(young, seconds: 2)
        let next = try await Ledger.temporary()
        #expect(!files.fileExists(atPath: left))
        for path in [alive.path, young, other, next.path] { #expect(files.fileExists(atPath: path + "/LOCK"), "\(path)") }
        _ = try alive.nodes()
        try await alive.close()
        try await next.close()
        #expect(!files.fileExists(atPath: alive.path) && !files.fileExists(atPath: next.path))
    }

    @Test func `a folder that another process removes before it is locked is made again, and other failures are reported`() throws
    {
        struct Failure: Error {}
        var paths: [String] = []
        let (path, made) = try TemporaryFolders.make { path in
            paths.append(path)
            try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            guard paths.count == 2 else {
                try files.removeItem(atPath: path)
                throw Failure()
            }
            return paths.count
        }
        #expect(made == 2 && Set(paths).count == 2 && path == paths[1])
        try files.removeItem(atPath: path)
        var attempts = 0
        #expect(throws: Failure.self) {
            _ = try TemporaryFolders.make { path -> Int in
                attempts += 1
                throw Failure()
            }
        }
        #expect(attempts == 3)
        #expect(throws: Failure.self) {
            _ = try TemporaryFolders.make { path -> Int in
                attempts += 1
                try files.createDirectory(atPath: path, withIntermediateDirectories: false)
                paths.append(path)
                throw Failure()
            }
        }
        #expect(attempts == 4, "the folder is there")
        try files.removeItem(atPath: try #require(paths.last))
        // The other process is still removing it.
        let second = try TemporaryFolders.make { path -> Int in
            attempts += 1
            guard attempts > 5 else { throw LedgerError(.missing, path: path, "LOCK is gone") }
            return attempts
        }
        #expect(second.made == 6)
    }

    @Test(arguments: 1...8)
    func `a new ledger answers at once: its views are there, without rows`(turn: Int) async throws {
        let folder = try TemporaryFolder()
        let made = turn.isMultiple(of: 2) ? try await Ledger.temporary() : try await Ledger.create(at: folder.path + "/ledger")
        #expect(try made.nodes().isEmpty && made.messages().isEmpty)
        #expect(try made.fetchCount(FetchDescriptor<PositionRow>()) == 0)
        try await made.close()
    }
}
