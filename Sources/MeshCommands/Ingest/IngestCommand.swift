import ArgumentParser
import MeshIngest
import MeshLedger

struct IngestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest", abstract: "Listen to live traffic.",
        discussion: """
            On a terminal a line shows how many events, packets and nodes were heard, how many events could not be decoded, and how many the
            index of packets still lacks (lag); elsewhere standard error gets such a line every minute.
            """,
        subcommands: [
            IngestMQTTCommand.self, IngestTCPCommand.self, IngestSerialCommand.self, IngestUDPCommand.self,
            IngestFileCommand.self,
        ])
}

struct IngestMQTTCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mqtt", abstract: "Listen to an MQTT broker until SIGINT or SIGTERM.",
        discussion: """
            Every Meshtastic message below the topic is stored byte for byte, protobuf and JSON; others are counted. A lost connection is restored; a
            wrong password or an untrusted certificate ends the command.

            A password in the address stays in the shell's history, and other users of this computer may see it as the command starts:
            pass it with --password-file, on standard input or in the environment variable \(BrokerPassword.variable).

              meshledger ingest mqtt mqtt://localhost
              meshledger ingest mqtt 'mqtts://user@broker.example:8883/msh/EU_868/#' --password-file broker.password --ca-file ca.pem
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "mqtt:// or mqtts://, user@ if needed, host, port, and a topic root.") var url: String
    @OptionGroup var password: BrokerPassword
    @Option(help: "Quality of service: 0, or 1 for messages that the broker keeps until they are stored.") var qos: Int32 = 0
    @Option(help: "The client id at the broker.") var clientID: String?
    @Flag(help: "The broker keeps messages while this client is away (needs --client-id and --qos 1).") var keepSession = false
    @Option(help: "Seconds between keep-alive messages.") var keepAlive = 60
    @Option(help: "PEM file of the certificates that sign trusted brokers.") var caFile: String?
    @Option(help: "PEM file of this client's certificate.") var certFile: String?
    @Option(help: "PEM file of its key.") var keyFile: String?
    @Flag(help: "Accept any certificate: for tests only.") var insecure = false

    func run() async throws {
        let options = try options()
        let listening = LiveListening(try await ledger.openWriter(patience: LiveListening.patience))
        let say = listening.say
        let ingest = MQTTIngest(options, into: listening.target) { say($0.description) }
        func summary(_ status: SourceStatus) -> String {
            let statistics = ingest.statistics
            let long = statistics.oversizedCount
            let gaps =
                long == 0 ? "" : ", \(long) too long for a packet: `meshledger events` shows \(long == 1 ? "a gap" : "gaps")"
            let others = [
                (statistics.foreignCount, "on topics of other programs"),
                (statistics.statusCount, "on whether a gateway is online"),
            ].filter { $0.0 > 0 }.map { ", \($0.0.grouped) \($0.1)" }.joined()
            return "\(statistics.storedCount.grouped) of \(statistics.receivedCount.counted("message")) stored\(gaps)\(others)"
        }
        try await listening.run(ingest, summary: summary)
    }

    private func options() throws -> MQTTOptions {
        var address = try MQTTAddress(url)
        if address.password != nil {
            StandardOutput.error(
                "meshledger: the password in the address stays in the shell's history, and other users may see it as the command starts; --password-file and $\(BrokerPassword.variable) hide it"
            )
        }
        if let password = try password.value(address: address.password != nil) { address.password = password }
        for file in [caFile, certFile, keyFile].compactMap(\.self) { _ = try NamedFile.open(file) }
        var options = MQTTOptions(address)
        guard let quality = MQTTOptions.QualityOfService(rawValue: qos) else {
            throw CommandError(.usage, "the quality of service is 0 or 1, not \(qos)")
        }
        options.qualityOfService = quality
        options.clientID = clientID
        options.keepsSession = keepSession
        options.keepAliveSeconds = keepAlive
        options.certificateAuthorityFile = caFile
        options.certificateFile = certFile
        options.keyFile = keyFile
        options.isInsecure = insecure
        return options
    }
}
