import ProtobufWire
import Testing

@testable import Meshtastic

/// Each field of each payload, alone, as the schema has it.
@Suite struct PayloadFieldTests {
    /// A message, and what comes out when its bytes are decoded and encoded again.
    private struct Payload: Sendable {
        let name: String
        let again: @Sendable ([UInt8]) throws -> [UInt8]
        /// Fields that nobody here reads.
        let unread: Set<String>

        init(_ name: String, unread: Set<String> = [], _ again: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
            (self.name, self.again, self.unread) = (name, again, unread)
        }
    }

    private static let payloads = [
        Payload("Position") { PacketSeeds.encoded(try Position(decoding: $0.rawSpan).encode) },
        Payload("User") { PacketSeeds.encoded(try User(decoding: $0.rawSpan).encode) },
        Payload("Routing", unread: ["ack_proof"]) { PacketSeeds.encoded(try Routing(decoding: $0.rawSpan).encode) },
        Payload("RouteDiscovery") { PacketSeeds.encoded(try RouteDiscovery(decoding: $0.rawSpan).encode) },
        Payload("NeighborInfo") { PacketSeeds.encoded(try NeighborInfo(decoding: $0.rawSpan).encode) },
        Payload("Waypoint") { PacketSeeds.encoded(try Waypoint(decoding: $0.rawSpan).encode) },
        Payload("MapReport") { PacketSeeds.encoded(try MapReport(decoding: $0.rawSpan).encode) },
        Payload("Paxcount") { PacketSeeds.encoded(try Paxcount(decoding: $0.rawSpan).encode) },
        Payload("StoreAndForward", unread: ["original_id"]) {
            PacketSeeds.encoded(try StoreAndForward(decoding: $0.rawSpan).encode)
        },
        Payload("StatusMessage") { PacketSeeds.encoded(try StatusMessage(decoding: $0.rawSpan).encode) },
        Payload("NodeInfo", unread: ["heard_on_current_lora"]) { PacketSeeds.encoded(try NodeInfo(decoding: $0.rawSpan).encode) },
        Payload("MyNodeInfo") { PacketSeeds.encoded(try MyNodeInfo(decoding: $0.rawSpan).encode) },
        Payload(
            "DeviceMetadata",
            unread: [
                "device_state_version", "canShutdown", "hasWifi", "hasBluetooth", "hasEthernet", "position_flags",
                "hasRemoteHardware",
                "hasPKC", "excluded_modules", "has_xeddsa",
            ]
        ) { PacketSeeds.encoded(try DeviceMetadata(decoding: $0.rawSpan).encode) },
    ]

    /// The field with a value of its kind: the least that is not 0, others, the most; of a nested message, each of its fields in turn.
    private static func samples(_ field: FieldDescription) -> [[UInt8]] {
        let number = field.number
        func varints(_ values: [UInt64]) -> [[UInt8]] {
            values.map { value in
                PacketSeeds.encoded { field.isRepeated ? $0.packedVarint(number, [value, 3]) : $0.varint(number, value) }
            }
        }
        func fixed(_ values: [UInt32]) -> [[UInt8]] {
            values.map { value in
                PacketSeeds.encoded { field.isRepeated ? $0.packedFixed32(number, [value, 3]) : $0.fixed32(number, value) }
            }
        }
        switch field.kind {
        case .bool: return varints([1])
        case .int32, .int64: return varints([1, 2, UInt64(Int32.max), UInt64(bitPattern: -1)])
        case .uint32, .uint64, .sint32, .sint64: return varints([1, 2, 127, 128, UInt64(UInt32.max)])
        case .enumeration: return varints([1, 2, 255])
        case .fixed32, .sfixed32: return fixed([1, 2, UInt32(Int32.max), .max])
        case .float: return fixed([1, Float(-6.25).bitPattern])
        case .fixed64, .sfixed64, .double: return [PacketSeeds.encoded { $0.fixed64(number, 1) }]
        case .string: return ["a", "naïve ⛵"].map { text in PacketSeeds.encoded { $0.string(number, text) } }
        case .bytes: return [[0], [1, 2, 3]].map { bytes in PacketSeeds.encoded { $0.bytes(number, bytes) } }
        case .message(let place):
            return FieldTable.standard.messages[place].fields.flatMap(samples).map { inner in
                PacketSeeds.encoded { $0.bytes(number, inner) }
            }
        }
    }

    @Test func `every field of the schema comes back from every payload as it was, alone and beside all others`() throws {
        for payload in Self.payloads {
            let message = try #require(FieldTable.standard.message(named: payload.name))
            var unread: Set<String> = []
            for field in message.fields {
                let samples = Self.samples(field)
                let again = try samples.map(payload.again)
                if again.allSatisfy(\.isEmpty) {
                    unread.insert(field.name)
                } else {
                    #expect(again == samples, "\(payload.name).\(field.name)")
                }
            }
            #expect(unread == payload.unread, "\(payload.name)")
            let read = message.fields.filter { !unread.contains($0.name) && $0.oneof == nil }
            let all = read.flatMap { Self.samples($0).last ?? [] }
            #expect(try payload.again(all) == all, "\(payload.name)")
        }
    }

    @Test func `numbers that came one by one are those that came packed`() throws {
        let message = try #require(FieldTable.standard.message(named: "RouteDiscovery"))
        for field in message.fields {
            let isFixed = field.kind == .fixed32
            let packed = PacketSeeds.encoded {
                if isFixed { $0.packedFixed32(field.number, [1, 0, .max]) } else { $0.packedInt32(field.number, [1, 0, -128]) }
            }
            let single = PacketSeeds.encoded { writer in
                if isFixed {
                    for value in [1, 0, UInt32.max] { writer.fixed32(field.number, value) }
                } else {
                    for value in [1, 0, -128] as [Int32] { writer.int32(field.number, value) }
                }
            }
            #expect(try RouteDiscovery(decoding: single.rawSpan) == RouteDiscovery(decoding: packed.rawSpan), "\(field.name)")
            #expect(try RouteDiscovery(decoding: single.rawSpan) != RouteDiscovery())
        }
    }

    /// A packet's header with one field, and that of its content, at the least value that is not 0, and at the most.
    @Test func `every field of a packet is in the envelope that is made of it`() throws {
        let limits: [String: [UInt64]] = [
            "priority": [1, 127], "hop_limit": [1, 7], "hop_start": [1, 7], "next_hop": [1, 255], "relay_node": [1, 255],
            "transport_mechanism": [1, 7], "channel": [1, 255], "bitfield": [1, 255],
        ]
        func values(_ field: FieldDescription) -> [[UInt8]] {
            if field.name == "xeddsa_signature" {
                return [PacketSeeds.encoded { $0.bytes(10, [UInt8](repeating: 7, count: 64)) }]
            }
            guard let values = limits[field.name] else { return Self.samples(field) }
            return values.map { value in PacketSeeds.encoded { $0.varint(field.number, value) } }
        }
        let left: Set<String> = [
            "decoded", "encrypted", "public_key", "pki_encrypted", "tx_after", "delayed", "portnum", "dest", "source",
            "xeddsa_signed", "ack_proof_status", "slot_parity",
        ]
        let packet = try #require(FieldTable.standard.message(named: "MeshPacket"))
        let data = try #require(FieldTable.standard.message(named: "Data"))
        func check(_ bytes: [UInt8], _ what: String) {
            let envelope = Sample.envelope(bytes)
            let (decodedPacket, _, batch) = decoded(envelope, .serviceEnvelope, Keyring())
            #expect(batch.envelope(of: decodedPacket) == envelope, "\(what)")
        }
        let text: [UInt8] = PacketSeeds.encoded { $0.uint32(1, Port.text) } + PacketSeeds.encoded { $0.string(2, "hello") }
        for (place, content) in [(4, text), (5, [UInt8](repeating: 0x99, count: 20))] as [(UInt32, [UInt8])] {
            let middle = PacketSeeds.encoded { $0.bytes(place, content) }
            for field in packet.fields where !left.contains(field.name) {
                for value in values(field) {
                    check(field.number < place ? value + middle : middle + value, "\(field.name) \(place)")
                }
            }
            check(middle, "nothing else")
        }
        for field in data.fields where !left.contains(field.name) && field.number > 2 {
            for value in values(field) { check(PacketSeeds.encoded { $0.bytes(4, text + value) }, field.name) }
        }
    }

    private static let shapes: [(MessageShape, String)] = [
        (.hardwareMessage, "HardwareMessage"), (.position, "Position"), (.user, "User"), (.routing, "Routing"),
        (.routeDiscovery, "RouteDiscovery"), (.waypoint, "Waypoint"), (.keyVerification, "KeyVerification"),
        (.remoteShell, "RemoteShell"), (.paxcount, "Paxcount"), (.storeForwardPlusPlus, "StoreForwardPlusPlus"),
        (.statusMessage, "StatusMessage"), (.meshBeacon, "MeshBeacon"), (.storeAndForward, "StoreAndForward"),
        (.statistics, "StoreAndForward.Statistics"), (.history, "StoreAndForward.History"),
        (.heartbeat, "StoreAndForward.Heartbeat"), (.telemetry, "Telemetry"), (.deviceMetrics, "DeviceMetrics"),
        (.environmentMetrics, "EnvironmentMetrics"), (.airQualityMetrics, "AirQualityMetrics"), (.powerMetrics, "PowerMetrics"),
        (.localStats, "LocalStats"), (.healthMetrics, "HealthMetrics"), (.hostMetrics, "HostMetrics"),
        (.trafficStats, "TrafficManagementStats"), (.soilWaterMetrics, "SoilWaterMetrics"), (.boundingBox, "BoundingBox"),
        (.compressed, "Compressed"), (.neighborInfo, "NeighborInfo"), (.neighbor, "Neighbor"), (.mapReport, "MapReport"),
    ]

    @Test func `what makes a payload believable is what the schema says of its fields`() throws {
        for (shape, name) in Self.shapes {
            let message = try #require(FieldTable.standard.message(named: name), "\(name)")
            let fields = shape.fields
            var (varints, fixed32s, lengths, nested): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            for field in message.fields where field.number <= fields.highest {
                let bit: UInt64 = 1 << UInt64(field.number)
                if field.kind.wireType == .varint { varints |= bit }
                if field.kind.wireType == .fixed32 { fixed32s |= bit }
                if field.kind.wireType == .lengthDelimited { lengths |= bit }
                if case .message = field.kind { nested |= bit }
                if field.isRepeated { (lengths, nested) = (lengths | bit, nested | bit) }
            }
            #expect((fields.varints, fields.fixed32s) == (varints, fixed32s), "\(name)")
            // A kind of metrics with the number that is left out would be of a later firmware.
            let later: UInt64 = name == "Telemetry" ? 1 << 10 : 0
            #expect((fields.lengths, fields.nested) == (lengths | later, nested), "\(name)")
            // Any field of up to 16 numbers above is believable, too, as one of a later firmware.
            let last = try #require(message.fields.map(\.number).max())
            #expect(message.field(fields.highest) != nil && last <= fields.highest + 16, "\(name)")
            for number in 0...fields.highest {
                #expect(Self.inside(shape, number) == Self.inside(message.field(number)), "\(name) \(number)")
            }
        }
        // Of these only the numbers count: an administrator's message may have fields of every type and some of later firmware, and a message that is not known may have any port's number.
        let admin = try #require(FieldTable.standard.message(named: "AdminMessage"))
        #expect(MessageShape.admin.fields.highest == admin.fields.map { $0.number + 15 }.max())
        #expect(MessageShape.anyMessage.fields.highest == Port.highest)
        #expect(Set(Self.shapes.map(\.0)).count + 2 == (0...UInt8.max).count { MessageShape(rawValue: $0) != nil })
    }

    @Test func `a field of a payload is believed with the type that it has, and with no other`() throws {
        for (shape, name) in Self.shapes {
            let fields = shape.fields
            func isBelieved(_ body: (inout WireWriter) -> Void) throws -> Bool {
                let bytes = PacketSeeds.encoded(body)
                return try PayloadCheck.isPlausible(shape, bytes.rawSpan, ByteRange(truncating: 0, bytes.count))
            }
            for number in 1...min(fields.highest, 63) {
                let bit: UInt64 = 1 << UInt64(number)
                #expect(try isBelieved { $0.varint(number, 1) } == (fields.varints & bit != 0), "\(name) \(number)")
                #expect(try isBelieved { $0.fixed32(number, 1) } == (fields.fixed32s & bit != 0), "\(name) \(number)")
                #expect(try isBelieved { $0.bytes(number, []) } == (fields.lengths & bit != 0), "\(name) \(number)")
            }
        }
    }

    @Test func `an administrator's message may have a number, a fixed number or bytes in any of its fields`() throws {
        for number in 1...63 as ClosedRange<UInt32> {
            for body in [{ $0.varint(number, 1) }, { $0.fixed32(number, 1) }, { $0.bytes(number, []) }]
                as [(inout WireWriter) -> Void]
            {
                let bytes = PacketSeeds.encoded(body)
                #expect(
                    try PayloadCheck.isPlausible(.admin, bytes.rawSpan, ByteRange(truncating: 0, bytes.count)), "\(number)")
            }
        }
    }

    @Test func `each port has the number that the schema gives its name`() {
        for (port, name) in [
            (Port.text, "TEXT_MESSAGE_APP"), (Port.remoteHardware, "REMOTE_HARDWARE_APP"), (Port.position, "POSITION_APP"),
            (Port.nodeInfo, "NODEINFO_APP"), (Port.routing, "ROUTING_APP"), (Port.admin, "ADMIN_APP"),
            (Port.waypoint, "WAYPOINT_APP"), (Port.detectionSensor, "DETECTION_SENSOR_APP"), (Port.alert, "ALERT_APP"),
            (Port.keyVerification, "KEY_VERIFICATION_APP"), (Port.remoteShell, "REMOTE_SHELL_APP"), (Port.reply, "REPLY_APP"),
            (Port.paxcounter, "PAXCOUNTER_APP"), (Port.storeForwardPlusPlus, "STORE_FORWARD_PLUSPLUS_APP"),
            (Port.nodeStatus, "NODE_STATUS_APP"), (Port.meshBeacon, "MESH_BEACON_APP"),
            (Port.storeForward, "STORE_FORWARD_APP"), (Port.rangeTest, "RANGE_TEST_APP"), (Port.telemetry, "TELEMETRY_APP"),
            (Port.simulator, "SIMULATOR_APP"), (Port.traceroute, "TRACEROUTE_APP"), (Port.neighborInfo, "NEIGHBORINFO_APP"),
            (Port.atakPlugin, "ATAK_PLUGIN"), (Port.mapReport, "MAP_REPORT_APP"), (Port.powerStress, "POWERSTRESS_APP"),
            (Port.highest, "MAX"),
        ] { #expect(FieldTable.portName(port) == name) }
    }

    /// What a shape says of the inside of a field, in words.
    private static func inside(_ shape: MessageShape, _ number: UInt32) -> String {
        switch shape.inside(number) {
        case .message(let nested): shapes.first { $0.0 == nested }?.1 ?? "any message"
        case .packedFixed32: "packed fixed32"
        case .packedVarints: "packed varints"
        case .bytes: "bytes"
        }
    }

    /// What the schema says of it, in the same words.
    private static func inside(_ field: FieldDescription?) -> String {
        guard let field else { return "bytes" }
        if case .message(let place) = field.kind {
            let name = FieldTable.standard.messages[place].name
            return shapes.contains { $0.1 == name } ? name : "any message"
        }
        guard field.isRepeated else { return "bytes" }
        return field.kind.wireType == .fixed32 ? "packed fixed32" : "packed varints"
    }
}
