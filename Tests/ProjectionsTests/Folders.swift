import Foundation
import Projections
import TestKit
import Testing

struct Folders {
    @Test func `the served recipe is what was renamed into place last`() throws {
        let temporary = try TemporaryFolder()
        let folder = ViewFolder(path: temporary.path + "/views/nodes")
        #expect(folder.current() == nil)
        try folder.serve("v1-abc")
        #expect(folder.current() == nil, "its folder is not there")
        for name in ["v1-abc", "v2-def"] {
            try FileManager.default.createDirectory(atPath: folder.store(name), withIntermediateDirectories: false)
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
}
