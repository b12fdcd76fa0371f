import EventLog
import MeshLedger
import Meshtastic

extension SharedRadio {
    /// How old a packet may be to be given to the radio after a restart.
    private static let oldestUnsentSeconds = 300.0
    private static let noRoom: Int32 = 8
    private static let fullQueue: Int32 = 5

    /// Stores what a client sends, then passes it to the radio.
    func take(_ packet: ClientMessage.Packet, from address: String, answer: @escaping @Sendable ([UInt8]) -> Void) async {
        let event: EventSequence?
        do throws(EventLogError) {
            let source = try await sink.source(named: sourceName(address))
            event = try await sink.append([NewEvent(packet.bytes, encoding: PayloadEncoding(.meshPacket), source: source)])?
                .lowerBound
        } catch {
            tellRefusal(.packet, of: address, "a packet of the client \(address) was refused: \(error)")
            return answer(FromRadioMessage.queueStatus(result: Self.noRoom, packet: packet.id, free: 0))
        }
        tide.rise()
        let item = RadioOutbox.Item(
            message: ToRadioMessage.packet(packet.bytes), packet: packet.id, event: event?.rawValue, answer: answer)
        if !outbox.put(item) {
            tellRefusal(.packet, of: address, "a packet of the client \(address) was refused: too many wait for the radio")
            answer(FromRadioMessage.queueStatus(result: Self.fullQueue, packet: packet.id, free: 0))
        }
    }

    /// Passes a message to the radio that is no packet, and that the radio does not confirm.
    func take(_ message: [UInt8], from address: String) {
        if outbox.put(RadioOutbox.Item(message: message)) { return }
        tellRefusal(.packet, of: address, "a message of the client \(address) was refused: too many wait for the radio")
    }

    private func sourceName(_ address: String) -> String { "\(name)/client \(address)" }

    /// Gives the radio what clients sent before this process was started, unless it is old.
    func sendAgain(_ events: [UInt64]) throws {
        var (sent, old): ([SourceID], [SourceID]) = ([], [])
        for sequence in events.map(EventSequence.init(rawValue:)) where sequence <= log.head {
            guard let event = try log.events(in: sequence...sequence).first,
                event.header.encoding == PayloadEncoding(.meshPacket), !event.header.isErased
            else { continue }
            let age_s = Double(Timestamp.now.microseconds - event.header.arrivalTime.microseconds) / 1_000_000
            guard age_s < Self.oldestUnsentSeconds,
                case .packet(let packet) = ClientMessage(ToRadioMessage.packet(event.payload), from: 0),
                outbox.put(.init(message: ToRadioMessage.packet(event.payload), packet: packet.id, event: sequence.rawValue))
            else {
                old.append(event.header.source)
                continue
            }
            sent.append(event.header.source)
        }
        if !sent.isEmpty { tell("the radio gets \(try Self.text(sent, log)) from before the start") }
        if !old.isEmpty {
            tell(
                "\(try Self.text(old, log)) from before the start will not be sent: too old, or too many; send them again if need be"
            )
        }
    }

    /// Tells at the end what the radio did not get.
    func tellUnsent() {
        let events = outbox.events.compactMap { sequence in
            let sequence = EventSequence(rawValue: sequence)
            return try? log.events(in: sequence...sequence).first  // a log that cannot be read is reported elsewhere
        }
        guard !events.isEmpty, let text = try? Self.text(events.map(\.header.source), log) else { return }  // as above
        tell(
            "the radio has not accepted \(text); they are sent if this starts again within \(Int(Self.oldestUnsentSeconds / 60)) minutes"
        )
    }

    /// `3 packets (2 of client 192.168.1.5, 1 of client 192.168.1.9)`.
    private static func text(_ sources: [SourceID], _ log: EventLog) throws -> String {
        let names = Dictionary(try log.sources().map { ($0.id, $0.name) }) { first, _ in first }
        let counts = Dictionary(grouping: sources) { $0 }.map { source, all in
            "\(all.count) of \(names[source].flatMap { $0.split(separator: "/").last }.map(String.init) ?? "a client")"
        }
        return "\(sources.count) \(sources.count == 1 ? "packet" : "packets") (\(counts.sorted().joined(separator: ", ")))"
    }
}

/// How the events of packets are stored that the radio has not accepted yet: each in eight little-endian bytes.
enum UnsentPackets {
    private static let size = 8

    static func bytes(_ events: [UInt64]) -> [UInt8] {
        events.flatMap { event in (0..<size).map { UInt8(truncatingIfNeeded: event >> (8 * UInt64($0))) } }
    }

    static func events(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, to: bytes.count / size * size, by: size).map { start in
            bytes[start..<start + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
