import Foundation
import Projections
import TestKit
import Testing

struct BaselineFolders {
    private let temporary: TemporaryFolder
    private let folder: BaselineFolder

    init() throws {
        temporary = try TemporaryFolder()
        folder = BaselineFolder(ledger: temporary.path)
    }

    @Test(arguments: ["512", "512/nodes"]) func `a baseline in a folder behind a link is refused`(name: String) throws {
        let view = folder.folder("nodes", through: 512)
        try FileManager.default.createDirectory(atPath: view, withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder.file("nodes", through: 512)))
        #expect(try folder.digest("nodes", through: 512)?.count == 32)
        let (place, outside) = (folder.path + "/" + name, temporary.path + "/outside")
        try FileManager.default.moveItem(atPath: place, toPath: outside)
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: outside)
        #expect(throws: (any Error).self) { try folder.digest("nodes", through: 512) }
        try FileManager.default.moveItem(atPath: folder.path + "/512", toPath: folder.path + "/512-next")
        #expect(throws: (any Error).self) { try folder.replacement(of: 512) }
    }

    @Test func `a folder of baselines that cannot be listed is named in plain words`() throws {
        try Data().write(to: URL(fileURLWithPath: folder.path))
        let error = #expect(throws: (any Error).self) { try folder.removeAll(but: 512) }
        let text = String(describing: error)
        #expect(text.contains(folder.path) && !text.contains("ErrorDomain"), "\(text)")
    }
}
