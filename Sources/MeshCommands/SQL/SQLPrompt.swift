import Foundation
import MeshLedger
import MeshTables

/// Prompts for statements and answers them.
final class SQLPrompt {
    private let statements: SQLRun
    /// Whether a person reads what went wrong, and goes on.
    private var goesOn = false

    init(_ statements: SQLRun) { self.statements = statements }

    /// - Throws: only if the input is not a terminal: a wrong statement then ends the run.
    func run() throws {
        let lines = LineReader()
        goesOn = lines.isTerminal
        if goesOn { StandardOutput.error("Statements end with a semicolon; .help lists the other commands.") }
        try obeyAll(lines.next)
    }

    /// Obeys lines as if they were typed.
    func run(_ text: String) throws {
        var lines = text.split(separator: "\n").map(String.init)
        try obeyAll { _ in lines.isEmpty ? nil : lines.removeFirst() }
    }

    private func obeyAll(_ next: (_ prompt: String) -> String?) throws {
        var statement = ""
        while let line = next(statement.isEmpty ? "sql> " : "...> ") {
            if statement.isEmpty, line.hasPrefix(".") {
                guard try obey(line) else { return }
                continue
            }
            statement += (statement.isEmpty ? "" : "\n") + line
            guard Self.isComplete(statement) else { continue }
            try answer(statement)
            statement = ""
        }
        if !statement.allSatisfy(\.isWhitespace) { try answer(statement) }
    }

    private func answer(_ statement: String) throws {
        do {
            try statements.run(statement)
        } catch {
            try report(error)
        }
    }

    private func report(_ error: any Error) throws {
        guard goesOn else { throw error }
        let text = (error as? SQLError)?.description ?? CommandError(known: error)?.message ?? "\(error)"
        StandardOutput.error(DisplayWidth.safe(text))
    }

    /// Whether the text ends with a semicolon outside of strings and comments, or is blank.
    static func isComplete(_ text: String) -> Bool {
        var (quote, isEnded, isEmpty): (UInt8?, Bool, Bool) = (nil, false, true)
        let bytes = Array(text.utf8)
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0
            place += 1
            if let end = quote {
                if byte == end { quote = nil }
                continue
            }
            switch (byte, next) {
            case (UInt8(ascii: "-"), UInt8(ascii: "-")):
                while place < bytes.count, bytes[place] != 10 { place += 1 }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                place += 1
                while place + 1 < bytes.count, bytes[place] != UInt8(ascii: "*") || bytes[place + 1] != UInt8(ascii: "/") {
                    place += 1
                }
                guard place + 1 < bytes.count else { return false }
                place += 2
            case (UInt8(ascii: "'"), _), (UInt8(ascii: "\""), _), (UInt8(ascii: "`"), _):
                (quote, isEnded, isEmpty) = (byte, false, false)
            case (UInt8(ascii: "["), _): (quote, isEnded, isEmpty) = (UInt8(ascii: "]"), false, false)
            case (UInt8(ascii: ";"), _): isEnded = true
            case (0x20, _), (0x09...0x0d, _): continue
            default: (isEnded, isEmpty) = (false, false)
            }
        }
        return quote == nil && (isEnded || isEmpty)
    }

    // MARK: Commands

    /// - Returns: false if it is the last one.
    private func obey(_ line: String) throws -> Bool {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case ".quit", ".exit": return false
        case ".help": StandardOutput().line(Self.help)
        case ".tables":
            let part = words.dropFirst().first ?? ""
            for name in SQLTables.names(in: statements.ledger).sorted() where part.isEmpty || name.contains(part) {
                StandardOutput().line(name)
            }
        case ".schema": try showSchema(of: words.dropFirst().first)
        case ".mode":
            guard let name = words.dropFirst().first, let known = SQLFormat(rawValue: name), known.ofRows != nil else {
                try report(SQLError(".mode is one of \(OutputFormat.allCases.map(\.rawValue).joined(separator: ", "))"))
                break
            }
            statements.format = known
        default: try report(SQLError("there is no \(words.first ?? "."); .help lists the commands"))
        }
        return true
    }

    private static let help = """
        .tables [PART]   the names of all tables, or of those with this in their names
        .schema [TABLE]  the columns of a table, or of all: types, units, meaning; keys and indexes
        .mode FORMAT     how rows are printed: table, csv, json, jsonl
        .quit            ends
        """

    private func showSchema(of name: String?) throws {
        let schemas = SQLTables.schemas(in: statements.ledger).filter { name == nil || $0.name == name }
        guard !schemas.isEmpty else { return try report(SQLError("there is no table \(name ?? ""); .tables lists them")) }
        typealias Line = (table: String, column: ColumnSchema)
        let writer = RowWriter<Line>(
            [
                Column("table") { .text($0.table) }, Column("column") { .text($0.column.name) },
                Column("type") { .text($0.column.sqlType) }, Column("unit") { .optional($0.column.sqlUnit) },
                Column("meaning", canCut: true) { .optional($0.column.meaning) },
            ], format: statements.format.ofRows ?? .table, output: StandardOutput())
        for schema in schemas { for column in schema.columns { writer.write((schema.name, column)) } }
        writer.finish()
        guard statements.format == .table else { return }
        for schema in schemas {
            let finds = try statements.finds(schema.name)
            if !finds.isEmpty { StandardOutput().line("Rows of \(schema.name) are found by \(finds.joined(separator: "; "))") }
        }
    }
}

/// Reads lines; at a terminal with editing and history, if a library for that is installed.
@safe final class LineReader {
    private typealias Read = @convention(c) (UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>?
    private typealias Note = @convention(c) (UnsafePointer<CChar>?) -> CInt

    let isTerminal = isatty(0) == 1
    @unsafe private let editing: (read: Read, note: Note)?

    init() {
        unsafe editing = isatty(0) == 1 && isatty(1) == 1 ? Self.editLine() : nil
    }

    /// The line editor of Debian's sqlite3, loaded when needed; everything else works without it.
    private static func editLine() -> (read: Read, note: Note)? {
        guard let library = unsafe dlopen("libedit.so.2", RTLD_NOW), let read = unsafe dlsym(library, "readline"),
            let note = unsafe dlsym(library, "add_history")
        else { return nil }
        return unsafe (unsafeBitCast(read, to: Read.self), unsafeBitCast(note, to: Note.self))
    }

    /// Nil at the end of the input.
    func next(_ prompt: String) -> String? {
        guard let editing = unsafe editing else {
            if isTerminal { StandardOutput.rawError(prompt) }
            return readLine()
        }
        guard let line = unsafe editing.read(prompt) else { return nil }
        defer { unsafe free(line) }
        let text = unsafe String(cString: line)
        if !text.isEmpty { _ = unsafe editing.note(line) }
        return text
    }
}
