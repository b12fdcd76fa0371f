import ArgumentParser
import Foundation
import MeshLedger
import MeshTables
import Projections

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "The versions of views: in the files, in this program, and the steps between.",
        discussion: """
              meshledger view schema
              meshledger view schema plan
              meshledger view schema check --against released.schema

            What a change of a view's rows requires:
              a property added         lightweight: it has its default in old rows
              a property removed       lightweight
              a property renamed       lightweight: the number of its field stays
              a property split, another type or key
                                       custom: each row is computed from the old one
              other rows from the same events
                                       replay: the log is folded again (the default, always right)
              an index                 no new version: it is built when the ledger is opened
            """,
        subcommands: [SchemaListCommand.self, SchemaPlanCommand.self, SchemaCheckCommand.self, SchemaDropCommand.self],
        defaultSubcommand: SchemaListCommand.self)
}

struct SchemaListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Each view with its version and fingerprint, in the file and in this program.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let writer = try output.writer([
            Column<SchemaState>("view") { .text($0.view) },
            Column<SchemaState>("stored_version", heading: "stored") { .number($0.storedVersion) },
            Column<SchemaState>("version") { .number($0.version) },
            Column<SchemaState>("fingerprint") { .optional($0.fingerprint ?? "") },
            Column<SchemaState>("stored_fingerprint", isDetail: true) { .optional($0.storedFingerprint ?? "") },
            Column<SchemaState>("state") { .text($0.action == .none ? "current" : $0.action.rawValue) },
            Column<SchemaState>("bytes") { .unsigned(UInt64($0.size)) },
        ])
        for state in try await ledger.schemaPlan() { writer.write(state) }
        writer.finish()
    }
}

struct SchemaPlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "What the next opening for writing would do with each view. Nothing is changed.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let writer = try output.writer([
            Column<SchemaState>("view") { .text($0.view) },
            Column<SchemaState>("action") { .text($0.action.rawValue) },
            Column<SchemaState>("reason", isText: true) { .optional($0.reason) },
        ])
        for state in try await ledger.schemaPlan() where state.action != .none { writer.write(state) }
        writer.finish(emptyNote: "nothing to do")
    }
}

struct SchemaCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Fail if a view of the ledger would be refused, or a released version was changed.",
        discussion: """
            A file of released versions has a line for each view: its name, its version and its fingerprint. --write makes it.

              meshledger view schema check
              meshledger view schema check --write released.schema
              meshledger view schema check --against released.schema
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(
        help: ArgumentHelp("A file of released versions, none of which may have changed. Needs no ledger.", valueName: "file"))
    var against: String?
    @Option(help: ArgumentHelp("Write the versions of this program's views.", valueName: "file")) var write: String?

    func run() async throws {
        let schemas = try Ledger.Maintenance.schemas(CustomViews.options())
        if let write {
            let text = schemas.map { "\($0.view) \($0.version) \($0.fingerprint)\n" }.joined()
            return try StandardOutput(file: write).write(text)
        }
        if let against {
            guard let data = FileManager.default.contents(atPath: against) else {
                throw CommandError(.noInput, "\(against) cannot be read")
            }
            let problems = Ledger.Maintenance.changes(of: schemas, against: String(decoding: data, as: UTF8.self))
            guard problems.isEmpty else { throw CommandError(.verificationFailed, problems.joined(separator: "; ")) }
            return StandardOutput().line(
                "\(schemas.count.counted("view is as it was", "views are as they were")) released, or of newer versions")
        }
        let refused = try await ledger.schemaPlan().filter { [.newerThanCode, .unversionedChange].contains($0.action) }
        guard refused.isEmpty else {
            throw CommandError(.verificationFailed, refused.map(\.reason).joined(separator: "; "))
        }
        StandardOutput().line("\(schemas.count.counted("view")) can be opened")
    }
}

struct SchemaDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Remove a view that this program does not know.",
        discussion: """
              meshledger view schema drop port_use
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: ArgumentHelp("The view.", valueName: "view")) var view: String

    func run() async throws {
        let ledger = try await ledger.openForWriting()
        do {
            try ledger.maintenance.dropView(view)
        } catch {
            try? await ledger.close()  // the first failure is the one to report
            throw error
        }
        try await ledger.close()
        StandardOutput().line("the view \(view) is removed")
    }
}

extension LedgerOption {
    func schemaPlan() async throws -> [SchemaState] {
        try await advising { try Ledger.Maintenance.schemaPlan(at: path, options: CustomViews.options()) }
    }
}
