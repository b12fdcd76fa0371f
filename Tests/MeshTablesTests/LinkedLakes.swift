import Foundation
import TestKit
import Testing

@testable import MeshTables

/// Lakes that another user's link leads to a folder of a third one.
@Suite(.enabled(if: geteuid() == 0, "only the superuser can give links away")) struct LinkedLakes {
    private let folder: TemporaryFolder
    private var lake: String { folder.path + "/lake" }
    private var outside: String { folder.path + "/outside" }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: lake, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: outside + "/part"))
    }

    private func replaceFolder() throws {
        try FileManager.default.moveItem(atPath: lake, toPath: lake + ".old")
        try TemporaryFolder.link(ofOtherUserAt: lake, to: outside)
    }

    private func expectAllOutside() throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == ["part"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside + "/part")) == Data([1]))
    }

    @Test func `nothing is made, replaced or removed behind the link`() throws {
        try replaceFolder()
        #expect(throws: TableError.self) { try LakeFolder.make(lake + "/new/lake") }
        #expect(throws: TableError.self) { try LakeFolder.makeInside(lake + "/messages") }
        #expect(throws: TableError.self) { try LakeFolder.replace(lake + "/part", [2]) }
        #expect(throws: TableError.self) { try LakeFolder.create(lake + "/new", [2]) }
        #expect(throws: TableError.self) { try LakeFolder.remove(lake + "/part") }
        try expectAllOutside()
    }

    @Test func `no file behind the link gets the name of what was written`() throws {
        let part = try PartFile(lake + "/part")
        try part.write([2])
        try part.finish()
        try replaceFolder()
        #expect(throws: TableError.self) { try part.move(to: lake + "/final") }
        try expectAllOutside()
    }
}
