import Foundation
import MeshTables
import TestKit
import Testing

@testable import MeshCommands

/// Statements and values as they are given on the command line.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(10)))
struct SQLArguments {
    private let tool: Tool

    init() throws { tool = try Tool(holding: [Line.node(0x1022_4c0b, long: "One", short: "4c0b")]) }

    private func ask(_ arguments: String...) throws -> String {
        let outcome = try tool.start(["sql"] + arguments + ["--format", "csv"]).wait()
        #expect(outcome.status == 0, "\(outcome)")
        return outcome.lines.dropFirst().joined(separator: "\n")
    }

    @Test func `a numeric literal of SQLite is a number as a parameter, too`() throws {
        for (text, value) in [
            ("1e5", 100_000.0), ("1E+5", 100_000), ("1e-05", 0.00001), ("2.5e3", 2_500), (".5", 0.5), ("5.", 5), ("1.50", 1.5),
            ("-.5", -0.5), ("-1e3", -1_000), ("9223372036854775808", 9_223_372_036_854_775_808),
        ] { #expect(SQLCommand.value(text) == .real(value), "\(text)") }
        for (text, value) in [("0x1F", 31), ("0XFFFFFFFFFFFFFFFF", -1), ("-12", -12), ("0", 0), ("-0", 0)] as [(String, Int64)] {
            #expect(SQLCommand.value(text) == .integer(value), "\(text)")
        }
        #expect(try ask("SELECT typeof(?1), 3 > ?1, 1e9 < ?1", "1e5") == "real,0,0")
    }

    @Test func `what short names, versions and words look like is a text`() {
        for text in [
            "007", "0012", "1e05", "5e10", "12e4", "-", "1-2", "1.2.3", ".", "e5", "1e", "1e+", "0x", "0xg", "nan", "inf",
            "1_000",
            "+5", " 5", "-0x1", "0x11111111111111111", "",
        ] { #expect(SQLCommand.value(text) == .text(text), "\(text)") }
    }

    @Test func `negative numbers are values, and options are still options`() throws {
        #expect(try ask("SELECT count(*), typeof(?1) FROM receptions WHERE rssi < ?1", "-50") == "1,integer")
        #expect(try ask("SELECT ? + ?", "-1", "-.5") == "-1.5")
        for option in ["--formt", "-x"] {
            let outcome = try tool.run("sql", "SELECT ?", option)
            #expect(outcome.status == 64 && outcome.errors.contains("Unknown option '\(option)'"), "\(outcome)")
        }
        let refused = try tool.run("sql", "SELECT 1", "--format", "-5")
        #expect(refused.status == 64 && refused.errors.contains("The value '-5' is invalid"), "\(refused)")
    }

    @Test func `a statement may begin with a comment`() throws {
        for text in [
            "-- busiest\nSELECT 1 AS x", "--busiest\nSELECT 1", "--\nSELECT 1;", "/* a */ SELECT 1", "--- - -\nSELECT 1",
        ] {
            #expect(try ask(text) == "1", "\(text)")
        }
        #expect(try ask("SELECT ? = '-- ' || 'none'", "-- none") == "1")
    }

    @Test func `node_id takes any spelling of an id`() throws {
        let id = "!10224c0b"
        for text in [id, "!10224C0B", "10224c0b", "0x10224c0b", "0X10224C0B", "270683147", "^all", "^ALL", "!b"] {
            let wanted = text.lowercased() == "^all" ? "!ffffffff" : text == "!b" ? "!0000000b" : id
            #expect(try ask("SELECT node_id('\(text)')") == wanted, "\(text)")
        }
        for text in ["", "0x", "10224c0", "One", "0x110224c0b", "+5"] {
            #expect(try ask("SELECT node_id('\(text)') IS NULL") == "1", "\(text)")
        }
    }

    @Test func `.schema lists how a table's rows are found without reading all of them`() throws {
        let output = try tool.run("sql", ".schema positions").output
        #expect(output.contains("key: node, time"), "\(output)")
        #expect(output.contains("index (time): time"), "\(output)")
        let columns = try tool.run("sql", ".mode jsonl\n.schema positions").objects
        #expect(columns.count > 10 && columns.allSatisfy { $0["column"] != nil })
    }
}
