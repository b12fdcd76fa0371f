import Foundation
import TestKit
import Testing

/// What README.md, the articles and CONTRIBUTING.md refer to is there.
struct ReadmeLinks {
    private static let contributing = ".github/CONTRIBUTING.md"

    private func text(_ path: String) throws -> String {
        try String(contentsOf: PackageRoot.url.appendingPathComponent(path), encoding: .utf8)
    }

    private func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// All documents but articles, whose links DocC resolves.
    private static let documents: [String] = {
        let paths = FileManager.default.enumerator(atPath: PackageRoot.url.appendingPathComponent("Sources").path)
        let found = (paths?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") && !$0.contains(".docc/") }
        return ["README.md", contributing] + found.map { "Sources/\($0)" }
    }()

    @Test(arguments: documents) func `links lead to files and headings that are there`(_ path: String) throws {
        let file = PackageRoot.url.appendingPathComponent(path)
        let links = try text(path).matches(of: /\]\(([^)#]*)(#[^)]*)?\)/).map { (String($0.1), $0.2.map(String.init)) }
        #expect(links.count > 5 || path.hasPrefix("Sources/"))
        for (link, heading) in links {
            let target = link.isEmpty ? file : file.deletingLastPathComponent().appendingPathComponent(link)
            #expect(link.hasPrefix("https://") || isThere(target), "\(path): \(link)")
            guard let heading else { continue }
            let headings = try String(contentsOf: target, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("#") }
            let anchors = headings.map { heading in
                let words = heading.drop { $0 == "#" || $0 == " " }.lowercased()
                return "#" + words.filter { !",.:`'?()".contains($0) }.replacing(" ", with: "-")
            }
            #expect(anchors.contains(heading), "\(path): \(link)\(heading)")
        }
    }

    @Test func `every path of the package that stands in a document is there`() throws {
        let texts = try Document.all().map(\.text) + [text(Self.contributing)]
        let paths = texts.flatMap { text in
            text.matches(of: /`((?:Sources|Tests|Tools|\.github|\.ci)\/[^` *<>|]*)[` ]/).map { String($0.1) }
        }
        #expect(paths.count > 30)
        for path in Set(paths) { #expect(isThere(PackageRoot.url.appendingPathComponent(path)), "\(path)") }
    }

    @Test func `DocC converts the catalog without a warning, and each article is in its contents`() throws {
        let folder = try TemporaryFolder()
        // The module as DocC knows it, without its symbols.
        let module = #"{"name":"MeshLedger","platform":{"operatingSystem":{"name":"linux"}}}"#
        let version = #"{"formatVersion":{"major":0,"minor":6,"patch":0},"generator":"tests"}"#
        try FileManager.default.createDirectory(at: folder.file("symbols"), withIntermediateDirectories: true)
        try Data(#"{"metadata":\#(version),"module":\#(module),"symbols":[],"relationships":[]}"#.utf8)
            .write(to: folder.file("symbols").appendingPathComponent("MeshLedger.symbols.json"))
        let run = try FinishedProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "docc", "convert", PackageRoot.url.appendingPathComponent(Document.catalog).path, "--additional-symbol-graph-dir",
                folder.file("symbols").path, "--output-path", folder.file("archive").path,
            ])
        #expect(run.status == 0 && !run.text.contains("warning:"), "\(run.text)")
        let contents = try Document.named("MeshLedger").text
        for document in try Document.all() where !["README", "MeshLedger"].contains(document.name) {
            #expect(contents.contains("- <doc:\(document.name)>"), "\(document.name)")
        }
    }

    @Test func `the program says the version of the changelog's newest release`() throws {
        let newest = try #require(try text("CHANGELOG.md").firstMatch(of: /\n## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d\n/)).1
        let run = try FinishedProcess(BuiltProgram.url(), ["--version"])
        #expect(run.status == 0 && run.text == newest + "\n", "\(run.text)")
    }
}
