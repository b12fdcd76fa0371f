import EventLog
import MeshLedger
import Meshtastic

extension SharedRadio {
    /// Errors of Routing and of the radio's queue.
    private static let noInterface: UInt32 = 4
    private static let noRoom: Int32 = 8
    private static let fullQueue: Int32 = 5

    /// Stores what a client sends, then passes it to the radio.
    func take(
        _ packet: ClientMessage.Packet, from client: RadioOutbox.Client, answer: @escaping @Sendable ([UInt8]) -> Void
    ) async {
        let address = client.address
        let next = beginStoring()
        defer { endStoring(next) }
        let (source, event): (SourceID, EventSequence?)
        do throws(EventLogError) {
            source = try await sink.source(named: clientPrefix + address)
            event = try await sink.append([NewEvent(packet.bytes, encoding: PayloadEncoding(.meshPacket), source: source)])?
                .lowerBound
        } catch {
            reportRefusal(.packet, of: address, "a packet of the client \(address) was refused: \(error)")
            answer(FromRadioMessage.queueStatus(result: Self.noRoom, packet: packet.id, free: 0))
            if packet.wantsAnswer {
                answer(FromRadioMessage.routing(error: Self.noInterface, of: packet.id, by: memory.number))
            }
            return
        }
        know(source, of: address)
        progress.raise()
        let item = RadioOutbox.Item(
            message: ToRadioMessage.packet(packet.bytes), packet: packet.id, event: event?.rawValue, client: client,
            changesSettings: packet.changesSettings, answer: answer)
        guard !outbox.put(item) else { return }
        reportRefusal(.packet, of: address, "a packet of the client \(address) was refused: too many wait for the radio")
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
    func take(_ message: [UInt8], from client: RadioOutbox.Client) {
        if outbox.put(RadioOutbox.Item(message: message, client: client)) { return }
        reportRefusal(
            .message, of: client.address, "a message of the client \(client.address) was refused: too many wait for the radio")
    }

    /// Gives the radio what clients sent before this process was started, unless it is old.
    ///
    /// - Parameters:
    ///   - saved: what was saved of it
    ///   - radio: the source of the radio
    ///   - oldest_s: how old it may be
    func sendAgain(_ saved: UnsentPackets, from radio: SourceID, oldest_s: Double) async throws {
        let next = log.head.rawValue + 1
        var (fresh, sent, old): ([RadioOutbox.Item], [SourceID], [NewEvent]) = ([], [], [])
        let addresses = Dictionary(try log.sources().map { ($0.id, $0.name.dropFirst(clientPrefix.count)) }) { first, _ in first }
        for (event, packet) in try unanswered(saved, from: radio) {
            let age_s = Double(Timestamp.now.microseconds - event.header.arrivalTime.microseconds) / 1_000_000
            guard age_s < oldest_s, !packet.isTooLong else {
                old.append(Self.unsent(event.payload, packet.id, event.header.source))
                continue
            }
            fresh.append(
                .init(
                    message: ToRadioMessage.packet(event.payload), packet: packet.id, event: event.sequence.rawValue,
                    client: .init(address: addresses[event.header.source].map(String.init) ?? ""),
                    since: .now - .seconds(max(age_s, 0)), changesSettings: packet.changesSettings))
            sent.append(event.header.source)
        }
        let (going, gone) = (try Self.text(sent, log), try Self.text(old.map(\.source), log))
        if !old.isEmpty {
            // In one step, so that each is recorded once.
            let kept = UnsentPackets(from: next, fresh.compactMap(\.event))
            _ = try await sink.append(old, cursor: SourceCursor(key: unsentKey, value: kept.bytes))
            report(
                "\(gone) from before the start will not be sent: too old, and shown as failed; send again what is still needed")
        }
        outbox.restore(fresh)
        if !sent.isEmpty { report("the radio gets \(going) from before the start") }
    }

    /// The packets that clients sent before this process was started, and of which the log does not say that the radio has
    /// answered, or does not get them. One whose answer was not stored is sent again: the radio recognises its number.
    private func unanswered(_ saved: UnsentPackets, from radio: SourceID) throws -> [(Event, ClientMessage.Packet)] {
        var waiting: [UInt64: (Event, ClientMessage.Packet)] = [:]
        func wait(_ event: Event) {
            let (message, sender) = (ToRadioMessage.packet(event.payload), ClientMessage.sender(of: event.payload))
            guard case .packet(let packet) = ClientMessage(message, from: sender) else { return }
            waiting[event.sequence.rawValue] = (event, packet)
        }
        for event in try saved.events.compactMap(packet) { wait(event) }
        let clients = Set(try log.sources().filter { $0.name.hasPrefix(clientPrefix) }.map(\.id))
        guard var next = ([saved.next].compactMap(\.self) + saved.events).min() else { return [] }
        let head = log.head.rawValue
        while next <= head {
            let last = head - next < Self.chunk ? head : next + Self.chunk - 1
            for event in try log.events(in: EventSequence(rawValue: next)...EventSequence(rawValue: last)) {
                let isClient = clients.contains(event.header.source)
                if isClient, event.sequence.rawValue >= saved.next ?? .max, Self.isPacket(event) { wait(event) }
                guard isClient || event.header.source == radio, let id = Self.answered(event) else { continue }
                waiting = waiting.filter { $0.key > event.sequence.rawValue || $0.value.1.id != id }
            }
            next = last + 1
        }
        return waiting.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The number of the packet that an event answers: the radio's state of its queue, or that the radio does not get it.
    private static func answered(_ event: Event) -> UInt32? {
        guard event.header.encoding == PayloadEncoding(.fromRadio) else { return nil }
        switch FromRadioGlance(event.payload).kind {
        case .queueStatus(_, _, let packet) where packet != 0: return packet
        case .packet: return FromRadioMessage.request(event.payload)
        default: return nil
        }
    }

    /// Gives up what has waited too long, as for a radio that is away: nobody expects that a message is sent hours later.
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
            _ = try await sink.append(unsent, cursor: SourceCursor(key: unsentKey, value: self.unsent.bytes))
            progress.raise()
            reportMessages(old.filter { $0.event == nil })
            guard !unsent.isEmpty else { return }
            let text = try Self.text(unsent.map(\.source), log)
            report("\(text) will not be sent: too old, and shown as failed; send again what is still needed")
        } catch {
            outbox.putBack(old)  // the log cannot be read or written now, which is reported elsewhere
        }
    }

    /// Reports messages that are no packets, and that the radio does not get.
    private func reportMessages(_ items: [RadioOutbox.Item]) {
        guard !items.isEmpty else { return }
        let counts = Dictionary(grouping: items, by: \.client.address).map { "\($1.count) of client \($0)" }.sorted()
        let all = "\(items.count) \(items.count == 1 ? "message" : "messages")"
        let text = counts.joined(separator: ", ")
        report("\(all) for the radio (\(text)) will not be sent: too old; they are for its MQTT proxy, or parts of files")
    }

    /// A client's packet in the log; nil if it is no longer there.
    private func packet(_ sequence: UInt64) throws -> Event? {
        let sequence = EventSequence(rawValue: sequence)
        guard sequence <= log.head, let event = try log.events(in: sequence...sequence).first else { return nil }
        return Self.isPacket(event) ? event : nil
    }

    private static func isPacket(_ event: Event) -> Bool {
        event.header.encoding == PayloadEncoding(.meshPacket) && !event.header.isErased
    }

    /// Reports at the end what the radio did not get.
    func reportUnsent() {
        let events = outbox.events.compactMap { sequence in
            let sequence = EventSequence(rawValue: sequence)
            return try? log.events(in: sequence...sequence).first  // a log that cannot be read is reported elsewhere
        }
        guard !events.isEmpty, let text = try? Self.text(events.map(\.header.source), log) else { return }  // as above
        let hope = unsentSeconds.map { "; they are sent if this starts again within \(Int($0 / 60)) minutes" } ?? ""
        report("the radio has not accepted \(text)\(hope)")
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
