import Foundation
import TestKit
import Testing

/// What the compiler refuses: snippets are checked against the built modules, each beside one that it takes.
@Suite(.timeLimit(.minutes(30))) struct CompileFailures {
    /// The folder of the modules that were built with these tests.
    private static func modules() throws -> URL {
        try BuiltProgram.url("damagelab").deletingLastPathComponent().appendingPathComponent("Modules")
    }

    /// - Returns: the compiler's messages; empty where the snippet is sound.
    private static func check(_ snippet: String) throws -> String {
        let folder = try TemporaryFolder()
        let file = folder.file("snippet.swift")
        try Data((header + snippet).utf8).write(to: file)
        var arguments = ["swiftc", "-typecheck", "-swift-version", "6", "-I", try modules().path]
        for folder in try PackageRoot.moduleMaps() { arguments += ["-I", folder] }
        let run = try FinishedProcess(URL(fileURLWithPath: "/usr/bin/env"), arguments + [file.path])
        #expect((run.status == 0) == !run.text.contains("error:"), "\(run.text)")
        return run.status == 0 ? "" : run.text
    }

    private static let header = """
        import Foundation
        import MeshLedger


        """

    private func expect(_ good: String, refused bad: String, saying words: String) throws {
        let sound = try Self.check(good)
        #expect(sound.isEmpty, "\(sound)")
        let found = try Self.check(bad)
        #expect(found.contains(words), "\(bad) gives \(found)")
    }

    @Test func `G32: a relation needs a property of the type by which the others name the row`() throws {
        func relation(_ parent: String, _ child: String) -> String {
            """
            let relation = Relation<NodeRow, PositionRow>("x", from: \(parent), to: \\\(child), time: \\.time)
            """
        }
        try expect(relation("{ $0.number }", ".node"), refused: relation("{ $0.longName }", ".node"), saying: "cannot convert")
        try expect(relation("{ $0.number }", ".node"), refused: relation("{ $0.number }", ".altitude"), saying: "error:")
        try expect(
            "func f(_ l: Ledger, _ n: NodeRow) throws { _ = try l.related(n, NodeRow.positions) }",
            refused: "func f(_ l: Ledger, _ n: MessageRow) throws { _ = try l.related(n, NodeRow.positions) }",
            saying: "cannot convert")
        // A row is named by its key, which is never nil.
        try expect(
            "func f(_ r: NodeRow) -> UInt32 { r.number }", refused: "func f(_ r: inout NodeRow) { r.number = nil }",
            saying: "cannot be assigned")
        try expect(
            "func f() -> RowCondition<NodeRow> { .exists(NodeRow.positions) }",
            refused: "func f() -> RowCondition<MessageRow> { .exists(NodeRow.positions) }", saying: "cannot convert")
    }

    @Test func `S4: a view without versions is no view`() throws {
        func view(_ versions: String) -> String {
            """
            struct Count: StoredRow {
                var node: UInt32 = 0
                static let view = "counts"
                static let columns: [RowColumn<Count>] = [RowColumn(key: "node", \\.node, .node)]
            }
            struct Counts: LedgerView {
                typealias Row = Count
                \(versions)
                static let cap = RowCap<Count>.none
                func fold(_ event: MeshEvent, into rows: inout RowEditor<Count>) {}
            }
            """
        }
        try expect(
            view("static let versions = [SchemaVersion(1)]"), refused: view(""),
            saying: "does not conform to protocol 'LedgerView'")
    }

    @Test func `W11 G1 G25: a query gives rows of its type, which are plain values`() throws {
        try expect(
            "func f(_ l: Ledger) throws -> [PositionRow] { try l.fetch(FetchDescriptor<PositionRow>()) }",
            refused: "func f(_ l: Ledger) throws -> [NodeRow] { try l.fetch(FetchDescriptor<PositionRow>()) }",
            saying: "cannot convert")
        try expect(
            "let q = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.number == 7 })",
            refused: "let q = FetchDescriptor<NodeRow>(predicate: #Predicate { $0.latitude == 7 })",
            saying: "has no member 'latitude'")
        try expect(
            "func f(_ r: NodeRow) -> NodeRow { var copy = r; copy.note = \"x\"; return copy }",
            refused: "class Mine: NodeRow {}", saying: "inheritance from non-protocol")
        // A name for a version of a row is the row.
        try expect(
            "typealias Place = PositionRow\nlet q = FetchDescriptor<Place>()", refused: "let q = FetchDescriptor<Place>()",
            saying: "cannot find type")
    }

    @Test func `K26 S18: what is public can be handed to other tasks, and what may not cannot`() throws {
        try expect(
            "func f(_ l: Ledger) { Task { @Sendable in _ = try l.fetch(FetchDescriptor<NodeRow>()) } }",
            refused:
                "func f(_ l: Ledger) throws { try l.snapshot { s in Task { @Sendable in _ = try s.fetch(FetchDescriptor<NodeRow>()) } } }",
            saying: "error:")
        try expect(
            "func g<T: Sendable>(_: T.Type) {}\nfunc f() { g(NodeRow.self); g(Ledger.self); g(FetchDescriptor<NodeRow>.self); g(Annotation.self) }",
            refused: "func g<T: Sendable>(_: T.Type) {}\nfunc f() { g(LedgerSnapshot.self) }", saying: "Sendable")
    }
}
