import ArgumentParser
import Foundation
import MeshLedger
import Meshtastic

struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Every field of a packet in hex, base64 or JSON.",
        discussion: """
            It needs no ledger. It recognises MQTT messages (ServiceEnvelope, or the JSON of the bridge), a MeshPacket, messages between radio and client (FromRadio \
            and ToRadio, also in frames of the stream), and a Data message; a single one, or one a line. Each is opened with the default key of every \
            modem preset, and with those of --key. An argument that is a file's name is that file, also compressed (gzip, zstd). Lines are decoded as they arrive; lines that are \
            not packets are reported by number, and the exit status is 65.

              meshledger decode 0d005c021915ffffffff22080801120461686f79354d000000
              meshledger decode packet.bin --bytes
              meshledger decode --key Harbour=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8= - < posted.txt
              meshledger decode --port POSITION_APP 0d00bd1f1e15809d8c04 --format json
            """)

    @OptionGroup var output: TreeOutputOptions
    @Option(
        help: ArgumentHelp(
            "Try this channel's key, too, in base64; - reads it from standard input. May be repeated.", valueName: "NAME=PSK"))
    var key: [String] = []
    @Option(help: ArgumentHelp("The same for a channel with authenticated encryption.", valueName: "NAME=PSK")) var aeadKey:
        [String] = []
    @Option(help: "The bytes are the payload of this port: a name such as POSITION_APP, or a number.") var port: PortArgument?
    @Option(name: .customLong("as"), help: "The form of the bytes; shows what can be read of damaged ones.") var form: PacketForm?
    @Flag(help: "With each field, its position and first bytes.") var bytes = false
    @Argument(help: ArgumentHelp("Hex, base64, JSON, a file, or - for standard input.", valueName: "packet"), completion: .file())
    var packet: [String]

    func validate() throws {
        if port != nil, form != nil { throw ValidationError("--port is for a payload, which has no --as") }
    }

    func run() throws {
        let reader = PacketReader(opener: PacketOpener(keyring: try keyring()), form: form, port: try port?.number())
        let output = try self.output.target(isLive: packet == ["-"])
        defer { output.finish() }
        let printer = PacketPrinter(output, self.output.format, isBesideBytes: bytes)
        do {
            guard let file = try file() else {
                let packets = try typedPackets(reader)
                printer.show(packets)
                if let broken = packets.first(where: { $0.failure != nil }) { throw broken.fault }
                return printer.end()
            }
            var lines = PostedLines(reader) { printer.show($0) }
            try lines.read(file, named: packet.joined(separator: " "))
            printer.end()
        } catch {
            printer.end()
            output.finish()
            if printer.count > 0 { try OutputFiles.keepAll() }  // the packets beside those that are damaged
            throw error
        }
    }

    private func typedPackets(_ reader: PacketReader) throws(CommandError) -> [PostedPacket] {
        do throws(CommandError) {
            return try reader.packets(in: Array(packet.joined(separator: " ").utf8))
        } catch {
            guard packet.count == 1, !packet[0].hasPrefix("{") else { throw error }
            if ["/", "./", "../", "~/"].contains(where: packet[0].hasPrefix) {
                throw CommandError(.noInput, "there is no file \(packet[0]), and it is no packet: \(error.message)")
            }
            guard packet[0].contains(".") else { throw error }
            throw CommandError(error.status, "\(error.message); there is no file \(packet[0])")
        }
    }

    /// The input to read; nil if the packet itself is on the command line. Hex in groups arrives as several arguments.
    private func file() throws -> FileHandle? {
        let text = packet.joined(separator: " ")
        if text == "-" { return .standardInput }
        return FileManager.default.fileExists(atPath: text) ? try NamedFile.open(text) : nil
    }

    private func keyring() throws -> Keyring {
        var keyring = Keyring.standard
        for (texts, isAEAD) in [(key, false), (aeadKey, true)] {
            for text in texts {
                // Base64 ends with the same character.
                guard let end = text.firstIndex(of: "="), end > text.startIndex, text.index(after: end) < text.endIndex else {
                    throw CommandError(.usage, "\(text) is not NAME=PSK, as in LongFast=AQ==")
                }
                let psk = try KeysAddCommand.read(String(text[text.index(after: end)...]))
                keyring.add(
                    try KeysAddCommand.key { try ChannelKey(name: String(text[..<end]), base64: psk, isAEAD: isAEAD) })
            }
        }
        return keyring
    }
}

/// Prints packets as they arrive, in one of the formats.
private final class PacketPrinter {
    private let output: StandardOutput
    private let format: TreeOutputOptions.Format
    private let isBesideBytes: Bool
    private(set) var count = 0

    init(_ output: StandardOutput, _ format: TreeOutputOptions.Format, isBesideBytes: Bool) {
        (self.output, self.format, self.isBesideBytes) = (output, format, isBesideBytes)
    }

    func show(_ packets: [PostedPacket]) {
        for packet in packets {
            switch format {
            case .table:
                if count > 0 { output.line() }
                let tree = packet.textTree(isBesideBytes: isBesideBytes)
                for line in tree.utf8.split(separator: UInt8(ascii: "\n")) {
                    output.line(DisplayWidth.safe(String(Substring(line))))
                }
            case .jsonl: output.line(packet.json.description)
            case .json: output.write((count == 0 ? "[\n" : ",\n") + packet.json.description)
            }
            count += 1
        }
        if !output.isTerminal { output.flush() }
    }

    func end() {
        if format == .json, count > 0 { output.line("\n]") }
    }
}
