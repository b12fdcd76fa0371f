import Foundation
import TestKit
import Testing

/// A shell of this machine.
private enum Shell {
    static let zsh = program("zsh")
    static let fish = program("fish")

    private static func program(_ name: String) -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/bin"]
        return folders.map { URL(fileURLWithPath: $0).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

extension Tool {
    /// A ledger with names that shells have to quote, and files beside it.
    fileprivate static func withOddNames() throws -> Tool {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Port Side", short: "MW"), Line.node(0x22, long: "Joe's \"$1\" (old)", short: "JO"),
            Line.node(0x33, long: "Café: Zürich", short: "CZ"), Line.node(0x44, long: "Wow! Nice", short: "WN"),
            Line.node(0x55, long: "back\\slash [x]*", short: "BS"), Line.node(0x66, long: ":files now", short: "FN"),
            Line.node(0x77, long: "🐟 Pond", short: "FP"), Line.node(0x88, long: "-dash", short: "DA"),
            Line.text("hi", from: 0x11),
        ])
        try tool.run("keys", "add", "Harbour Two", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let manager = FileManager.default
        for name in ["some folder", "bin"] {
            try manager.createDirectory(at: tool.folder.file(name), withIntermediateDirectories: true)
        }
        try manager.createSymbolicLink(at: tool.folder.file("bin/meshledger"), withDestinationURL: Tool.program)
        _ = try tool.write(["{}"], to: "my capture.jsonl")
        return tool
    }

    /// The program is on the path, and the user's folder is that of the ledger.
    fileprivate func settings(_ more: [String: String] = [:]) -> [String: String] {
        ["PATH": folder.file("bin").path + ":/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8"].merging(more) { $1 }
    }
}

/// The script that the command generates, in a real interactive zsh on a pseudo-terminal, which is installed as the help says.
@Suite(
    .enabled(if: Tool.isBuilt, "needs the built command"), .enabled(if: Shell.zsh != nil, "needs zsh"), .timeLimit(.minutes(20)))
struct ZshTests {
    /// Completes each line as the key Tab does, when the shell begins to read it; then the shell ends.
    /// - Parameter left: how many characters are after the cursor.
    private func completed(
        _ lines: [String], left: Int = 0, settings: String = "", environment: [String: String] = [:], in tool: Tool
    ) throws -> (lines: [String], screen: String) {
        let completions = tool.folder.file(".zsh/completions")
        try FileManager.default.createDirectory(at: completions, withIntermediateDirectories: true)
        let script = completions.appendingPathComponent("_meshledger")
        if !FileManager.default.fileExists(atPath: script.path) {
            try Data(tool.run("--generate-completion-script", "zsh").output.utf8).write(to: script)
        }
        let start = #"""
            fpath=(~/.zsh/completions $fpath)
            autoload -U compinit && compinit -u -D
            LISTMAX=1000
            cd ~
            \#(settings)
            exec 9<typed
            zle-line-init() {
                if IFS= read -r -u 9 BUFFER; then
                    CURSOR=$((${#BUFFER} - LEFT))
                    zle expand-or-complete
                    print -r -- "$BUFFER" >>completed
                    zle -R
                    BUFFER=:
                else
                    BUFFER=exit
                fi
                zle accept-line
            }
            zle -N zle-line-init

            """#
        try Data(start.utf8).write(to: tool.folder.file(".zshrc"))
        _ = try tool.write(lines, to: "typed")
        let file = tool.folder.file("completed")
        try Data().write(to: file)
        let shell = try #require(Shell.zsh)
        let terminal = PackageRoot.url.appendingPathComponent("Tests/Oracle/terminal.py").path
        let variables = ["LEFT": "\(left)", "ZDOTDIR": tool.folder.path].merging(environment) { $1 }
        let outcome = try tool.start(
            [], environment: tool.settings(variables),
            by: ["/usr/bin/env", "python3", terminal, "100", "60", "", shell.path, "-d", "-i"]
        ).wait()
        let completed = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(outcome.status == 0 && completed.count == lines.count, "\(outcome)")
        return (completed, outcome.output)
    }

    /// - Parameter pairs: what is typed after `start`, and what it becomes.
    private func expect(_ pairs: [(typed: String, wanted: String)], after start: String, settings: String = "", in tool: Tool)
        throws
    {
        let found = try completed(pairs.map { start + $0.typed }, settings: settings, in: tool).lines
        for (line, pair) in zip(found, pairs) { #expect(line == start + pair.wanted, "\(pair.typed)") }
    }

    @Test func `zsh completes names, and quotes them as the word is quoted`() throws {
        let tool = try Tool.withOddNames()
        try expect(
            [
                ("Port", #"Port\ Side "#), (#"Port\ S"#, #"Port\ Side "#), ("'Port S", "'Port Side' "),
                ("\"Port S", "\"Port Side\" "),
                ("Joe", #"Joe\'s\ \"\$1\"\ \(old\) "#), ("\"Joe", #""Joe's \"\$1\" (old)" "#),
                ("'Joe", #"'Joe'\''s "$1" (old)' "#),
                ("Caf", #"Café:\ Zürich "#), (#"Café:\ Z"#, #"Café:\ Zürich "#), ("🐟", #"🐟\ Pond "#),
                ("back", #"back\\slash\ \[x\]\* "#),
                (#"'back\s"#, #"'back\slash [x]*' "#), ("Wow", #"Wow\!\ Nice "#), (":f", #":files\ now "#),
                ("'!0000001", "'!00000011' "), (#"\!0000001"#, #"\!00000011 "#),
            ], after: "meshledger nodes favorite ", in: tool)
    }

    @Test func `what zsh has quoted itself can be completed again`() throws {
        let tool = try Tool.withOddNames()
        try expect(
            [(#""Wow\! N"#, #""Wow\! Nice" "#), (#""\!0000001"#, #""\!00000011" "#)], after: "meshledger nodes favorite ",
            in: tool)
    }

    @Test func `zsh completes commands, options, values, columns and files`() throws {
        let tool = try Tool.withOddNames()
        try expect(
            [
                ("pack", "packets "), ("nodes fav", "nodes favorite "),
                ("packets --channel LongF", "packets --channel LongFast "),
                ("packets --channel=Harb", #"packets --channel=Harbour\ Two "#),
                ("packets --port POS", "packets --port POSITION_APP "),
                ("packets --columns time,por", "packets --columns time,port "),
                ("nodes --columns=node,na", "nodes --columns=node,name "),
                ("view rows posi", "view rows positions "), ("nodes --where 'role=SENS", "nodes --where 'role=SENSOR' "),
                ("import my", #"import my\ capture.jsonl "#), ("import 'my", "import 'my capture.jsonl' "),
                ("import ~/my", #"import ~/my\ capture.jsonl "#), ("nodes --ledger so", #"nodes --ledger some\ folder/"#),
                ("nodes --ledger=so", #"nodes --ledger=some\ folder/"#),
                ("nodes --output=my", #"nodes --output=my\ capture.jsonl "#),
                (#"nodes --output=my\ c"#, #"nodes --output=my\ capture.jsonl "#),
                ("keys remove Harb", #"keys remove Harbour\ Two "#),
                ("nodes favorite -- -d", "nodes favorite -- -dash "), ("nodes favorite Nobody", "nodes favorite Nobody"),
            ], after: "meshledger ", in: tool)
    }

    @Test func `upper case need not be typed, and after the sign of a condition comes no space`() throws {
        let tool = try Tool.withOddNames()
        try expect(
            [
                ("packets --port pos", "packets --port POSITION_APP "), ("packets --port=pos", "packets --port=POSITION_APP "),
                (#"nodes favorite port\ s"#, #"nodes favorite Port\ Side "#),
                ("nodes --where role=rou", "nodes --where role=ROUTER"),
                ("telemetry --where ki", "telemetry --where kind="),
            ], after: "meshledger ", in: tool)
    }

    @Test func `zsh completes whatever the program is called by`() throws {
        let end = (typed: " nodes favorite Port", wanted: #" nodes favorite Port\ Side "#)
        let names = ["~/bin/meshledger", "$HOME/bin/meshledger", "bin/meshledger", "command meshledger", "FOO=bar meshledger"]
        try expect(names.map { ($0 + end.typed, $0 + end.wanted) }, after: "", in: Tool.withOddNames())
    }

    @Test func `zsh completes an alias, and up to the cursor`() throws {
        let tool = try Tool.withOddNames()
        try expect([("ml Port", #"ml Port\ Side "#)], after: "", settings: "alias ml='meshledger nodes favorite'", in: tool)
        let middle = try completed(["meshledger nodes favorite Port --wide"], left: 7, in: tool).lines
        #expect(middle == [#"meshledger nodes favorite Port\ Side  --wide"#])
        let inWord = try completed(["meshledger nodes --format jsl"], left: 1, settings: "setopt complete_in_word", in: tool)
        #expect(inWord.lines == ["meshledger nodes --format jsonl "])
    }

    @Test func `zsh completes from the ledger that the line names`() throws {
        let options = [
            "--ledger ~/mesh.ledger", "--ledger $HOME/mesh.ledger", "--ledger=${HOME}/mesh.ledger", "--ledger mesh.ledger",
            "--ledger 'mesh.ledger'",
        ]
        try expect(
            options.map { ($0 + " Port", $0 + #" Port\ Side "#) }, after: "meshledger nodes favorite ",
            settings: "export MESHLEDGER=/nowhere", in: Tool.withOddNames())
    }

    @Test func `zsh shows what is offered with its description`() throws {
        let offered = try completed(["meshledger nodes --f"], in: Tool.withOddNames())
        #expect(offered.screen.contains(#/--favorites +-- Only favorites\./#), "\(offered)")
    }

    @Test(arguments: ["/nowhere", "/dev/null", ""]) func `without a ledger there are no names, and no error`(ledger: String)
        throws
    {
        let line = "meshledger nodes favorite Port"
        let none = try completed([line], environment: ["MESHLEDGER": ledger], in: Tool.withOddNames())
        #expect(none.lines == [line] && !none.screen.contains("meshledger:"), "\(none)")
    }

    @Test(arguments: [
        "setopt nounset", "setopt ksh_arrays sh_word_split",
        "zstyle ':completion:*' completer _expand _complete _ignored _approximate",
    ])
    func `options and styles of the user do no harm`(settings: String) throws {
        let tool = try Tool.withOddNames()
        try expect(
            [
                ("nodes favorite Port", #"nodes favorite Port\ Side "#),
                ("nodes --output=my", #"nodes --output=my\ capture.jsonl "#),
            ], after: "meshledger ", settings: settings, in: tool)
    }

    @Test func `the script can also be sourced, without a warning`() throws {
        let tool = try Tool()
        let script = tool.folder.file("sourced.zsh")
        try Data(tool.run("--generate-completion-script", "zsh").output.utf8).write(to: script)
        let steps = """
            autoload -U compinit && compinit -u -D
            setopt nounset err_exit warn_create_global
            source \(script.path)
            print -r -- $_comps[meshledger]
            """
        let run = try FinishedProcess(#require(Shell.zsh), ["-f", "-c", steps])
        #expect(run.status == 0 && run.text == "_meshledger\n", "\(run)")
    }
}

/// The script that the command generates, in a real fish.
@Suite(
    .enabled(if: Tool.isBuilt, "needs the built command"), .enabled(if: Shell.fish != nil, "needs fish"), .timeLimit(.minutes(20))
)
struct FishTests {
    /// What fish offers for the last word of each line, without quotes.
    private func offers(_ lines: [String], environment: [String: String] = [:], in tool: Tool) throws -> [[Substring]] {
        let completions = tool.folder.file(".config/fish/completions")
        try FileManager.default.createDirectory(at: completions, withIntermediateDirectories: true)
        let script = completions.appendingPathComponent("meshledger.fish")
        if !FileManager.default.fileExists(atPath: script.path) {
            try Data(tool.run("--generate-completion-script", "fish").output.utf8).write(to: script)
        }
        let steps = """
            cd ~
            function ml --wraps 'meshledger nodes favorite'; end
            for line in $argv
                complete -C $line
                echo /
            end
            """
        let shell = try #require(Shell.fish)
        let outcome = try tool.start(
            ["-c", steps] + lines, environment: tool.settings(environment), by: [shell.path]
        ).wait()
        let found = outcome.lines.split(separator: "/", omittingEmptySubsequences: false).map(Array.init)
        #expect(outcome.status == 0 && outcome.errors.isEmpty && found.count == lines.count + 1, "\(outcome)")
        return found.dropLast()
    }

    /// - Parameter pairs: what is typed after `start`, and the only completion.
    private func expect(
        _ pairs: [(typed: String, wanted: String)], after start: String, environment: [String: String] = [:], in tool: Tool
    ) throws {
        let found = try offers(pairs.map { start + $0.typed }, environment: environment, in: tool)
        for (offers, pair) in zip(found, pairs) {
            #expect(offers.map { $0.prefix { $0 != "\t" } } == [pair.wanted[...]], "\(pair.typed)")
        }
    }

    @Test func `fish completes names in words that are quoted, escaped or neither`() throws {
        let tool = try Tool.withOddNames()
        try expect(
            [
                ("Port", "Port Side"), (#"Port\ S"#, "Port Side"), ("'Port S", "Port Side"), ("\"Port S", "Port Side"),
                ("Joe", #"Joe's "$1" (old)"#), (#"Joe\'s\ \""#, #"Joe's "$1" (old)"#), ("\"Joe's", #"Joe's "$1" (old)"#),
                (#"'Joe\'s"#, #"Joe's "$1" (old)"#), ("Caf", "Café: Zürich"), ("🐟", "🐟 Pond"), (#"back\\s"#, #"back\slash [x]*"#),
                (#"'back\\s"#, #"back\slash [x]*"#), (#"'back\s"#, #"back\slash [x]*"#), ("Wow", "Wow! Nice"),
                (":f", ":files now"),
                ("!0000001", "!00000011"), ("'!0000001", "!00000011"), ("-- -d", "-dash"),
            ], after: "meshledger nodes favorite ", in: tool)
    }

    @Test func `fish completes commands, options, values, columns and files`() throws {
        let tool = try Tool.withOddNames()
        try expect(
            [
                ("pack", "packets"), ("nodes fav", "favorite"), ("packets --channel LongF", "LongFast"),
                ("packets --channel=Harb", "--channel=Harbour Two"), ("packets --port pos", "POSITION_APP"),
                ("packets --columns time,por", "time,port"), ("nodes --columns=node,na", "--columns=node,name"),
                ("view rows posi", "positions"), ("nodes --where 'role=SENS", "role=SENSOR"), ("telemetry --where ki", "kind="),
                ("keys remove Harb", "Harbour Two"), ("import my", "my capture.jsonl"), ("import 'my c", "my capture.jsonl"),
                (#"import my\ c"#, "my capture.jsonl"), ("import \"my c", "my capture.jsonl"),
                ("import ~/my", "~/my capture.jsonl"),
                ("import $HOME/my", "$HOME/my capture.jsonl"), ("nodes --output=my", "--output=my capture.jsonl"),
                ("nodes --ledger so", "some folder/"), ("nodes --ledger=so", "--ledger=some folder/"),
                ("nodes --ledger 'some f", "some folder/"),
            ], after: "meshledger ", in: tool)
        let more = try offers(["ml Port", "meshledger nodes favorite Nobody", "meshledger nodes --fav"], in: tool)
        #expect(more == [["Port Side"], [], ["--favorites\tOnly favorites."]])
    }

    @Test func `fish completes whatever the program is called by`() throws {
        let names = ["~/bin/meshledger", "$HOME/bin/meshledger", "bin/meshledger", "command meshledger", "FOO=bar meshledger"]
        try expect(names.map { ($0 + " nodes favorite Port", "Port Side") }, after: "", in: Tool.withOddNames())
    }

    @Test func `a program that is not there gives no error`() throws {
        let tool = try Tool.withOddNames()
        try FileManager.default.removeItem(at: tool.folder.file("bin"))
        #expect(try offers(["~/bin/meshledger nodes favorite Port"], in: tool) == [[]])
    }

    @Test func `fish completes from the ledger that the line names`() throws {
        let options = [
            "--ledger ~/mesh.ledger", "--ledger $HOME/mesh.ledger", "--ledger=$HOME/mesh.ledger", "--ledger mesh.ledger",
        ]
        try expect(
            options.map { ($0 + " Port", "Port Side") }, after: "meshledger nodes favorite ",
            environment: ["MESHLEDGER": "/nowhere"],
            in: Tool.withOddNames())
    }

    @Test(arguments: ["/nowhere", "/dev/null", ""]) func `without a ledger there are no names, and no error`(ledger: String)
        throws
    {
        let none = try offers(["meshledger nodes favorite Port"], environment: ["MESHLEDGER": ledger], in: Tool.withOddNames())
        #expect(none == [[]])
    }

    @Test func `fish has no complaint about the script`() throws {
        let tool = try Tool()
        let script = tool.folder.file("meshledger.fish")
        try Data(tool.run("--generate-completion-script", "fish").output.utf8).write(to: script)
        let run = try FinishedProcess(#require(Shell.fish), ["--no-execute", script.path])
        #expect(run.status == 0 && run.text.isEmpty, "\(run)")
    }
}

/// Scripts come from this program, however they are asked for; the parser has others, which know no names.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct CompletionScriptTests {
    @Test(arguments: ["bash", "zsh", "fish"]) func `the same script comes after a space, a sign, and for the user's own shell`(
        shell: String
    ) throws {
        let tool = try Tool()
        let script = try tool.run("--generate-completion-script", shell).output
        #expect(script.contains("---complete"))
        #expect(try tool.run("--generate-completion-script=\(shell)").output == script)
        #expect(try tool.run("--generate-completion-script", environment: ["SHELL": "/usr/bin/\(shell)"]).output == script)
    }

    @Test func `a shell that is not known is refused`() throws {
        #expect(try Tool().run("--generate-completion-script", "tcsh").status == 64)
    }
}
