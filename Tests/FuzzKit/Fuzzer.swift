internal import Meshtastic
internal import ProtobufWire

/// Runs inputs through every decoder that outside bytes can reach, and checks what has to hold for any bytes.
///
/// A trap ends the process; that is what the fuzzer is for. One per thread.
public final class Fuzzer {
    private let maker: InputMaker
    private let opener: PacketOpener
    private var batch = PacketBatch()
    public private(set) var report = FuzzReport()

    public init(seed: UInt64) throws {
        maker = try InputMaker(seed: seed)
        opener = PacketOpener(keyring: maker.keyring, publicKeys: maker.publicKeys)
    }

    /// Makes and runs the n-th input.
    public func run(_ index: UInt64) { run(maker.input(index), index) }

    /// The n-th input itself, to look at.
    public func input(_ index: UInt64) -> FuzzInput { maker.input(index) }

    private func run(_ input: FuzzInput, _ index: UInt64) {
        batch.removeAll()
        opener.decode(input.bytes.rawSpan, form: input.form, into: &batch)
        guard batch.packets.count == 1, let packet = batch.packets.first else {
            report.add("one event gave \(batch.packets.count) packets", at: index)
            return
        }
        check(packet, index)
        let hasReached = packet.opening.isReadable && packet.port > 0
        if hasReached { decodePayload(packet, batch) }
        report.count(input, hasReached: hasReached)
        dissect(input, index)
        mask(input, index)
        if index % 4 == 0 { frame(input, index) }
        if index % 8 == 0 {
            parseText(input)
            if hasReached { _ = JSONForm.text(of: packet, in: batch) }
        }
        if index % 16 == 0 {
            let event = Dissector.dissectEvent(form: input.form, bytes: input.bytes.rawSpan, opener: opener)
            if event.packet != packet, packet.rxSNR == packet.rxSNR { report.add("two decodes of one event differ", at: index) }
            _ = (event.textTree, event.json.description)
        }
    }

    private func check(_ packet: DecodedPacket, _ index: UInt64) {
        for range in [packet.payload, packet.channelID, packet.signature] where !range.isEmpty {
            if range.start < 0 || range.end > batch.arenaCount { report.add("a range leaves the arena", at: index) }
        }
        if packet.opening == .invalid, packet.failure == nil { report.add("broken without a reason", at: index) }
        if packet.opening == .channelKey, Int(packet.keyIndex) >= opener.keyring.channels.count {
            report.add("a key that is not there", at: index)
        }
        if let failure = packet.failure, failure.reason.isEmpty { report.add("a failure without words", at: index) }
    }

    private func decodePayload(_ packet: DecodedPacket, _ batch: PacketBatch) {
        let payload = batch.payload(of: packet)
        do throws(WireError) {
            switch packet.port {
            case Port.position: _ = try Position(decoding: payload)
            case Port.nodeInfo: _ = try User(decoding: payload)
            case Port.routing: _ = try Routing(decoding: payload)
            case Port.waypoint: _ = try Waypoint(decoding: payload)
            case Port.paxcounter: _ = try Paxcount(decoding: payload)
            case Port.nodeStatus: _ = try StatusMessage(decoding: payload)
            case Port.storeForward: _ = try StoreAndForward(decoding: payload)
            case Port.traceroute: _ = try RouteDiscovery(decoding: payload)
            case Port.neighborInfo: _ = try NeighborInfo(decoding: payload)
            case Port.mapReport: _ = try MapReport(decoding: payload)
            case Port.telemetry:
                let telemetry = try Telemetry(decoding: payload)
                if let kind = telemetry.kind { _ = try TelemetryMetrics(decoding: payload.bytes(telemetry.metrics), kind: kind) }
            default: _ = payload.asRepairedString
            }
        } catch {}  // refusing is right; only a trap is wrong
    }

    private func dissect(_ input: FuzzInput, _ index: UInt64) {
        let name =
            switch input.form {
            case .serviceEnvelope: "ServiceEnvelope"
            case .meshPacket: "MeshPacket"
            case .fromRadio: "FromRadio"
            case .mqttJSON, .unreadable: "Data"
            }
        let shown = Dissector.dissect(input.bytes.rawSpan, message: name)
        let end = (shown.fields.last?.range.end ?? 0) + shown.unread.count
        if end != input.bytes.count { report.add("the dissector shows \(end) of \(input.bytes.count) bytes", at: index) }
        if index % 8 == 1 { _ = (shown.textTree, shown.json.description) }
    }

    private func mask(_ input: FuzzInput, _ index: UInt64) {
        guard input.form == .fromRadio || index % 8 == 2 else { return }
        var bytes = input.bytes
        let found = SecretMask.apply(fromRadio: &bytes)
        if bytes.count != input.bytes.count { report.add("masking changed the length", at: index) }
        if found.isMasked == (bytes == input.bytes) { report.add("masking said what it did not do", at: index) }
        if SecretMask.mask(fromRadio: &bytes) { report.add("masking twice changes more", at: index) }
    }

    /// The bytes in a frame of the stream, behind noise, cut somewhere.
    private func frame(_ input: FuzzInput, _ index: UInt64) {
        let length = min(input.bytes.count, 600)
        let header: [UInt8] = [0x94, 0xc3, UInt8(length >> 8), UInt8(length & 0xff)]
        let stream = input.bytes.prefix(Int(index / 4 % 40)) + header + input.bytes + header + input.bytes
        let cut = stream.startIndex + Int(index % UInt64(stream.count))
        var framer = StreamFramer()
        var end = 0
        for piece in framer.feed(Array(stream[..<cut])) + framer.feed(Array(stream[cut...])) + framer.finish() {
            if piece.offset != end { report.add("the framer skips bytes", at: index) }
            end = piece.endOffset
        }
        if end != stream.count { report.add("the framer shows \(end) of \(stream.count) bytes", at: index) }
    }

    private func parseText(_ input: FuzzInput) {
        do throws(JSONError) {
            _ = try JSONValue(parsing: input.bytes.rawSpan).description
        } catch {}  // refusing is right; only a trap is wrong
        _ = Topic(parsing: "msh/2/e/" + String(decoding: input.bytes, as: UTF8.self))
    }
}
