import Foundation

/// The completions that a shell offers after the typed words.
///
/// A short script for each shell asks this program: `---complete PLACE WORD…`. The answer has one line for each completion, with its description after a tab;
/// `:files` and `:folders`, with what was typed after a tab, leave it to the shell.
enum CommandCompletion {
    /// In which form a shell passes words, and takes completions.
    private enum Form: String {
        /// Only the typed word has its quotes, as in fish.
        case plain = "---complete"
        /// All words have their quotes; the shell quotes completions itself, as zsh does.
        case quoted = "---complete-quoted"
        /// The same words, split at `=`, too; completions are quoted here, as bash needs them.
        case bash = "---complete-bash"

        var shell: TypedWord.Shell {
            switch self {
            case .plain: .fish
            case .quoted: .zsh
            case .bash: .bash
            }
        }
    }

    /// - Returns: nil if the arguments are not a question from a shell.
    static func answer(to arguments: [String]) throws -> String? {
        if let shell = shellOfScript(arguments) { return scripts[shell] }
        guard let form = arguments.first.flatMap(Form.init), arguments.count > 2, let place = Int(arguments[1]) else {
            return nil
        }
        let words = Array(arguments.dropFirst(2))
        guard place > 0, words.indices.contains(place) || place == words.count else { return "" }
        var before = Array(words.prefix(place))
        var typed = TypedWord(place < words.count ? words[place] : "", in: form.shell)
        var kept = 0
        if form == .bash { (before, typed, kept) = joined(before + [place < words.count ? words[place] : ""]) }
        if form != .plain { before = before.map { TypedWord($0, in: form.shell).value } }
        before = before.map(expanded)
        let offers = try offers(before, typed.value)
        guard form == .bash else { return offers.map { $0 + "\n" }.joined() }
        if typed.openQuote != nil { kept = max(kept, typed.valueBeforeQuote.count) }
        return offers.map { offer in
            guard !isLeftToShell(offer) else { return offer + "\n" }
            let value = offer.prefix { $0 != "\t" }
            return typed.typed(value.dropFirst(kept)) + "\n"
        }.joined()
    }

    /// The shell whose script is asked for; the user's own, if none is named.
    private static func shellOfScript(_ arguments: [String]) -> String? {
        let option = "--generate-completion-script"
        guard let first = arguments.first, first == option || first.hasPrefix(option + "=") else { return nil }
        if first != option { return arguments.count == 1 ? String(first.dropFirst(option.count + 1)) : nil }
        if arguments.count == 2 { return arguments[1] }
        let own = ProcessInfo.processInfo.environment["SHELL"]?.split(separator: "/").last
        return arguments.count == 1 ? own.map(String.init) : nil
    }

    /// Whether the shell completes files or folders. A node may have a name that begins like that, but none with a tab.
    private static func isLeftToShell(_ offer: String) -> Bool { offer.hasPrefix(":files\t") || offer.hasPrefix(":folders\t") }

    /// A word as it was typed, with its `~/` or the variable at its beginning, or at that of an option's value, replaced.
    private static func expanded(_ word: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        if word.hasPrefix("~/"), let home = environment["HOME"] { return home + word.dropFirst() }
        guard let parts = word.wholeMatch(of: /(|--[^=]*=)\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?(|\/.*)/),
            let value = environment[String(parts.2)]
        else { return word }
        return parts.1 + value + parts.3
    }

    /// bash passes `role=CLIENT` and `10:00` as three words each, and replaces the last one only.
    /// - Returns: the words before the typed one, that one, and how many of its characters stay as they are.
    private static func joined(_ words: [String]) -> (before: [String], typed: TypedWord, kept: Int) {
        var (whole, kept, isOpen) = ([String](), 0, false)
        for word in words {
            let isSign = word == "=" || word == ":"
            if isSign || isOpen, let last = whole.popLast() {
                kept = TypedWord(last).value.count + (isSign ? 1 : 0)
                whole.append(last + word)
            } else {
                kept = 0
                whole.append(word)
            }
            isOpen = isSign
        }
        let typed = whole.popLast() ?? ""
        return (whole, TypedWord(typed), kept)
    }

    private static func offers(_ before: [String], _ typed: String) throws -> [String] {
        var command = try CommandTree.read()
        var path: [String] = []
        var rest = FormerNames.replaced(in: Array(before.dropFirst()))[...]
        let isHelp = rest.first == "help"
        if isHelp { rest.removeFirst() }
        while let word = rest.first, let found = command.subcommand(word) {
            (command, rest) = (found, rest.dropFirst())
            path.append(found.commandName)
        }
        let named = command
        if isHelp {
            return named.shown.filter { $0.commandName.hasPrefix(typed) }.map { described($0.commandName, $0.abstract) }
        }
        if let usual = command.usual {
            command = usual
            path.append(usual.commandName)
        }
        let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
        func option(_ word: String) -> CommandTree.Argument? { arguments.first { !$0.isFlag && $0.spellings.contains(word) } }
        if let last = rest.last, let option = option(last) { return values(of: option, path, typed, before) }
        if typed.hasPrefix("--"), let sign = typed.firstIndex(of: "="), let option = option(String(typed[..<sign])) {
            return values(of: option, path, String(typed[typed.index(after: sign)...]), before)
                .map { isLeftToShell($0) ? $0 : typed[...sign] + $0 }
        }
        if typed.hasPrefix("-"), !rest.contains("--") {
            return arguments.flatMap { argument in
                argument.spellings.filter { $0.hasPrefix(typed) && ($0.hasPrefix("--") || typed.count < 2) }.map {
                    described($0, argument.abstract)
                }
            }
        }
        let names = rest.isEmpty ? named.shown.filter { $0.commandName.hasPrefix(typed) } : []
        let positional = arguments.filter { $0.kind == "positional" }
        let given = rest.enumerated().filter { index, word in
            !word.hasPrefix("-") && (index == 0 || option(rest[rest.startIndex + index - 1]) == nil)
        }.count
        let next = positional.indices.contains(given) ? positional[given] : positional.last.flatMap { $0.isRepeating ? $0 : nil }
        return names.map { described($0.commandName, $0.abstract) }
            + (next.map { values(of: $0, path, typed, before, place: min(given, positional.count - 1)) } ?? [])
    }

    private static func described(_ offer: String, _ text: String?) -> String { text.map { "\(offer)\t\($0)" } ?? offer }

    private static func values(
        of argument: CommandTree.Argument, _ path: [String], _ typed: String, _ before: [String], place: Int? = nil
    ) -> [String] {
        let wanted = typed.lowercased()
        func fitting(_ offers: [String]) -> [String] { offers.filter { $0.lowercased().hasPrefix(wanted) } }
        switch argument.completionKind?.kind {
        case "list": return fitting(argument.completionKind?.values ?? [])
        case "file": return [":files\t" + typed]
        case "directory": return [":folders\t" + typed]
        case "custom", "customAsync":
            let name = argument.names.flatMap { $0.first { $0.kind == "long" } }?.text ?? "positional@\(place ?? 0)"
            return fitting(asked(path + ["--", name, "\(before.count)", "\(typed.utf8.count)"] + before + [typed]))
        default: return fitting(argument.allValues ?? [])
        }
    }

    /// The names in a ledger, which the parser gets from its options.
    private static func asked(_ arguments: [String]) -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["---completion"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SAP_SHELL": "fish"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return [] }  // a shell has no place for an error
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(whereSeparator: \.isNewline).map(String.init)
    }

    private static let scripts = [
        "bash": #"""
        # Completion of meshledger for bash: it asks the program itself.
        _meshledger() {
            local offer program=${COMP_WORDS[0]/#\~\//$HOME/}
            COMPREPLY=()
            type -- "$program" &>/dev/null || program=meshledger
            while IFS= read -r offer; do
                case $offer in
                    :files$'\t'*)
                        compopt -o filenames 2>/dev/null
                        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${offer#*$'\t'}") ;;
                    :folders$'\t'*)
                        compopt -o filenames 2>/dev/null
                        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${offer#*$'\t'}") ;;
                    *=) compopt -o nospace 2>/dev/null; COMPREPLY+=("$offer") ;;
                    *) COMPREPLY+=("$offer") ;;
                esac
            done < <("$program" ---complete-bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
        }
        complete -F _meshledger meshledger

        """#,
        "zsh": #"""
        #compdef meshledger
        # Completion of meshledger for zsh: it asks the program itself.
        _meshledger() {
            local offer name program=${~${(Q)words[1]}} result=1
            local -a typed described names open
            local -a anycase=(-M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}')
            whence -- "$program" >/dev/null || program=meshledger
            typed=("${(@)words[1,CURRENT-1]}" "$QIPREFIX$PREFIX")
            for offer in "${(@f)$("$program" ---complete-quoted $((CURRENT - 1)) "${typed[@]}" 2>/dev/null)}"; do
                name=${offer%%$'\t'*}
                case $offer in
                    '') ;;
                    :files$'\t'*) compset -P '--[^=]#='; _files && result=0 ;;
                    :folders$'\t'*) compset -P '--[^=]#='; _files -/ && result=0 ;;
                    *$'\t'*) described+=("${name//:/\\:}:${offer#*$'\t'}") ;;
                    *=) open+=("$name") ;;
                    *) names+=("$name") ;;
                esac
            done
            (( $#described )) && _describe -t offers meshledger described && result=0
            (( $#names )) && compadd "${anycase[@]}" -a names && result=0
            (( $#open )) && compadd "${anycase[@]}" -S '' -a open && result=0
            return result
        }
        if [[ ${funcstack[1]} == _meshledger ]]; then _meshledger "$@"; else compdef _meshledger meshledger; fi

        """#,
        "fish": #"""
        # Completion of meshledger for fish: it asks the program itself.
        function __meshledger_offers
            set -l words (commandline -opc) (commandline -ct)
            set -l program (string replace -r '^~/' $HOME/ -- $words[1])
            type -q $program; or set program meshledger
            type -q $program; or return
            for offer in ($program ---complete (math (count $words) - 1) $words 2>/dev/null)
                switch $offer
                    case :files\t'*'
                        complete -C "__meshledger_files $words[-1]"
                    case :folders\t'*'
                        complete -C "__meshledger_files $words[-1]" | string match -r '.*/$'
                    case '*'
                        printf '%s\n' $offer
                end
            end
        end
        complete -c meshledger -f -a '(__meshledger_offers)'

        """#,
    ]
}
