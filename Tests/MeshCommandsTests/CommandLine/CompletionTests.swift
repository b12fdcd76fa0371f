import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct CompletionTests {
    /// What bash would put in the place of the last word of a line, by the script that the command generates.
    private func offers(_ line: String, in tool: Tool) throws -> [String] {
        try offers(line.split(separator: " ", omittingEmptySubsequences: false).map(String.init), in: tool)
    }

    /// - Parameter words: the words into which bash has split the line, with their quotes.
    private func offers(_ words: [String], in tool: Tool) throws -> [String] {
        let script = tool.folder.file("completions.bash")
        if !FileManager.default.fileExists(atPath: script.path) {
            try Data(tool.run("--generate-completion-script", "bash").output.utf8).write(to: script)
        }
        let steps = """
            PATH=\(Tool.program.deletingLastPathComponent().path):$PATH
            source \(script.path)
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
            COMP_POINT=${#COMP_LINE}
            _meshledger meshledger "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let run = try FinishedProcess(
            URL(fileURLWithPath: "/bin/bash"), ["-c", steps, "bash"] + words, adding: ["MESHLEDGER": tool.ledger],
            in: tool.folder.url)
        return run.text.split(separator: "\n").map(String.init)
    }

    @Test func `bash completes the names of nodes, channels, ports, views and columns from the ledger`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Rover", short: "RV"), Line.node(0x22, long: "Roof", short: "RF"), Line.text("hi", from: 0x11),
        ])
        try tool.run("nodes", "alias", "!11", "Robin")
        #expect(try offers("meshledger packets list --node Ro", in: tool).sorted() == ["Robin", "Roof", "Rover"])
        #expect(try offers("meshledger packets list --channel LongF", in: tool) == ["LongFast"])
        #expect(try offers("meshledger packets list --port POS", in: tool) == ["POSITION_APP"])
        #expect(try offers("meshledger view rows posi", in: tool) == ["positions"])
        #expect(try offers("meshledger view rows positions --sort lat", in: tool) == ["latitude", "latitude_e7"])
        #expect(
            try offers("meshledger view rows positions --columns node,lat", in: tool) == ["node,latitude", "node,latitude_e7"])
        #expect(try offers("meshledger view rebuild posi", in: tool) == ["positions"])
        #expect(try offers("meshledger export pos", in: tool) == ["positions"])
        #expect(try offers("meshledger follow --view posi", in: tool) == ["positions"])
        #expect(try offers("meshledger lake write lake --table posi", in: tool) == ["positions"])
    }

    @Test func `it completes what is typed: a noun's options without its subcommand, columns of lists, files`() throws {
        let tool = try Tool(holding: [Line.node(0x11, long: "Rover", short: "RV"), Line.text("hi", from: 0x11)])
        let file = try tool.write(["{}"], to: "capture.jsonl")
        #expect(try offers("meshledger packets --node Ro", in: tool) == ["Rover"])
        #expect(try offers("meshledger pack", in: tool) == ["packets"])
        #expect(try offers("meshledger packets sh", in: tool) == ["show"])
        #expect(try offers("meshledger events --foll", in: tool) == ["--follow"])
        #expect(try offers("meshledger messages --sort receptions --columns time,te", in: tool) == ["time,text"])
        #expect(try offers("meshledger packets --count-by po", in: tool) == ["port"])
        #expect(try offers("meshledger telemetry --where ki", in: tool) == ["kind="])
        #expect(try offers("meshledger nodes --format js", in: tool) == ["json", "jsonl"])
        #expect(try offers("meshledger links neighbors Rov", in: tool) == ["Rover"])
        #expect(try offers("meshledger nodes favorite Rov", in: tool) == ["Rover"])
        #expect(try offers("meshledger neighbors Rov", in: tool) == ["Rover"], "under its former name")
        #expect(try offers("meshledger import \(tool.folder.path)/capt", in: tool) == [file])
        #expect(try offers("meshledger packets --ledger \(tool.folder.path)/mesh", in: tool) == [tool.ledger])
    }

    @Test func `it completes the names that values of a column have, also where bash splits them at the sign`() throws {
        let tool = try Tool(holding: [Line.node(0x11, long: "Rover", short: "RV")])
        #expect(
            try offers("meshledger nodes --where role=rou", in: tool) == [
                "role=ROUTER", "role=ROUTER_CLIENT", "role=ROUTER_LATE",
            ])
        #expect(try offers("meshledger view rows nodes --where role! = SENS", in: tool) == ["SENSOR"])
        for (split, wanted) in [
            ("--where role = SENS", "SENSOR"), ("--where role =", "CLIENT"), ("--format = jsonl", "jsonl"),
            ("--where = hardware = RAK46", "RAK4631"), ("--where role = 'SENS", "SENSOR"), ("--where 'role=SENS", "role=SENSOR"),
        ] {
            let found = try offers("meshledger nodes \(split)", in: tool)
            #expect(found.first == wanted, "\(split) \(found)")
        }
    }

    @Test func `bash completes what is quoted or escaped, and quotes what it adds in the same way`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Port Side", short: "MW"), Line.node(0x22, long: "Joe's \"$1\" (old)", short: "JO"),
            Line.node(0x33, long: "Café: Zürich", short: "CZ"), Line.text("hi", from: 0x11),
        ])
        // bash splits an unquoted word at a colon, and replaces what follows it.
        #expect(try offers(["meshledger", "nodes", "favorite", "Café", ":", #"\ Z"#], in: tool) == [#"\ Zürich"#])
        for (typed, wanted) in [
            ("Port", #"Port\ Side"#), (#"Port\ "#, #"Port\ Side"#), (#"Port\ Si"#, #"Port\ Side"#), ("'Port Si", "Port Side"),
            ("\"Port Si", "Port Side"), ("Port' S", " Side"), ("'!0000001", "!00000011"),
            (#"\!00000011"#, #"\!00000011"#),
            ("Joe", #"Joe\'s\ \"\$1\"\ \(old\)"#), (#"Joe\'s"#, #"Joe\'s\ \"\$1\"\ \(old\)"#),
            ("\"Joe's", #"Joe's \"\$1\" (old)"#), ("'Joe", #"Joe'\''s "$1" (old)"#),
        ] {
            let found = try offers(["meshledger", "nodes", "favorite", typed], in: tool)
            #expect(found.sorted().joined(separator: " ") == wanted, "\(typed)")
        }
        #expect(try offers(["meshledger", "packets", "--channel", "'LongF"], in: tool) == ["LongFast"])
        #expect(try offers(["meshledger", "nodes", "--columns", "node,name,ali"], in: tool) == ["node,name,alias"])
        _ = try tool.write(["{}"], to: "my capture.jsonl")
        for typed in ["my", #"my\ cap"#, "'my cap", "\"my cap"] {
            #expect(try offers(["meshledger", "import", typed], in: tool) == ["my capture.jsonl"], "\(typed)")
        }
        let other = try offers(["meshledger", "nodes", "--ledger", "'no such ledger'", "favorite", "Port"], in: tool)
        #expect(other.isEmpty, "\(other)")
    }

    @Test func `zsh gets names without quotes, which it adds itself`() throws {
        let tool = try Tool(holding: [Line.node(0x11, long: "Port Side", short: "MW")])
        for typed in ["Port", #"Port\ Si"#, "'Port Si", "\"Port Si"] {
            let answer = try tool.run("---complete-quoted", "3", "meshledger", "nodes", "favorite", typed)
            #expect(answer.output == "Port Side\n", "\(typed): \(answer)")
        }
        #expect(try tool.run("--generate-completion-script", "zsh").output.contains(" ---complete-quoted "))
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `the script of each shell asks the command for all that it offers`(
        shell: String
    ) throws {
        let script = try Tool().run("--generate-completion-script", shell).output
        #expect(script.contains("---complete") && script.contains(":files") && script.contains(":folders"))
    }

    @Test func `what is offered has a description, which fish shows`() throws {
        let offers = try Tool().run("---complete", "1", "meshledger", "node").output
        #expect(offers.hasPrefix("nodes\t") && offers.split(separator: "\n").count == 1, "\(offers)")
    }

    @Test func `without a ledger there are no names, and no error`() throws {
        let tool = try Tool()
        let asked = try tool.run(
            "---completion", "packets", "list", "--", "--node", "4", "0", "meshledger", "packets", "list", "--node", "")
        #expect(asked.status == 0 && asked.errors.isEmpty && asked.output.allSatisfy(\.isWhitespace), "\(asked)")
    }

    @Test func `it completes metrics, the names that tables have for columns, and what help is asked about`() throws {
        let tool = try Tool(holding: [Line.node(0x11, long: "Rover", short: "RV")])
        #expect(try offers("meshledger telemetry --mean battery", in: tool) == ["battery_level"])
        #expect(try offers("meshledger telemetry --kind device --sort battery", in: tool) == ["battery_level"])
        #expect(try offers("meshledger telemetry --where node=1 --where battery", in: tool) == ["battery_level="])
        #expect(try offers("meshledger nodes --columns node,na", in: tool) == ["node,name"])
        #expect(try offers("meshledger nodes --columns util", in: tool) == ["util"])
        #expect(try offers("meshledger help pos", in: tool) == ["positions"])
        #expect(try offers("meshledger help links nei", in: tool) == ["neighbors"])
    }
}
