import EventLog
import Foundation
import LogKit
import MeshIngest
import MeshLedger
import Meshtastic

/// A ledger of the events of a file, as `export events` writes them, with their times of arrival and with given caps: what a fold
/// in another language is compared with. It says `ready` and keeps the ledger open until its standard input ends.
///
/// `folded-ledger events=FILE ledger=FOLDER keys=FILE [positions=5 …]`; keys are the lines `--psk`, `NAME=BASE64`, `--aead`, `NAME=BASE64`,
/// `--private-key`, `NODE=BASE64`.
struct FoldedLedger {
    private struct Line: Decodable {
        var arrival: String
        var reception: String?
        var source: String
        var encoding: String
        var payload_b64: String
    }

    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() async throws {
        // It stands at the event at hand.
        let clock = ManualClock(Timestamp(seconds: 0))
        let log = EventLogOptions(isDurable: false, clock: clock.read)
        let ledger = try await Ledger.create(
            at: try options.text("ledger"), options: LedgerOptions(log: log, caps: try caps(), isControllable: false))
        try await ledger.keys.set(try keyring())
        for line in try String(contentsOfFile: try options.text("events"), encoding: .utf8).split(separator: "\n") {
            let line = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            guard let payload = Data(base64Encoded: line.payload_b64), let encoding = LedgerLine.encoding(named: line.encoding)
            else {
                throw Failure("a line of \(line.encoding) cannot be read")
            }
            clock.set(try time(line.arrival))
            let reception: Reception =
                try line.reception == "live" ? .live : line.reception.map { .recorded(try time($0)) } ?? .unrecorded
            var bytes = Array(payload)
            let isMasked = encoding == PayloadEncoding(.fromRadio) && SecretMask.apply(fromRadio: &bytes).isMasked
            let source = try await ledger.log.source(named: line.source)
            _ = try await ledger.log.append(
                NewEvent(bytes, encoding: encoding, source: source, reception: reception, isMasked: isMasked))
        }
        try await ledger.catchUp()
        // While this process writes, readers see the views under these caps; a command by itself would fold them under its own.
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        while readLine() != nil {}
        try await ledger.close()
    }

    private func time(_ text: String) throws -> Timestamp {
        let format = ISO8601DateFormatter()
        format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        guard let date = format.date(from: text) else { throw Failure("\(text) is no time") }
        return Timestamp(seconds: Int64(date.timeIntervalSince1970.rounded(.down)))
    }

    private func keyring() throws -> Keyring {
        let words = try String(contentsOfFile: try options.text("keys"), encoding: .utf8).split(separator: "\n").map(String.init)
        var (keyring, private_) = (Keyring.standard, [PrivateKey]())
        for (name, value) in zip(words, words.dropFirst()) where name.hasPrefix("--") {
            let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Failure("\(value) is no key") }
            if name != "--private-key" {
                keyring = keyring.adding(try ChannelKey(name: parts[0], base64: parts[1], isAEAD: name == "--aead"))
            } else {
                guard let key = Data(base64Encoded: parts[1]) else { throw Failure("\(value) is no key") }
                private_.append(try PrivateKey(node: UInt32(parts[0].dropFirst(2), radix: 16), key: Array(key)))
            }
        }
        return Keyring(channels: keyring.channels, privateKeys: private_)
    }

    private func caps() throws -> ViewCaps {
        var caps = ViewCaps()
        let places: [(String, WritableKeyPath<ViewCaps, Int>)] = [
            ("nodes", \.nodes), ("positions", \.positions), ("telemetry", \.telemetry), ("messages", \.messages),
            ("waypoints", \.waypoints),
            ("traceRoutes", \.traceRoutes), ("links", \.links), ("gateways", \.gateways), ("gatewayNodes", \.gatewayNodes),
            ("mapReports", \.mapReports), ("sensors", \.sensors), ("nodeHistory", \.nodeHistory), ("radios", \.radios),
        ]
        for (name, place) in places { caps[keyPath: place] = try options.number(name, caps[keyPath: place]) }
        let favorites = try options.number("favorites", 50_000)
        caps.favorites = NodeCaps(positions: favorites, telemetry: favorites, sensors: favorites)
        let meters = try options.number("within", 0)
        if meters > 0 { caps.positionDedupe = .within(meters: Double(meters)) }
        caps.reducedPrecisionKeepsHistory = try options.number("reducedLatest", 0) == 0
        return caps
    }
}
