import Foundation
import MeshIngest
import MeshLedger
import TestKit
import Testing

@testable import MeshCommands

/// Configurations of `run`: what they mean, and what is said of mistakes.
struct ConfigTests {
    private func message(_ text: String) -> String {
        do {
            _ = try RunConfig(text: text, file: "mesh.yaml")
            return "valid"
        } catch {
            return (error as? CommandError)?.message ?? "\(error)"
        }
    }

    @Test func `the example is valid, has a source of every kind and every key, and says what it sets`() throws {
        let config = try RunConfig(text: ConfigExample.text, file: "example")
        #expect(config.sources.count == 6 && config.retention?.longestSeconds == 5 * 31_536_000)
        #expect(config.backup == RunConfig.Backup(folder: "/srv/backup/mesh", everySeconds: 86_400))
        #expect(config.sealing?.hotEvents == 65_536 && config.sealing?.isAutomatic == true)
        #expect(config.sources[0].kind == .radio(.tcp(host: "192.168.1.20")))
        // A key that the parser knows and the example does not show would be named in an error of the parser.
        for (broken, keys) in [
            ("- tcp: a\n  x: 1", "tcp"), ("- serial: a\n  x: 1", "dtr"), ("- mqtt: mqtt://a\n  x: 1", "cert-file"),
        ] {
            let known = message("sources:\n" + broken).split(separator: "keys are ").last?.split(separator: ", ") ?? []
            #expect(known.contains { $0 == keys })
            for key in known { #expect(ConfigExample.text.contains("\(key): "), "\(key)") }
        }
    }

    @Test(arguments: [
        (
            "sources:\n  - tpc: roof",
            "mesh.yaml:2: a source begins with one of tcp, serial, mqtt, udp, file, recording; did you mean tcp?"
        ),
        ("source:\n  - tcp: roof", "mesh.yaml:1: a configuration has no key source; did you mean sources?"),
        (
            "sources:\n  - mqtt: mqtt://a\n    quos: 1",
            "mesh.yaml:3: a source of the kind mqtt has no key quos; did you mean qos?"
        ),
        ("sources:\n  - mqtt: http://a", "mesh.yaml:2: an address must begin with mqtt://"),
        ("sources:\n  - mqtt: mqtt://a\n    qos: 2", "mesh.yaml:3: qos is a number from 0 to 1, not 2"),
        ("sources:\n  - tcp: a\n  - tcp: a:4403", "mesh.yaml:3: the source tcp://a:4403 is there already"),
        (
            "sources:\n  - tcp: localhost\n  - tcp: 127.0.0.1",
            "mesh.yaml:3: tcp://127.0.0.1:4403 is the radio of tcp://localhost:4403, which is there already; a radio has one client at a time"
        ),
        ("sources:\n  - mqtt: mqtt://h/b/#/c", "mesh.yaml:2: b/#/c is not a topic"),
        (
            "sources:\n  - mqtt: mqtt://h\n    keep-session: true",
            "mesh.yaml:2: a broker keeps messages only for a client with an id"
        ),
        ("sources:\n  - tcp: a\n    mqtt: mqtt://b", "mesh.yaml:2: a source is of one kind, not of mqtt and tcp"),
        ("sources:\n  - udp: 10.0.0.1", "mesh.yaml:2: this is not a multicast address"),
        ("sources:\n  - udp: []", "mesh.yaml:2: name the groups to listen to, or all"),
        ("sources:\n  - udp:", "mesh.yaml:2: name the groups to listen to, or all"),
        ("sources:\n  - udp: all\n    interfaces: []", "name the interfaces to listen to, or leave them out for all"),
        ("sources:\n  - file: a\n  - file: ./a", "mesh.yaml:3: the source file:"),
        (
            "sources:\n  - tcp: a\n    share: 4403\n  - tcp: b\n    share: 4403",
            "mesh.yaml:4: another radio is shared at 127.0.0.1:4403 already"
        ),
        ("sources:\n  - serial: /dev/x\n    dtr: perhaps", "mesh.yaml:3: dtr is true or false, not perhaps"),
        ("sources:\n  - file: x\n    format: stram", "mesh.yaml:3: there is no format stram; did you mean stream?"),
        ("sources:\n  - tcp: a\n    share: x", "mesh.yaml:3: share is a port such as 4403"),
        ("sources:\n  - tcp: a\n    share-allow: 10.0.0.1", "mesh.yaml:3: share-allow needs share"),
        (
            "sources:\n  - tcp: a\n    share: 4403\n    share-allow: 10.0.0.0/40",
            "mesh.yaml:4: a network is written as 192.168.1.0/24"
        ),
        ("log:\n  format: xml\nsources: []", "mesh.yaml:2: format is text or json, not xml"),
        ("sources:\n  - tcp: a\nsealing:\n  newest: 5", "mesh.yaml:4: newest is a number from 1000 to"),
        ("log: {}", "it has no sources"), ("", "it is empty"), ("sources: [", "this is not YAML"),
        ("- 1", "a configuration needs keys"),
        ("sources:\n  - tcp: a\nsources:\n  - tcp: b", "mesh.yaml:1: a key is there twice: sources"),
        ("sources:\n  - serial: /etc/passwd", "mesh.yaml:2: this is not a serial port"),
        ("sources:\n  - tcp: a\nretention: {}", "mesh.yaml:3: retention needs older-than or larger-than"),
        ("sources:\n  - tcp: a\nretention:\n  larger-than: 100", "mesh.yaml:4: larger-than is a size with its unit"),
        ("sources:\n  - tcp: 4403", "mesh.yaml:2: a radio's address is a host"),
        ("sources:\n  - tcp: Roof.local\n  - tcp: roof.local.", "mesh.yaml:3: tcp://roof.local.:4403 is the radio of"),
        ("sources:\n\t- tcp: a", "indent with spaces, not tabs"),
        ("sources:\n  - tcp: a\nbackup:\n  every: 1d", "mesh.yaml:4: backup needs to"),
        (
            "sources:\n  - mqtt: mqtt://h/a\n    client-id: x\n  - mqtt: mqtt://h/b\n    client-id: x",
            "mesh.yaml:4: the client-id x is used at mqtt://h:1883 already"
        ),
        ("sources:\n  - tcp: 127.0.0.1:15901\n    share: 15901", "mesh.yaml:3: the radio would be shared at its own address"),
        (
            "sources:\n  - serial: /dev/x\n    share: 15901\n  - tcp: localhost:15901",
            "mesh.yaml:4: serial:/dev/x is shared at tcp://localhost:15901, which is the radio of a source, too"
        ),
        (
            "sources:\n  - tcp: 127.0.0.1:15901\n  - tcp: a\n    share: \"[::]:15901\"",
            "mesh.yaml:3: tcp://a:4403 is shared at tcp://127.0.0.1:15901"
        ),
        (
            "sources:\n  - tcp: a\n    share: 0.0.0.0:5000\n  - tcp: b\n    share: 5000",
            "mesh.yaml:4: another radio is shared at 0.0.0.0:5000 already"
        ),
        (
            "ledger: /nowhere/l\nsources:\n  - tcp: a\nbackup:\n  to: /nowhere/x/../l/backup",
            "mesh.yaml:5: the backup would be inside the ledger /nowhere/l"
        ),
        (
            "sources:\n  - mqtt: mqtt://u:p@h\n    password-file: /x",
            "mesh.yaml:3: the password is in the address and in password-file"
        ),
        (
            "sources:\n  - mqtt: mqtt://u@h\n    password-file: \"-\"",
            "mesh.yaml:3: password-file names a file; a service has no standard input"
        ),
        ("ledger: /etc/passwd\nsources:\n  - tcp: a", "mesh.yaml:1: /etc/passwd is a file; a ledger is a folder"),
        ("sources:\n  - tcp: a\n\u{0}", "mesh.yaml:3: this is not YAML: control characters"),
        ("sources:\n  - tcp: a\nretention:\n  older-than: soon", "mesh.yaml:4: older-than is a duration such as 90d"),
    ])
    func `a mistake is reported with its line and what is meant`(_ text: String, _ expected: String) {
        #expect(message(text).contains(expected), "\(message(text))")
    }

    @Test func `the mistakes of all sources and parts are named at once`() {
        let text = "log:\n  format: xml\nsources:\n  - tpc: a\n  - tcp: b\n  - mqtt: http://c\nbackup:\n  every: 1d\n"
        let lines = message(text).split(separator: "\n").compactMap { $0.split(separator: ":").dropFirst().first }
        #expect(lines == ["2", "4", "6", "8"])
        // A key that does not exist hides none of the others.
        let unknown = message("retension:\n  older-than: 5y\n" + text).split(separator: "\n")
        #expect(unknown.compactMap { $0.split(separator: ":").dropFirst().first } == ["1", "4", "6", "8", "10"])
    }

    @Test func `every unknown key of a source and of a section is named, with what is meant`() {
        let text = "sources:\n  - tcp: a\n    shar: 1\n    share-alow: b\nretention:\n  older-then: 1y\n  larger-then: 1GB\n"
        let lines = message(text).split(separator: "\n")
        let expected = [("3", "share"), ("4", "share-allow"), ("6", "older-than"), ("7", "larger-than")]
        #expect(lines.count == expected.count)
        for (line, (number, meant)) in zip(lines, expected) {
            #expect(line.hasPrefix("mesh.yaml:\(number): ") && line.contains("did you mean \(meant)?"), "\(line)")
        }
    }

    @Test func `the check prints a line for each mistake, and finds what cannot work or be read`() throws {
        let tool = try Tool()
        func check(_ bytes: [UInt8]) throws -> Tool.Outcome {
            try Data(bytes).write(to: tool.folder.file("mesh.yaml"))
            return try tool.run("config", "check", tool.folder.file("mesh.yaml").path)
        }
        let many = try check(Array("log:\n  format: xml\nsources:\n  - tpc: a\nx: 1\n".utf8))
        #expect(many.status == 65 && !many.errors.contains("u{a}"))
        #expect(many.errors.split(separator: "\n").count { $0.hasPrefix("meshledger: ") } == 3, "\(many.errors)")
        let latin = try check(Array("sources:\n  - tcp: \"".utf8) + [0xe4] + Array("\"\n".utf8))
        #expect(latin.status == 65 && latin.errors.contains("mesh.yaml:2: this line is not UTF-8"), "\(latin.errors)")
        let missing = try check(Array("sources:\n  - mqtt: mqtt://h\n    password-file: /nonexistent/p\n".utf8))
        #expect(missing.status == 0 && missing.errors.contains("mesh.yaml:3: password-file: /nonexistent/p does not exist"))
        let open = try check(Array("sources:\n  - mqtt: mqtt://user:secret@h\n".utf8))
        #expect(open.status == 0 && open.errors.contains("mesh.yaml:2: everyone who reads this file sees the password"))
        let unreachable = try check(Array("sources:\n  - tcp: a\n    share: 0.0.0.0:4403\n".utf8))
        #expect(unreachable.status == 0 && unreachable.errors.contains("mesh.yaml:3: only programs on this computer may connect"))
        let reachable = try check(Array("sources:\n  - tcp: a\n    share: 0.0.0.0:1\n    share-allow: 10.0.0.0/8\n".utf8))
        #expect(reachable.status == 0 && !reachable.errors.contains("warning"))
        let marked = try check([0xef, 0xbb, 0xbf] + Array("sources:\n  - tcp: a\n".utf8))
        #expect(marked.status == 0 && marked.output.contains("1 source"), "\(marked.errors)")
        let pipe = tool.folder.file("pipe").path
        let isMade = unsafe mkfifo(pipe, 0o600) == 0
        #expect(isMade)
        let piped = try check(Array("sources:\n  - file: \(pipe)\n".utf8))
        #expect(
            piped.status == 0 && piped.errors.contains("\(pipe) is not a file; only files can be followed"), "\(piped.errors)")
        let odd = try check(
            Array(
                """
                sources:
                  - file: /
                  - file: /nonexistent/x
                  - recording: /nonexistent/r
                  - serial: /nonexistent/s
                  - mqtt: mqtt://h
                    password-file: /
                  - tcp: a
                    share: 0.0.0.0:1
                    share-allow: 10.0.0.0/8
                    share-admin: [10.1.0.0/16, 11.0.0.1]
                backup:
                  to: /nonexistent/backups/mesh
                """.utf8))
        #expect(odd.status == 0, "\(odd.errors)")
        for line in [
            "2: / is a folder; only files can be followed", "3: /nonexistent does not exist yet",
            "4: /nonexistent/r does not exist yet",
            "5: /nonexistent/s does not exist yet", "7: password-file: / is a folder", "7: a password needs a user",
            "11: it names a network whose clients share-allow does not let connect",
            "13: backup: /nonexistent/backups does not exist",
        ] { #expect(odd.errors.contains("mesh.yaml:\(line)"), "\(line): \(odd.errors)") }
        #expect(try tool.run("service", "install", "--program", "/nonexistent", "--to", tool.folder.file("u").path).status == 66)
        try tool.run("init")
        let inside = try tool.run("backup", tool.ledger + "/backup")
        #expect(inside.status == 64 && inside.errors.contains("the backup would be inside the ledger"))
    }

    @Test func `a password file whose path begins with a hyphen is a file, not an option`() async throws {
        let config = try RunConfig(
            text: "sources:\n  - mqtt: mqtt://u@h\n    password-file: -no/such-file\n", file: "mesh.yaml")
        let ledger = try await Ledger.temporary()
        let source = try #require(config.sources.first)
        let error = #expect(throws: CommandError.self) { _ = try source.source(into: ledger) { _, _ in } }
        #expect(error?.status == .noInput && error?.message.contains("-no/such-file does not exist") == true, "\(error as Any)")
        try await ledger.close()
    }

    @Test func `the last error is shown without its source, and with its age once the source has recovered`() {
        var status = SourceStatus(name: "tcp://roof:4403")
        status.state = .waiting
        (status.lastError, status.lastErrorTime) = ("tcp://roof:4403: no connection", .now)
        #expect(StatusCommand.shownError(status) == "no connection")
        status.state = .live
        #expect(StatusCommand.shownError(status)?.hasSuffix(" s ago: no connection") == true)
    }

    @Test func `a folder is no configuration`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: CommandError.self) { try RunConfig(file: folder.path) }
        // A device is read as it is: there is nothing in this one.
        let nothing = #expect(throws: CommandError.self) { try RunConfig(file: "/dev/null") }
        #expect(nothing?.message.contains("denied") == false)
    }

    @Test func `the unit passes the system's own check, and is exposed little`() throws {
        let folder = try TemporaryFolder()
        let unit = folder.file("meshledger.service")
        let text = ServiceUnit(program: "/bin/true", config: "/etc/mesh \"a\" 100%.yaml").text
        let own = ServiceUnit(program: "/usr/bin/meshledger", config: "/etc/mesh.yaml", hasSystemUser: true).text
        #expect(text.contains("DynamicUser=yes") && own.contains("DynamicUser=no") && own.contains("User=meshledger"))
        #expect(text.contains(#"ExecStart="/bin/true" run "/etc/mesh \"a\" 100%%.yaml""#))
        try Data(text.utf8).write(to: unit)
        let analyze = URL(fileURLWithPath: "/usr/bin/systemd-analyze")
        // Without systemd there is nobody to ask.
        guard FileManager.default.isExecutableFile(atPath: analyze.path) else { return }
        let verified = try FinishedProcess(analyze, ["verify", unit.path])
        #expect(!verified.text.contains("meshledger.service"), "\(verified.text)")
        let security = try FinishedProcess(analyze, ["security", "--offline=true", unit.path])
        let level = security.text.split(separator: "\n").last { $0.contains("Overall exposure level") }.map(String.init) ?? ""
        let number = level.split(separator: ":").last?.split(separator: " ").first.flatMap { Double($0) }
        #expect(number.map { $0 <= 2.0 } ?? false, "\(level)")
    }
}
