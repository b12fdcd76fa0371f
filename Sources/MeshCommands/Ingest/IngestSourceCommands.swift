import ArgumentParser
import MeshIngest
import MeshLedger

struct IngestTCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tcp", abstract: "Listen to a radio on the network until SIGINT or SIGTERM.",
        discussion: """
            Every frame that the radio sends is stored, its keys and passwords zeroed. A radio has one client at a time: while this runs, an app that connects to
            the same radio takes over the connection. A lost connection is restored.

            With --share this is a proxy: apps, the Python client, bots and Home Assistant connect to this computer as if it were the radio, all at once, and
            each gets every packet, including those that it missed while it was away.

              meshledger ingest tcp 192.168.1.20
              meshledger ingest tcp roof.example:4403 --keep-keys
              meshledger ingest tcp 192.168.1.20 --share 0.0.0.0:4403 --share-allow 192.168.1.0/24
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var keys: KeepKeysOption
    @OptionGroup var sharing: SharingOptions
    @Argument(help: "The radio's host, and its port if it is not 4403.") var host: String

    func run() async throws {
        try await listen(to: RadioAddress(host: host), ledger, keys, sharing)
    }
}

struct IngestSerialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serial", abstract: "Listen to a radio on a serial port or USB until SIGINT or SIGTERM.",
        discussion: """
            Only this command uses the port, and neither opening nor closing it resets the board. It reconnects to a radio that was unplugged when the radio
            is back; its name in /dev/serial/by-id stays the same. With --share many apps and programs use the radio at once, as with `ingest tcp`.

              meshledger ingest serial /dev/ttyACM0
              meshledger ingest serial /dev/ttyUSB0 --no-dtr
              meshledger ingest serial /dev/ttyACM0 --share 4403
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var keys: KeepKeysOption
    @OptionGroup var sharing: SharingOptions
    @Flag(inversion: .prefixedNo, help: "Raise the DTR line, as boards expect; some reset when it is raised.") var dtr = true
    @Argument(help: "The port, best by its name in /dev/serial/by-id.", completion: .file()) var port: String

    func run() async throws {
        try await listen(to: .serial(path: port, raisesDTR: dtr), ledger, keys, sharing)
    }
}

private func listen(
    to address: RadioAddress, _ option: LedgerOption, _ keys: KeepKeysOption, _ sharing: SharingOptions
) async throws {
    try sharing.check(for: address)
    let ledger = try await option.openWriter(patience: LiveListening.patience)
    let listening = LiveListening(ledger)
    let radio = RadioSource(address, into: listening.target, report: listening.report)
    let source: any LiveSource
    do {
        source = try sharing.source(radio, in: ledger)
    } catch {
        try? await ledger.close()  // the first failure is the one to report
        throw error
    }
    try await listening.run(source) {
        try await keys.take(radio.radioKeys, into: ledger, advice: "listening with --keep-keys")
    }
}

struct IngestUDPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "udp", abstract: "Listen to radios that send to the local network until SIGINT or SIGTERM.",
        discussion: """
            Radios with a network and "UDP broadcast" turned on send each packet to a multicast group. It listens to both groups, on every
            interface, including those that appear later. Other programs may listen at the same time; what is sent to other groups,
            other interfaces or this computer alone is ignored.

              meshledger ingest udp
              meshledger ingest udp --interface eth0
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: ArgumentHelp("Listen on this network interface only; may be repeated.", valueName: "name")) var interface:
        [String] =
            []
    @Option(help: "The port.") var port: UInt16 = 4403

    func run() async throws {
        var options = UDPOptions()
        options.port = port
        if !interface.isEmpty { options.interfaces = interface }
        let listening = LiveListening(try await ledger.openWriter(patience: LiveListening.patience))
        try await listening.run(UDPSource(options, into: listening.target, report: listening.report))
    }
}

struct IngestFileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Import a file as it grows until SIGINT or SIGTERM.",
        discussion: """
            When the file is rotated, its successor is followed, and lines that a program still adds to the old file are read, too. Nothing is
            imported twice, not even after a restart.
            `meshledger import` reads files once.

              meshledger ingest file /var/log/mesh.jsonl --follow
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(name: .shortAndLong, help: "The file's format; else its content decides.") var format: ImportFormat?
    @Flag(help: "Wait for more at the end of the file.") var follow = false
    @Option(help: "The name of the source; else the file's name.") var source: String?
    @Argument(help: "The file; it need not exist yet.", completion: .file()) var file: String

    func validate() throws {
        guard follow else { throw ValidationError("say --follow; `meshledger import \(file)` reads a file once") }
    }

    func run() async throws {
        let listening = LiveListening(try await ledger.openWriter(patience: LiveListening.patience))
        let options = ImportOptions(format: format, isComplete: false, sourceName: source)
        try await listening.run(FileFollow(file, into: listening.target, options: options, report: listening.report))
    }
}
