import ArgumentParser

/// Help in one place: that of `nodes` includes the options of `nodes list`, which it stands for.
enum HelpText {
    /// - Returns: nil if the arguments request no help.
    /// - Throws: if `help` is asked about a command that does not exist.
    static func requested(by arguments: [String]) throws -> String? {
        var words = arguments[...]
        if arguments == ["manual"] { return ManualPage.text }
        guard words.isEmpty || words.first == "help" || words.last == "--help" || words.last == "-h" else { return nil }
        words = words.first == "help" ? words.dropFirst() : words.dropLast()
        let (command, path) = MeshLedgerCommand.named(by: Array(words))
        guard path.count == words.count else {
            guard arguments.first == "help", !words.contains(where: { $0.hasPrefix("-") }) else { return nil }
            let known = command.configuration.subcommands.flatMap { $0.names }
            let wrong = words.dropFirst(path.count).first ?? ""
            let before = path.isEmpty ? "" : path.joined(separator: " ") + " "
            let advice = KnownName.suggestion(for: wrong, among: known, then: "`meshledger help` lists all")
            throw CommandError(.usage, "there is no command \(before)\(wrong)\(advice)")
        }
        return command == ManualTopic.self ? ManualPage.text : HelpLayout.wrapped(text(of: command), to: HelpLayout.width)
    }

    /// The text, with unwrapped lines.
    static func text(of command: any ParsableCommand.Type) -> String {
        func message(_ command: any ParsableCommand.Type) -> String {
            MeshLedgerCommand.helpMessage(for: command, columns: HelpLayout.unwrapped)
        }
        let text = message(command).replacing(" SUBCOMMANDS:\n", with: ":\n")
        guard let usual = command.configuration.defaultSubcommand, let name = usual.names.first else { return text }
        let (own, other) = (Parts(text), Parts(message(usual)))
        guard let end = own.rest.firstRange(of: "SUBCOMMANDS:\n") else { return text }
        let usage = other.usage.replacing(" \(name)", with: "", maxReplacements: 1)
        let options = "\(own.overview)\(usage)\n       \(own.usage.dropFirst("USAGE: ".count))\n\n\(other.rest)"
        return options + "\n" + String(own.rest[end.lowerBound...])
    }

    /// A help text, divided at its usage line.
    private struct Parts {
        var overview = ""
        var usage = ""
        var rest = ""

        init(_ text: String) {
            guard let start = text.firstRange(of: "USAGE: "), let end = text[start.upperBound...].firstRange(of: "\n\n") else {
                return
            }
            overview = String(text[..<start.lowerBound])
            usage = String(text[start.lowerBound..<end.lowerBound])
            rest = String(text[end.upperBound...])
        }
    }
}

extension ParsableCommand {
    /// The command that the words begin with, and the words that name it.
    static func named(by words: [String]) -> (command: any ParsableCommand.Type, path: [String]) {
        var command: any ParsableCommand.Type = Self.self
        var path: [String] = []
        for word in words {
            guard let found = command.configuration.subcommands.first(where: { $0.names.contains(word) }) else { break }
            command = found
            path.append(found.names[0])
        }
        return (command, path)
    }

    static var names: [String] { [configuration.commandName ?? ""] + configuration.aliases }
}
