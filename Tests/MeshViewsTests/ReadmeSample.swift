import Foundation
import MeshLedger
import TestKit
import Testing

struct ReadmeSample {
    @Test func `the sample of the README runs as it stands`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let envelope = MeshPacketBuilder(payload: Array("hello".utf8)).envelope()
        // sample
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "radio on the roof")
        let event = NewEvent(envelope, encoding: .serviceEnvelope, source: source)
        let sequence = try await ledger.log.append(event)  // on disk when it returns
        try await ledger.catchUp()
        for node in try ledger.nodes() { print(node.longName, node.lastHeard, sequence) }
        try await ledger.close()
        // sample
        let reopened = try await Ledger.open(at: path)
        #expect(try reopened.messages().map(\.text) == ["hello"])
        try await reopened.close()
    }

    @Test func `the sample in the README is the one that this file runs`() throws {
        let readme = try String(contentsOf: PackageRoot.url.appendingPathComponent("README.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let shown = try #require(
            readme.components(separatedBy: "```swift").dropFirst().first?.components(separatedBy: "```").first)
        // Before it stand the imports and what is given, which MeshCommandsTests compiles with it.
        let sample = lines(source.components(separatedBy: "// sample\n")[1])
        #expect(lines(shown).suffix(sample.count) == sample[...])
    }

    @Test func `the view of one's own in the README is the example that the tests compile`() throws {
        let readme = try String(contentsOf: PackageRoot.url.appendingPathComponent("README.md"), encoding: .utf8)
        let folder = PackageRoot.url.appendingPathComponent("Tools/Examples/OwnView/Sources/OwnView")
        for file in ["PortUse.swift", "Main.swift"] {
            let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            #expect(readme.contains("```swift\n" + source + "```"), "\(file)")
            #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 41)
        }
    }
}
