import EventLog
import MeshLedger
import Meshtastic

extension SharedRadio {
    /// Errors of Routing and of the radio's queue.
    private static let noInterface: UInt32 = 4
    private static let noRoom: Int32 = 8
    private static let fullQueue: Int32 = 5

    /// Stores what a client sends, then passes it to the radio.
    func take(_ packet: ClientMessage.Packet, from address: String, answer: @escaping @Sendable ([UInt8]) -> Void) async {
        let (source, event): (SourceID, EventSequence?)
        do throws(EventLogError) {
            source = try await sink.source(named: clientPrefix + address)
            event = try await sink.append([NewEvent(packet.bytes, encoding: PayloadEncoding(.meshPacket), source: source)])?
                .lowerBound
        } catch {
            tellRefusal(.packet, of: address, "a packet of the client \(address) was refused: \(error)")
            return answer(FromRadioMessage.queueStatus(result: Self.noRoom, packet: packet.id, free: 0))
        }
        know(source, of: address)
        progress.raise()
        let item = RadioOutbox.Item(
            message: ToRadioMessage.packet(packet.bytes), packet: packet.id, event: event?.rawValue, answer: answer)
        guard !outbox.put(item) else { return }
        tellRefusal(.packet, of: address, "a packet of the client \(address) was refused: too many wait for the radio")
        answer(FromRadioMessage.queueStatus(result: Self.fullQueue, packet: packet.id, free: 0))
        do throws(EventLogError) {
            _ = try await sink.append([Self.unsent(packet.bytes, packet.id, source)])
            progress.raise()
        } catch {
            // The client has its answer; that the ledger accepts nothing is reported by the radio's own source.
        }
    }

    /// Records that the radio does not get a packet, by what a radio answers that cannot send: views then show a message as failed, and its client learns of it.
    private static func unsent(_ packet: [UInt8], _ id: UInt32, _ source: SourceID) -> NewEvent {
        let answer = FromRadioMessage.routing(error: noInterface, of: id, by: ClientMessage.sender(of: packet))
        return NewEvent(answer, encoding: PayloadEncoding(.fromRadio), source: source)
    }

    /// Passes a message to the radio that is no packet, and that the radio does not confirm.
    func take(_ message: [UInt8], from address: String) {
        if outbox.put(RadioOutbox.Item(message: message)) { return }
        tellRefusal(.packet, of: address, "a message of the client \(address) was refused: too many wait for the radio")
    }

    /// Gives the radio what clients sent before this process was started, unless it is old.
    ///
    /// - Parameters:
    ///   - stored: their events
    ///   - key: where these are stored
    ///   - oldest_s: how old they may be
    /// - Returns: those that the radio gets, as they are stored now
    func sendAgain(_ stored: [UInt8], _ key: String, oldest_s: Double) async throws -> [UInt8] {
        let events = EventNumbers.events(stored)
        var (fresh, sent, old): ([RadioOutbox.Item], [SourceID], [NewEvent]) = ([], [], [])
        for sequence in events {
            guard let event = try packet(sequence) else { continue }
            let age_s = Double(Timestamp.now.microseconds - event.header.arrivalTime.microseconds) / 1_000_000
            let message = ToRadioMessage.packet(event.payload)
            guard case .packet(let packet) = ClientMessage(message, from: 0) else { continue }
            guard age_s < oldest_s, !packet.isTooLong else {
                old.append(Self.unsent(event.payload, packet.id, event.header.source))
                continue
            }
            fresh.append(.init(message: message, packet: packet.id, event: sequence, since: .now - .seconds(max(age_s, 0))))
            sent.append(event.header.source)
        }
        let kept = EventNumbers.bytes(fresh.compactMap(\.event))
        let (going, gone) = (try Self.text(sent, log), try Self.text(old.map(\.source), log))
        if !old.isEmpty {
            // In one step, so that each is recorded once.
            _ = try await sink.append(old, cursor: SourceCursor(key: key, value: kept))
            tell("\(gone) from before the start will not be sent: too old, and shown as failed; send again what is still needed")
        }
        for item in fresh { _ = outbox.put(item) }  // no client is connected yet
        if !sent.isEmpty { tell("the radio gets \(going) from before the start") }
        return old.isEmpty ? stored : kept
    }

    /// Gives up packets that have waited too long, as for a radio that is away: nobody expects that a message is sent hours later.
    func giveUpOld() async {
        guard let oldest_s = unsentSeconds else { return }
        let old = outbox.takeOld(seconds: oldest_s)
        guard !old.isEmpty else { return }
        do {
            var unsent: [NewEvent] = []
            for item in old {
                guard let id = item.packet, let event = try item.event.flatMap(packet) else { continue }
                unsent.append(Self.unsent(event.payload, id, event.header.source))
            }
            _ = try await sink.append(unsent, cursor: SourceCursor(key: unsentKey, value: EventNumbers.bytes(outbox.events)))
            progress.raise()
            guard !unsent.isEmpty else { return }
            let text = try Self.text(unsent.map(\.source), log)
            tell("\(text) will not be sent: too old, and shown as failed; send again what is still needed")
        } catch {
            outbox.putBack(old)  // the log cannot be read or written now, which is reported elsewhere
        }
    }

    /// A client's packet in the log; nil if it is not there any more.
    private func packet(_ sequence: UInt64) throws -> Event? {
        let sequence = EventSequence(rawValue: sequence)
        guard sequence <= log.head, let event = try log.events(in: sequence...sequence).first else { return nil }
        return event.header.encoding == PayloadEncoding(.meshPacket) && !event.header.isErased ? event : nil
    }

    /// Tells at the end what the radio did not get.
    func tellUnsent() {
        let events = outbox.events.compactMap { sequence in
            let sequence = EventSequence(rawValue: sequence)
            return try? log.events(in: sequence...sequence).first  // a log that cannot be read is reported elsewhere
        }
        guard !events.isEmpty, let text = try? Self.text(events.map(\.header.source), log) else { return }  // as above
        let hope = unsentSeconds.map { "; they are sent if this starts again within \(Int($0 / 60)) minutes" } ?? ""
        tell("the radio has not accepted \(text)\(hope)")
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
