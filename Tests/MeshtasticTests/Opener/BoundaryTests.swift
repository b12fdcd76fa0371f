import ProtobufWire
import TestKit
import Testing

@testable import Meshtastic

/// What lies at a limit, and one to either side of it.
@Suite struct BoundaryTests {
    // MARK: Packets

    private func content(_ body: (inout WireWriter) -> Void) throws -> DataFields {
        let bytes = PacketSeeds.encoded(body)
        return try DataFields(bytes.rawSpan, ByteRange(truncating: 0, bytes.count))
    }

    private func text(_ more: (inout WireWriter) -> Void) throws -> Bool {
        try content {
            $0.varint(1, 1)
            $0.bytes(2, [0x61])
            more(&$0)
        }.isPlausible
    }

    @Test func `each limit of what an encoder can have written lies where it is said to`() throws {
        for (value, isPlausible) in [(0, true), (1, true), (2, false), (3, false)] as [(UInt64, Bool)] {
            #expect(try text { $0.varint(3, value) } == isPlausible, "want_response \(value)")
        }
        for (value, isPlausible) in [(0, true), (255, true), (256, false), (257, false)] as [(UInt64, Bool)] {
            #expect(try text { $0.varint(9, value) } == isPlausible, "bitfield \(value)")
        }
        for (length, isPlausible) in [(0, true), (1, false), (63, false), (64, true), (65, false)] {
            #expect(try text { $0.bytes(10, [UInt8](repeating: 7, count: length)) } == isPlausible, "signature of \(length)")
        }
        for (number, isPlausible) in [(11, true), (12, true), (30, true), (31, true), (32, false), (33, false)]
            as [(UInt32, Bool)]
        {
            #expect(try text { $0.varint(number, 1) } == isPlausible, "unknown field \(number)")
        }
        for number in 3...10 as ClosedRange<UInt32> {
            #expect(try !text { $0.fixed64(number, 1) }, "\(number) with another type")
        }
        // Each field once, in order, the port first.
        #expect(try !text { $0.bytes(2, [0x61]) } && !text { $0.varint(1, 1) })
        #expect(try !content { $0.bytes(2, [0x61]) }.isPlausible)
        #expect(
            try !text { writer in
                writer.varint(9, 1)
                writer.fixed32(8, 1)
            })
    }

    @Test func `without a payload only a known port is believed, and what comes with none`() throws {
        func bare(_ port: UInt64, _ more: (inout WireWriter) -> Void = { _ in }) throws -> DataFields {
            try content {
                $0.varint(1, port)
                more(&$0)
            }
        }
        for port in 0...520 as ClosedRange<UInt32> {
            #expect(try bare(UInt64(port)).isPlausible == Port.isKnown(port), "\(port)")
            #expect(try !bare(UInt64(port)).isEvident)
        }
        #expect(!Port.isKnown(255) && Port.isKnown(256) && Port.isKnown(511) && !Port.isKnown(512) && !Port.isKnown(14))
        for number in [4, 5, 7, 8] as [UInt32] { #expect(try !bare(1) { $0.fixed32(number, 1) }.isPlausible, "\(number)") }
        #expect(try bare(1) { $0.fixed32(6, 1) }.isPlausible)
        #expect(try !bare(1) { $0.varint(11, 1) }.isPlausible)
        for (bitfield, isEvident) in [(0, true), (1, true), (15, true), (16, false), (17, false)] as [(UInt64, Bool)] {
            #expect(try bare(1) { $0.varint(9, bitfield) }.isEvident == isEvident, "bitfield \(bitfield)")
            #expect(try !bare(14) { $0.varint(9, bitfield) }.isEvident)
        }
        for isAsked in [false, true] { #expect(try bare(1) { $0.bool(3, isAsked) }.isEvident == isAsked) }
    }

    @Test func `content has a head where a payload follows a port at once`() throws {
        func hasHead(_ body: (inout WireWriter) -> Void) throws -> Bool { try content(body).hasHead }
        #expect(
            try hasHead { writer in
                writer.varint(1, 1)
                writer.bytes(2, [])
            })
        #expect(
            try !hasHead { writer in
                writer.varint(1, 0)
                writer.bytes(2, [0x61])
            })
        #expect(
            try !hasHead { writer in
                writer.varint(1, 1)
                writer.varint(3, 1)
                writer.bytes(2, [0x61])
            })
        #expect(try !hasHead { $0.bytes(2, [0x61]) })
    }

    @Test func `a broken message in any variant of a radio's frame breaks the frame, and that of a packet the packet`() throws {
        let frame = try #require(FieldTable.standard.message(named: "FromRadio"))
        for field in frame.fields {
            guard case .message = field.kind else { continue }
            let broken = PacketSeeds.encoded { $0.bytes(field.number, [0x0a, 5, 1]) }
            let kind: DecodeFailure.Kind = field.number == 2 ? .malformedPacket : .malformedFromRadio
            #expect(decoded(broken, .fromRadio).packet.failure?.kind == kind, "\(field.name)")
            let followed = broken + PacketSeeds.encoded { $0.varint(7, 1) }
            #expect(decoded(followed, .fromRadio).packet.failure?.kind == .malformedFromRadio, "\(field.name)")
        }
    }

    @Test func `of a radio's frame the last variant counts, and only one that the schema has with its type`() throws {
        let frame = try #require(FieldTable.standard.message(named: "FromRadio"))
        #expect(frame.field(16) != nil && frame.field(200) == nil)
        for number in (1...300 as ClosedRange<UInt32>) where number != 2 {
            let isNumber = number == 7 || number == 8
            let isKnown = number != 1 && frame.field(number) != nil
            let one = decoded(PacketSeeds.encoded { $0.varint(number, 1) }, .fromRadio).packet.fromRadio
            let other = decoded(PacketSeeds.encoded { $0.bytes(number, []) }, .fromRadio).packet.fromRadio
            let variant = UInt8(truncatingIfNeeded: number)
            #expect(one == (isKnown && isNumber ? variant : 0) && other == (isKnown && !isNumber ? variant : 0), "\(number)")
        }
    }

    @Test func `what a newer schema adds to a radio's frame breaks nothing and takes no packet's place`() {
        let packet = PacketSeeds.encoded { $0.message(2) { $0.fixed32(1, 0x0a00_0001) } }
        let newer = PacketSeeds.encoded { $0.bytes(200, Array("abc".utf8)) }
        for frame in [packet + newer, newer + packet] {
            let decoded = decoded(frame, .fromRadio).packet
            #expect(decoded.failure == nil && decoded.hasPacket && decoded.fromRadio == 2 && decoded.from == 0x0a00_0001)
        }
        let alone = decoded(newer, .fromRadio).packet
        #expect(alone.failure == nil && !alone.hasPacket && alone.fromRadio == 0)
    }

    // MARK: JSON

    private func parse(_ text: String) throws(JSONError) -> JSONValue { try JSONValue(parsing: Array(text.utf8).rawSpan) }

    @Test func `escaped units of UTF-16 give the text that they give everywhere, each lone surrogate replaced`() throws {
        let edges: [UInt16] = [0, 0x1f, 0x41, 0xd7ff, 0xd800, 0xd801, 0xdbff, 0xdc00, 0xdc01, 0xdfff, 0xe000, 0xfffe, 0xffff]
        func escaped(_ unit: UInt16) -> String {
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        for first in edges {
            #expect(try parse("\"\(escaped(first))\"").asString == String(decoding: [first], as: UTF16.self))
            for second in edges {
                let both = String(decoding: [first, second], as: UTF16.self)
                #expect(try parse("\"\(escaped(first))\(escaped(second))\"").asString == both, "\(first) \(second)")
                let apart = String(decoding: [first, 0x6e, second], as: UTF16.self)
                #expect(try parse("\"\(escaped(first))n\(escaped(second))\"").asString == apart, "\(first) \(second)")
            }
            // A half that no second one follows, but something like it.
            for tail in ["\\n", "\\\\u", "u"] {
                let read = try parse("\"\(escaped(first))\(tail)\"").asString
                let rest = tail == "u" ? "u" : tail == "\\n" ? "\n" : "\\u"
                #expect(read == String(decoding: [first], as: UTF16.self) + rest, "\(first) \(tail)")
            }
        }
    }

    private func packet(_ type: String, _ payload: String, _ header: String = "") -> (packet: DecodedPacket, payload: [UInt8]) {
        let text = Array(#"{"from":1,"id":2,\#(header)"payload":\#(payload),"type":"\#(type)"}"#.utf8)
        let result = decoded(text, .mqttJSON)
        return (result.packet, result.payload)
    }

    @Test(
        arguments: [
            ("2147483646.5", 2_147_483_646), ("2147483647.5", nil), ("-2147483646.5", -2_147_483_646), ("-2147483647.5", nil),
            ("1e10", nil),
            ("2147483647", .max), ("2147483648", nil), ("-2147483648", .min), ("-2147483649", nil), ("0.5", 0), ("-1.5", -1),
        ] as [(String, Int32?)])
    func `a number is cut to a whole one where that fits`(digits: String, expected: Int32?) throws {
        let positionBytes = packet("position", #"{"altitude":\#(digits)}"#).payload
        let position = try Position(decoding: positionBytes.rawSpan)
        #expect(position.altitude == expected)
    }

    @Test(
        arguments: [
            ("999.5", 3998), ("999.75", 3999), ("1000", -128), ("1000.5", -128), ("-999.75", -3999), ("-1000", -128), ("0.1", 0),
            ("0.2", 1), ("-0.3", -1),
            ("null", -128),
        ] as [(String, Int32)])
    func `decibels become quarters where they can be true`(decibels: String, quarters: Int32) throws {
        let routeBytes = packet("traceroute", #"{"snr_towards":[\#(decibels)]}"#).payload
        let route = try RouteDiscovery(decoding: routeBytes.rawSpan)
        #expect(route.snrTowards.map { Int32($0) } == [quarters])
    }

    @Test(arguments: [0, 1, 63, 64, 65, 66])
    func `lists are cut where no packet has room for more`(count: Int) throws {
        let neighbors = (0..<count).map { #"{"node_id":\#($0 + 1)}"# }.joined(separator: ",")
        let infoBytes = packet("neighborinfo", #"{"node_id":9,"neighbors":[\#(neighbors)]}"#).payload
        let info = try NeighborInfo(decoding: infoBytes.rawSpan)
        #expect(info.neighbors.count == min(count, 64))
        let names = (0..<count + 2).map { "\"!\(String(0x1000 + $0, radix: 16))\"" }.joined(separator: ",")
        let levels = (0..<count).map { "\($0)" }.joined(separator: ",")
        let text = #"{"route":[\#(names)],"snr_towards":[\#(levels)],"route_back":[\#(names)],"snr_back":[\#(levels)]}"#
        let routeBytes = packet("traceroute", text).payload
        let route = try RouteDiscovery(decoding: routeBytes.rawSpan)
        #expect(route.route == (0..<min(count, 64)).map { UInt32(0x1001 + $0) } && route.routeBack == route.route)
        #expect(route.snrTowards.map { Int($0) } == (0..<min(count, 64)).map { 4 * $0 } && route.snrBack == route.snrTowards)
    }

    @Test func `hops that are left are those at the start without those taken`() {
        for start in 0...4 {
            for away in 0...4 {
                let header = #""hop_start":\#(start),"hops_away":\#(away),"#
                let found = packet("text", "\"x\"", header).packet
                #expect(Int(found.hopStart) == start && Int(found.hopLimit) == max(start - away, 0), "\(start) \(away)")
            }
        }
    }

    @Test func `names of 64 bytes mean something, longer ones nothing`() {
        for (length, isKnown) in [(63, true), (64, true), (65, false), (66, false)] {
            let name = String(repeating: "n", count: length)
            let members = JSONValue.object([.init(name, .null)]).nameableMembers
            #expect(members?.isEmpty == !isKnown)
        }
        #expect(packet("telemetry", #"{"nothing":1}"#).packet.failure?.kind == .malformedPayload)
        #expect(packet("telemetry", #"{"temperature":1}"#).packet.failure == nil)
    }

    // MARK: Streams

    private func frame(_ body: [UInt8]) -> [UInt8] { [0x94, 0xc3, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body }

    private func pieces(_ bytes: [UInt8]) -> [StreamPiece] {
        var framer = StreamFramer()
        return framer.feed(bytes) + framer.finish()
    }

    @Test func `text without a line end is reported in parts of 1,024 bytes`() {
        for count in [1, 1023, 1024, 1025, 2048, 2049] {
            let parts = pieces([UInt8](repeating: 0x41, count: count)).map(\.bytes.count)
            let whole = [Int](repeating: 1024, count: count / 1024)
            #expect(parts == (count % 1024 == 0 ? whole : whole + [count % 1024]))
        }
    }

    @Test func `nine of ten bytes that can be printed make a text`() {
        for byte in UInt8.min...UInt8.max {
            let isPrintable = (0x20...0x7e).contains(byte) || [9, 10, 13, 0x1b].contains(byte)
            #expect(pieces([byte]).map(\.kind) == [isPrintable ? .text : .noise], "\(byte)")
        }
        for (good, bad, kind) in [(9, 1, .text), (8, 1, .noise), (18, 2, .text), (17, 2, .noise), (19, 2, .text)]
            as [(Int, Int, StreamPiece.Kind)]
        {
            let bytes = [UInt8](repeating: 0, count: bad) + [UInt8](repeating: 0x41, count: good)
            #expect(pieces(bytes).map(\.kind) == [kind], "\(good) of \(good + bad)")
        }
    }

    @Test func `frames of every length up to the limit come out whole`() {
        for length in [0, 1, 2, 3, 4, 5, 6, 7, 8, 255, 256, 511, 512] {
            let body = [UInt8](repeating: 0x20, count: length)
            let found = pieces(frame(body) + frame([0x20, 1]))
            #expect(found.map(\.kind) == [.frame, .frame] && found[0].bytes == body && found[0].offset == 0, "\(length)")
            #expect(found.last?.offset == length + 4)
        }
        #expect(!pieces(frame([UInt8](repeating: 0x20, count: 513))).contains { $0.kind == .frame })
    }

    @Test func `a frame ends where the next begins, after whichever byte it was cut`() {
        let body = PacketSeeds.encoded { $0.bytes(2, [UInt8](repeating: 0x41, count: 40)) }
        let other = PacketSeeds.encoded { $0.bytes(2, [UInt8](repeating: 0x42, count: 60)) }
        // Where less is lost than a header is long, the next one is not whole inside of the frame.
        for kept in 1...body.count - 4 {
            let found = pieces(frame(body).prefix(4 + kept) + frame(other) + frame([0x20, 1]))
            #expect(found.map(\.kind) == [.frame, .frame, .frame], "\(kept)")
            #expect(found.map(\.bytes) == [Array(body.prefix(kept)), other, [0x20, 1]], "\(kept)")
        }
    }

    @Test func `a whole message that holds a frame is one frame`() {
        // What is inside is as likely a frame as what is outside: the message that a header follows is the frame.
        for padding in [0, 1, 2, 7] {
            let inner = [UInt8](repeating: 0x41, count: padding) + frame([0x20, 1]) + [UInt8](repeating: 0x42, count: padding)
            let body = PacketSeeds.encoded { $0.bytes(2, inner) }
            for tail in [frame([0x20, 1]), [], Array("text\n".utf8)] {
                let found = pieces(frame(body) + tail)
                #expect(found.first?.kind == .frame && found.first?.bytes == body, "\(padding) \(tail)")
            }
        }
    }
}
