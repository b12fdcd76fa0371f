import Foundation
import Projections
import Synchronization
import TestKit
import Testing

struct Folders {
    private final class Look: Sendable {
        let isOver = Atomic(false)
        let misses = Atomic(0)
    }

    @Test func `the served recipe is what was renamed into place last`() throws {
        let temporary = try TemporaryFolder()
        let folder = ViewFolder(path: temporary.path + "/views/nodes")
        #expect(folder.current() == nil)
        try folder.serve("v1-abc")
        #expect(folder.current() == nil, "its folder is not there")
        for name in ["v1-abc", "v2-def"] {
            try FileManager.default.createDirectory(atPath: folder.store(name), withIntermediateDirectories: false)
            #expect(folder.current() != name, "its folder is empty")
            try Data().write(to: URL(fileURLWithPath: folder.store(name) + "/data.mdb"))
        }
        #expect(folder.current() == "v1-abc")
        try folder.serve("v2-def")
        #expect(folder.current() == "v2-def")
    }

    @Test func `a recipe's identifier changes with each of its parts`() {
        let recipe = Recipe(view: "a", version: 1, policy: "p", keyring: "k")
        let others = [
            Recipe(view: "b", version: 1, policy: "p", keyring: "k"), Recipe(view: "a", version: 2, policy: "p", keyring: "k"),
            Recipe(view: "a", version: 1, policy: "q", keyring: "k"), Recipe(view: "a", version: 1, policy: "p", keyring: "l"),
        ]
        for other in others { #expect(other.identifier != recipe.identifier) }
        #expect(recipe.identifier.hasPrefix("v1-"))
        #expect(recipe.identifier.count == 19)
    }

    @Test func `who looks while another recipe takes the place of the one before always finds one`() throws {
        // In memory, where nothing lies between serving the one and removing the other.
        let place = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let folder = ViewFolder(path: "\(place)/meshledger-test-\(UUID().uuidString)")
        try folder.create()
        defer { try? FileManager.default.removeItem(atPath: folder.path) }  // the test's verdict does not depend on it
        func make(_ name: String) throws {
            try FileManager.default.createDirectory(atPath: folder.store(name), withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: folder.store(name) + "/data.mdb"))
            try folder.serve(name)
        }
        try make("v1")
        let look = Look()
        let reader = DispatchGroup()
        DispatchQueue.global().async(group: reader) {
            while !look.isOver.load(ordering: .acquiring) {
                if folder.current() == nil { look.misses.add(1, ordering: .relaxed) }
            }
        }
        for number in 2...3_000 {
            try make("v\(number)")
            try folder.remove("v\(number - 1)")
        }
        look.isOver.store(true, ordering: .releasing)
        reader.wait()
        #expect(look.misses.load(ordering: .relaxed) == 0)
    }
}
