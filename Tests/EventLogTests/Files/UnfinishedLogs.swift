import Foundation
import Glibc
import TestKit
import Testing

@testable import EventLog

/// A log that is built beside its place and put there when it is complete.
struct UnfinishedLogs {
    private func failure(_ new: String, _ body: (String) throws -> Void = { _ in }) async throws -> EventLogError? {
        do throws(EventLogError) {
            try await EventLog.make(at: new, suffix: "new") { path throws(EventLogError) in
                do { try body(path) } catch { throw EventLogError(.storage, path: path, detail: "\(error)") }
            }
            return nil
        } catch {
            return error
        }
    }

    private func write(_ text: String, _ path: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    private func read(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `what was built has its final name, also where an empty folder or what an interrupted run left is in the way`()
        async throws
    {
        for place in ["nothing", "empty folder", "remains", "remains of renaming", "empty remains"] {
            let folder = try TemporaryFolder()
            let new = folder.path + "/ledger"
            if place == "empty folder" {
                try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
            }
            if place.contains("remains") {
                try FileManager.default.createDirectory(atPath: new + ".new/log", withIntermediateDirectories: true)
                try write("old", new + ".new/log/letter")
                if place == "remains of renaming" { try write("old", new + ".new/keys.json.new") }
                if place == "empty remains" { try FileManager.default.removeItem(atPath: new + ".new/log") }
                if place == "remains" { try write("17\n", new + ".new/LOCK") }
            }
            let error = try await failure(new) { path in
                #expect(path == new + ".new")
                #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty, "\(place)")
                try write("built", path + "/letter")
            }
            #expect(error == nil, "\(place)")
            #expect(read(new + "/letter") == "built")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ledger"], "\(place)")
        }
    }

    @Test func `what is there already is refused before anything is built, and stays`() async throws {
        for place in ["log", "file", "file beside", "other folder beside"] {
            let folder = try TemporaryFolder()
            let new = folder.path + "/ledger"
            switch place {
            case "log":
                try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
                try write("mine", new + "/letter")
            case "file": try write("mine", new)
            case "file beside": try write("mine", new + ".new")
            default:
                try FileManager.default.createDirectory(atPath: new + ".new/log", withIntermediateDirectories: true)
                try write("mine", new + ".new/letter.new")
            }
            let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
            let error = try await failure(new) { _ in Issue.record("\(place): it was built") }
            #expect(error?.code == .exists, "\(place): \(String(describing: error))")
            #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before, "\(place)")
        }
    }

    @Test func `a failure leaves nothing behind, and of two that build in one place the second is refused`() async throws {
        let folder = try TemporaryFolder()
        let new = folder.path + "/ledger"
        let error = try await failure(new) { path in
            try write("half", path + "/letter")
            throw CocoaError(.fileWriteUnknown)
        }
        #expect(error?.code == .storage)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        do throws(EventLogError) {
            try await EventLog.make(at: new, suffix: "new") { path throws(EventLogError) in
                do {
                    try write("first", path + "/letter")
                    let second = try await failure(new) { _ in Issue.record("it was built") }
                    #expect(second?.code == .locked && second?.path == path)
                    #expect(read(path + "/letter") == "first")
                    // Someone else takes the place meanwhile.
                    try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
                    try write("mine", new + "/letter")
                } catch {
                    throw EventLogError(.storage, path: path, detail: "\(error)")
                }
            }
            Issue.record("another folder was replaced")
        } catch {
            #expect(read(new + "/letter") == "mine", "\(error)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["ledger"])
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give links away"))
    func `another user's link in the place of the folder above does not choose what is renamed`() async throws {
        let folder = try TemporaryFolder()
        let (above, outside) = (folder.path + "/above", folder.path + "/outside")
        try FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: outside + "/ledger.new/kept", withIntermediateDirectories: true)
        let error = try await failure(above + "/ledger") { _ in
            try FileManager.default.moveItem(atPath: above, toPath: above + ".old")
            try TemporaryFolder.link(ofOtherUserAt: above, to: outside)
        }
        #expect(error != nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == ["ledger.new"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside + "/ledger.new") == ["kept"])
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give links away"))
    func `another user's link does not choose where a log or the file of a sorter is made`() async throws {
        let folder = try TemporaryFolder()
        let (above, outside) = (folder.path + "/above", folder.path + "/outside")
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        try TemporaryFolder.link(ofOtherUserAt: above, to: outside)
        #expect(throws: EventLogError.self) { try EventLog.create(at: above + "/ledger") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty)
        let sorter = SortedRuns<Int>(folder: above, runLength: 2, by: <)
        try sorter.add(2)
        #expect(throws: EventLogError.self) { try sorter.add(1) }
    }
}
