import ArgumentParser
import Foundation

/// The help of all commands as a manual page.
enum ManualPage {
    static var text: String {
        guard let tree = try? CommandTree.read() else { return "" }  // the program's own description of itself
        var page = Roff()
        page.lines.append(".TH MESHLEDGER 1 \"\" \"meshledger \(MeshLedgerCommand.configuration.version)\" \"MeshLedger\"")
        page.section("NAME")
        page.paragraph("meshledger - \(tree.abstract ?? "")")
        page.section("SYNOPSIS")
        page.paragraph("meshledger COMMAND [options]")
        page.section("DESCRIPTION")
        page.block(tree.discussion ?? "")
        page.section("COMMANDS")
        for command in tree.shown where command.commandName != "help" { add(command, "meshledger", to: &page) }
        page.section("EXIT STATUS")
        for status in ExitStatus.allCases { page.item("\(status.rawValue)", status.meaning) }
        page.section("ENVIRONMENT")
        for (name, meaning) in environment { page.item(name, meaning) }
        return page.lines.joined(separator: "\n")
    }

    private static let environment = [
        ("MESHLEDGER", "The ledger's folder."),
        ("XDG_DATA_HOME", "The parent of the default ledger, meshledger/mesh.ledger; by default ~/.local/share."),
        (BrokerPassword.variable, "The password of a broker."),
        ("PAGER", "The pager for long output on a terminal, by default less; empty or cat for none."),
        ("TZ", "The zone of times in tables on a terminal."),
        ("NO_COLOR", "No colours, whatever it is set to."),
    ]

    private static func add(_ command: CommandTree, _ path: String, to page: inout Roff) {
        let name = "\(path) \(command.commandName)"
        page.subsection(name)
        let also = command.aliases.flatMap { $0.isEmpty ? nil : " Also \($0.joined(separator: ", "))." } ?? ""
        page.paragraph((command.abstract ?? "") + also)
        if let discussion = command.discussion, !discussion.isEmpty { page.block(discussion) }
        // The default subcommand is described with its noun.
        let arguments = (command.usual ?? command).arguments ?? []
        for argument in arguments where argument.shouldDisplay && !["--help", "--version"].contains(argument.spellings.last) {
            let value = argument.valueName ?? "value"
            let head =
                argument.kind == "positional"
                ? "<\(value)>\(argument.isRepeating ? " ..." : "")"
                : argument.spellings.joined(separator: ", ") + (argument.isFlag ? "" : " <\(value)>")
            let values = argument.allValues.map { $0.isEmpty ? "" : " One of \($0.joined(separator: ", "))." } ?? ""
            let usual = argument.defaultValue.map { " By default \($0)." } ?? ""
            page.item(head, (argument.abstract ?? "") + values + usual)
        }
        for other in command.shown where other.commandName != command.defaultSubcommand { add(other, name, to: &page) }
    }
}

/// Lines of `man`'s own markup.
private struct Roff {
    var lines: [String] = []

    mutating func section(_ title: String) { lines.append(".SH \(title)") }
    mutating func subsection(_ title: String) { lines.append(".SS \"\(Self.escaped(title))\"") }
    mutating func paragraph(_ text: String) { lines += [".PP", Self.escaped(text)] }
    mutating func item(_ head: String, _ text: String) { lines += [".TP", "\\fB\(Self.escaped(head))\\fR", Self.escaped(text)] }

    /// Text in paragraphs, with examples unchanged.
    mutating func block(_ text: String) {
        var isExample = false
        lines.append(".PP")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isIndented = line.hasPrefix("  ")
            if isIndented != isExample { lines.append(isIndented ? ".PP\n.nf" : ".fi\n.PP") }
            isExample = isIndented
            if line.isEmpty, !isExample { lines.append(".PP") } else { lines.append(Self.escaped(String(line))) }
        }
        if isExample { lines.append(".fi") }
    }

    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
        return plain.hasPrefix(".") ? "\\&" + plain : plain
    }
}
