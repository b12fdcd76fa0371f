import ArgumentParser
import Foundation
import LMDB
import Logging
public import MeshLedger
import Synchronization

extension MeshLedgerCommand {
    /// Runs the command line and ends the process with its status. A program with custom views calls it to offer the commands of
    /// `meshledger`.
    ///
    /// ```swift
    /// @main
    /// struct MyLedger {
    ///     static func main() async { await MeshLedgerCommand.main(views: [Loudness.self]) }
    /// }
    /// ```
    public static func main(views: [any LedgerView.Type]) async -> Never {
        // A failing write, not a signal, shows that a reader or a broker is gone.
        signal(SIGPIPE, SIG_IGN)
        LostPages.install()
        ProcessList.hidePasswords()
        FreedMemory.shareHeaps()
        LoggingSystem.bootstrap { LibraryLog($0) }
        do {
            try ProcessLimits.require()
            let arguments = FormerNames.replaced(in: CommandLine.arguments.dropFirst().map(withoutLineEnd))
            if let offers = try CommandCompletion.answer(to: arguments) {
                let output = StandardOutput()
                output.write(offers)
                output.flush()
                ExitStatus.success.end()
            }
            if let help = try HelpText.requested(by: arguments) {
                let output = StandardOutput()
                output.line(help)
                output.flush()
                ExitStatus.success.end()
            }
            NameCompletion.columnsOfList.withLock { $0 = knownColumns }
            try await CustomViews.$types.withValue(views) {
                var command = try await parsed(arguments)
                try refuseRepeats(in: arguments, of: type(of: command))
                TimeArgument.zone.withLock { $0 = (command as? any ShowsTimes)?.output.zone ?? .utc }
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
            }
            try OutputFiles.keepAll()
        } catch {
            end(with: error)
        }
        ExitStatus.success.end()
    }

    /// `$(meshledger nodes --format csv --columns node | tail -n 1)` ends with a carriage return: lines of CSV end with two characters.
    private static func withoutLineEnd(_ argument: String) -> String {
        argument.utf8.last == UInt8(ascii: "\r") ? String(argument.unicodeScalars.dropLast()) : argument
    }

    /// The columns of the list that the words name.
    @Sendable private static func knownColumns(
        _ words: [String], in ledger: Ledger
    ) async throws -> [NameCompletion.KnownColumn] {
        guard let list = named(by: words).command as? any ListingCommand.Type else { return [] }
        return try await list.knownColumns(in: ledger)
    }

    /// Parses a command that the first words name by itself, since the parser otherwise begins with the tree of all commands. Whatever that refuses, or
    /// answers with help, goes through the whole tree.
    static func parsed(_ arguments: [String]) async throws -> any ParsableCommand {
        var (command, path) = named(by: arguments)
        while let usual = command.configuration.defaultSubcommand { command = usual }
        let arguments = command == SQLCommand.self ? SQLCommand.marked(arguments) : arguments
        let rest = Array(arguments.dropFirst(path.count))
        if !path.isEmpty, command.configuration.subcommands.isEmpty, let alone = command as? any AsyncParsableCommand.Type,
            let parsed = try? await alone.asyncParseAsRoot(rest), type(of: parsed) == command  // refused again below
        {
            return parsed
        }
        return try await asyncParseAsRoot(arguments)
    }

    /// - Throws: 64 where an option that takes one value is given twice.
    private static func refuseRepeats(in arguments: [String], of command: any ParsableCommand.Type) throws {
        let options = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("-") }.map { $0.prefix { $0 != "=" } }
        // Few commands repeat an option; only then is the description of their options made.
        guard Set(options).count < options.count, let option = try CommandTree.read(command).optionGivenTwice(in: arguments)
        else { return }
        throw CommandError(.usage, "\(option) is given twice, but takes one value")
    }

    /// Help and versions go to standard output; anything else prints one line to standard error.
    private static func end(with error: any Error) -> Never {
        if let failure = CommandError(known: error) { end(failure) }
        let code = exitCode(for: error)
        if let code = error as? ExitCode { ExitStatus.end(code.rawValue) }
        if code == .success {
            let output = StandardOutput()
            output.line(fullMessage(for: error))
            output.flush()
            ExitStatus.success.end()
        }
        if code == .validationFailure {
            let line = SQLCommand.unmarked(usageLine(message: message(for: error), full: fullMessage(for: error)))
            end(CommandError(.usage, line + hint(line, Array(CommandLine.arguments.dropFirst()))))
        }
        if let failure = LedgerError(ofFile: error).flatMap({ CommandError(known: $0) }) { end(failure) }
        end(CommandError(.software, "\(error)"))
    }

    private static func end(_ failure: CommandError) -> Never {
        for line in failure.lines { StandardOutput.error("meshledger: \(DisplayWidth.safe(line))") }
        failure.status.end()
    }

    private static func hint(_ line: String, _ arguments: [String]) -> String {
        let following = followingHint(line, arguments)
        guard following.isEmpty else { return following }
        if let guess = valueHint(line) { return guess }
        let (command, path) = named(by: FormerNames.replaced(in: arguments))
        guard let wrong = arguments.dropFirst(path.count).first, line.contains(/^(?:\d+ u|U)nexpected arguments?:? '/),
            line.contains("'\(wrong)'")
        else { return "" }
        if wrong.hasPrefix("!"), command.helpMessage().contains("--node ") { return "; `--node '\(wrong)'` chooses a node" }
        let known = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { $0.names }
        return KnownName.suggestion(for: wrong, among: known)
    }

    /// The allowed choice that is spelt like the value in the error; nil for other errors.
    private static func valueHint(_ line: String) -> String? {
        let parts = line.components(separatedBy: "Please provide one of")
        guard parts.count == 2, line.hasPrefix("The value '"), let end = line.range(of: "' is invalid for '") else { return nil }
        let choices = parts[1].split(separator: "'", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
        let value = line[..<end.lowerBound].dropFirst("The value '".count)
        return KnownName.suggestion(for: String(value), among: choices.map { String($0.element) })
    }

    /// What follows the rows of a list that has no `--follow`.
    static func followingHint(_ line: String, _ arguments: [String]) -> String {
        let (command, path) = named(by: FormerNames.replaced(in: arguments))
        guard line.hasPrefix("Unknown option '--follow'"), command is any ListingCommand.Type, let list = path.first else {
            return ""
        }
        guard Ledger.viewNames.contains(list) else { return "; `meshledger packets --follow` prints what arrives" }
        return "; `meshledger follow --view \(list) --consumer NAME` feeds its new rows and changes"
    }

    /// The error in the command line, and where to find help, on one line: the parser's text has several.
    static func usageLine(message: String, full: String) -> String {
        var text = ""
        for line in message.split(whereSeparator: \.isNewline).map({ $0.trimmingCharacters(in: .whitespaces) }) {
            let isItem = line.hasPrefix("- ")
            text += text.isEmpty ? "" : isItem ? (text.hasSuffix(":") ? " " : ", ") : "; "
            text += isItem ? "'\(line.dropFirst(2))'" : line
        }
        if text.hasSuffix(".") { text.removeLast() }
        guard let start = full.range(of: "See '"), let end = full[start.upperBound...].firstIndex(of: "'") else { return text }
        return "\(text); see `\(full[start.upperBound..<end])`"
    }
}
