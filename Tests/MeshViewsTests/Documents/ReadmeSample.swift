import Foundation
import MeshLedger
import TestKit
import Testing

/// The Swift code of README.md and of the articles is code that tests run. A block that is run stands in a file of this folder whose name begins with
/// `Readme`, between two lines such as `// README 2`, which name the document and the block's number.
struct ReadmeSample {
    /// Blocks that are not run here: those of the example are compiled and run by `Tools/checks/examples`, and a manifest is read by MeshCommandsTests.
    private static let others = ["README swift 1", "YourFirstView swift 1", "YourFirstView swift 2"]

    @Test func `the sample of the README runs as it stands`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let envelope = MeshPacketBuilder(payload: Array("hello".utf8)).envelope()
        // README 2
        let ledger = try await Ledger.create(at: path)
        let source = try await ledger.log.source(named: "radio on the roof")
        let event = NewEvent(envelope, encoding: .serviceEnvelope, source: source)
        let sequence = try await ledger.log.append(event)  // on disk when it returns
        try await ledger.catchUp()
        for node in try ledger.nodes() { print(node.longName, node.lastHeard, sequence) }
        try await ledger.close()
        // README 2
        let reopened = try await Ledger.open(at: path)
        #expect(try reopened.messages().map(\.text) == ["hello"])
        try await reopened.close()
    }

    @Test func `every Swift block of the documents is one that a test runs`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let source = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("Readme") }
            .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
        var seen: [String] = []
        for block in try Document.all().flatMap({ $0.blocks(in: "swift") }) {
            guard !Self.others.contains(block.description) else {
                seen.append(block.description)
                continue
            }
            let parts = source.components(separatedBy: "// \(block.document) \(block.number)\n")
            try #require(parts.count == 3, "\(block) is run by no test, or by several")
            // Before it stand the imports and what is given, which MeshCommandsTests compiles with it.
            let sample = Document.trimmedLines(parts[1])
            #expect(!sample.isEmpty && block.trimmedLines.suffix(sample.count) == sample[...], "\(block)")
        }
        #expect(seen == Self.others)
    }

    @Test func `the view in the article is the example that the tests compile`() throws {
        let article = try Document.named("YourFirstView")
        let folder = PackageRoot.url.appendingPathComponent("Tools/Examples/CustomView/Sources/CustomView")
        for (block, file) in zip(article.blocks(in: "swift"), ["PortUse.swift", "Main.swift"]) {
            let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            #expect(block.text == source, "\(file)")
            #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 41)
        }
    }
}
