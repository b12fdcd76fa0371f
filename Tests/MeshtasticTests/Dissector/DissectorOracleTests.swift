import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// What the dissector shows beside what the official decoder prints.
@Suite(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
struct DissectorOracleTests {
    @Test(arguments: ["envelopes.base64", "packets.jsonl"])
    func `each generated payload is shown as the official decoder prints it`(name: String) throws {
        let folder = try TemporaryFolder()
        try expectSame(try Oracle.generate(name, seed: 51, hostile: 0, in: folder))
    }

    @Test(
        .enabled(if: SharedFolder.exists, "needs ../shared"),
        arguments: ["mqtt-envelopes.base64", "udp-datagrams.jsonl", "packets-2025-09.jsonl"])
    func `each payload is shown as the official decoder prints it`(name: String) throws {
        try expectSame(SharedFolder.file("captures/\(name)"))
    }

    private func expectSame(_ url: URL) throws {
        let events = try Oracle.events(in: url)
        let lines = try Oracle.decode(url)
        let form: CaptureForm = url.pathExtension == "jsonl" ? .meshPacket : .serviceEnvelope
        let opener = PacketOpener(keyring: .standard)
        var compared = 0
        for (place, (event, line)) in zip(events, lines).enumerated() {
            guard let theirs = line.payload, case .object(let printed) = theirs, !printed.isEmpty, line.how != "opaque" else {
                continue
            }
            let shown = Dissector.dissectEvent(form: form, bytes: event.rawSpan, opener: opener)
            let payload = try #require(shown.message.flatMap(payload), "line \(place + 1)")
            #expect(payload.failure == nil)
            compared += 1
            if let difference = difference(payload, theirs, "") { Issue.record("line \(place + 1): \(difference)") }
        }
        #expect(compared > 15)
    }

    /// The message inside of the packet's Data, wherever it was found.
    private func payload(of message: DissectedMessage) -> DissectedMessage? {
        for field in message.fields {
            for value in [field.value, field.content?.value] {
                guard case .message(let inner)? = value else { continue }
                if message.name == "Data" { return inner }
                if let found = payload(of: inner) { return found }
            }
        }
        return nil
    }

    private func difference(_ ours: DissectedMessage, _ theirs: JSON, _ path: String) -> String? {
        guard case .object(let printed) = theirs else { return "\(path) is no message there" }
        let shown = ours.json
        for field in ours.fields {
            guard let description = field.description, let value = shown[description.name] else { continue }
            guard let other = printed[description.name] else {
                // They leave out zeros, and fields of newer firmware.
                if description.presence == .implicit, isZero(field.value) { continue }
                return "\(path).\(description.name) is only here"
            }
            if case .message(let inner) = field.value, !description.isRepeated {
                if let found = difference(inner, other, "\(path).\(description.name)") { return found }
            } else if case .message = field.value {
                guard case .list(let list) = other, list.count == value.asArray?.count else {
                    return "\(path).\(description.name) differs"
                }
            } else if !isEqual(value, other, description) {
                return "\(path).\(description.name): \(value) here, \(other) there"
            }
        }
        return printed.keys.first { shown[$0] == nil }.map { "\(path).\($0) is only there" }
    }

    private func isZero(_ value: DissectedValue) -> Bool {
        switch value {
        case .bool(false), .signed(0), .unsigned(0), .text("", _), .bytes([]), .enumeration(0, _), .float(0): true
        default: false
        }
    }

    private func isEqual(_ ours: JSONValue, _ theirs: JSON, _ field: FieldDescription) -> Bool {
        switch (ours, theirs) {
        case (.bool(let ours), .bool(let theirs)): ours == theirs
        case (.string(let ours), .text(let theirs)): ours == theirs
        case (.number, .number(let theirs)):
            field.kind == .float ? ours.asDouble.map { Float($0) } == Float(theirs) : ours.asDouble == theirs
        case (.array(let ours), .list(let theirs)):
            ours.count == theirs.count && zip(ours, theirs).allSatisfy { isEqual($0, $1, field) }
        // A name that their older schema does not have.
        case (.string(let name), .number(let theirs)):
            if case .enumeration(let place) = field.kind {
                FieldTable.standard.enums[place].number(named: name).map { Double($0) } == theirs
            } else {
                false
            }
        default: false
        }
    }
}
