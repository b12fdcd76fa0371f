import Foundation

/// A document that readers copy code from: README.md, or an article of the DocC catalog.
public struct Document: Sendable {
    /// Without `.md`.
    public let name: String
    public let text: String

    /// A block of code in a document.
    public struct Block: Sendable, CustomStringConvertible {
        public let document: String
        /// `swift`, `sh`, or empty where the fence names none.
        public let language: String
        /// Counts the document's blocks in this language, from 1.
        public let number: Int
        /// Its lines, each ended with a line feed.
        public let text: String

        public var description: String { "\(document) \(language) \(number)" }
        /// The lines without indentation and empty lines, as they are compared with code that a test runs.
        public var trimmedLines: [String] { Document.trimmedLines(text) }
    }

    /// The catalog's folder in the package.
    public static let catalog = "Sources/MeshLedger/MeshLedger.docc"

    /// README.md, then the articles by name.
    public static func all() throws -> [Document] {
        let articles = try FileManager.default.contentsOfDirectory(atPath: PackageRoot.url.appendingPathComponent(catalog).path)
            .filter { $0.hasSuffix(".md") }.sorted()
        return try ["README.md"].map { try Document(at: $0) } + articles.map { try Document(at: "\(catalog)/\($0)") }
    }

    public static func named(_ name: String) throws -> Document {
        try Document(at: name == "README" ? "README.md" : "\(catalog)/\(name).md")
    }

    private init(at path: String) throws {
        let url = PackageRoot.url.appendingPathComponent(path)
        name = url.deletingPathExtension().lastPathComponent
        text = try String(contentsOf: url, encoding: .utf8)
    }

    /// All blocks of code, in order.
    public var blocks: [Block] {
        var blocks: [Block] = []
        var open: (language: String, lines: String)?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let (language, lines) = open {
                guard line == "```" else {
                    open?.lines += line + "\n"
                    continue
                }
                let number = blocks.count { $0.language == language } + 1
                blocks.append(Block(document: name, language: language, number: number, text: lines))
                open = nil
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), "")
            }
        }
        return blocks
    }

    public func blocks(in language: String) -> [Block] { blocks.filter { $0.language == language } }

    /// What stands under a heading of the second level, up to the next one; nil where there is no such heading.
    public func section(_ heading: String) -> String? {
        let parts = text.components(separatedBy: "\n## \(heading)\n")
        return parts.count == 2 ? parts[1].components(separatedBy: "\n## ")[0] : nil
    }

    public static func trimmedLines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
