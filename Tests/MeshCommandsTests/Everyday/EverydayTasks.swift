import Foundation
import TestKit
import Testing

/// The twenty things that people of this field want to know: each is one short command that help shows, and its answer is right.
@Suite(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
struct EverydayTasks {
    /// A task, the command line as help has it, and the help that shows it.
    struct Everyday {
        let number: Int
        let task: String
        let line: String
        let help: String
        /// Of what this run of the program stands for in the line.
        var replacing: [String: (EverydayMesh) -> String] = [:]
        let check: (EverydayAnswer) throws -> Void
    }

    @Test func `each of the twenty everyday tasks is one command of at most 100 characters that help shows`() throws {
        let tool = try Tool()
        #expect(Self.tasks.map(\.number) == Array(1...20))
        for task in Self.tasks {
            let help = try tool.start(task.help.split(separator: " ").map(String.init) + ["--help"]).wait().output
            let words = help.split(whereSeparator: \.isWhitespace).filter { $0 != "\\" }.joined(separator: " ") + " "
            #expect(words.contains(" \(task.line) "), "\(task.number): \(task.line)")
            #expect(task.line.count <= 100 && task.line.hasPrefix("meshledger "), "\(task.number): \(task.line.count)")
        }
    }

    @Test(.timeLimit(.minutes(20))) func `each answer is that of an independent fold, or a count, of the same events`() throws {
        let mesh = try EverydayMesh()
        for task in Self.tasks {
            let line = task.replacing.reduce(task.line) { $0.replacing($1.key, with: $1.value(mesh)) }
            let shown = try mesh.run(line)
            #expect(shown.status == 0 && !shown.text.isEmpty, "\(task.number) \(line): \(shown.text)")
            try task.check(EverydayAnswer(task: task, mesh: mesh, line: line, text: shown.text))
        }
    }
}

/// What a command answered.
struct EverydayAnswer {
    let task: EverydayTasks.Everyday
    let mesh: EverydayMesh
    let line: String
    /// As it stands in help.
    let text: String

    /// The same with JSON lines, for comparing.
    func rows() throws -> [EverydayMesh.Row] {
        try mesh.run(line, "--format jsonl").text.split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? EverydayMesh.Row
        }
    }

    /// The parts that only one of them has.
    private static func difference(_ found: Any, _ expected: Any) -> String {
        func parts(_ value: Any) -> Set<String> { Set(Mirror(reflecting: value).children.map { "\($0.value)" }) }
        let (left, right) = (parts(found), parts(expected))
        return
            "found only: \(left.subtracting(right).sorted().prefix(5)), expected only: \(right.subtracting(left).sorted().prefix(5))"
    }

    /// Expects the same of both, and something.
    func expect<Value: Equatable>(_ found: Value, _ expected: Value, isEmpty: Bool = false) {
        #expect(found == expected && !isEmpty, "\(task.number) \(task.task): \(line)\n\(Self.difference(found, expected))")
    }
}

func nodeText(_ number: Any?) -> String { String(format: "!%08x", number as? Int ?? 0) }

func seconds(_ text: Any?) -> Int {
    (text as? String).flatMap { try? Date($0, strategy: .iso8601) }.map { Int($0.timeIntervalSince1970) } ?? 0
}
