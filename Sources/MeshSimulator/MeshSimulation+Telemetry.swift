import Meshtastic
import ProtobufWire

extension MeshSimulation {
    mutating func composeTelemetry(_ index: Int) {
        nodes[index].uptime &+= 60 + random.below(900)
        if random.chance(10) { nodes[index].battery = 20 + random.below(82) }
        let node = nodes[index]
        content.port = Port.telemetry
        let isNoNumber = isOdd && random.chance(50)
        let stamp = isOdd && !isNoNumber ? random.pick(Self.wrongClocks) : now &- random.below(20)
        if stamp != 0 { content.payload.fixed32(1, stamp) }
        let kind = kindOfTelemetry(node)
        if isNoNumber, kind == 3 {
            composeEnvironment(temperature: random.pick([.nan, .infinity, -.infinity]))
        } else {
            compose(kind, node)
        }
        content.row = .telemetry(kind: kind, isFinite: !(isNoNumber && kind == 3))
        if isNoNumber, kind != 3 { breakPayload() }
    }

    /// The field number of the metrics: mostly device metrics, sensor metrics if the node has sensors.
    private mutating func kindOfTelemetry(_ node: SimulatedNode) -> UInt32 {
        let dice = random.below(node.hasSensors ? 100 : 60)
        switch dice {
        case 0..<9: return 6
        case 9..<11: return 9
        case 11..<15 where node.isHost: return 8
        case 60..<78: return 3
        case 78..<86: return 5
        case 86..<92: return 4
        case 92..<95: return 7
        default: return 2
        }
    }

    private mutating func compose(_ kind: UInt32, _ node: SimulatedNode) {
        switch kind {
        case 3: composeEnvironment(temperature: Float(random.between(-1_500, 3_800)) / 100)
        case 4: composeAirQuality()
        case 5: content.payload.message(5) { $0.float(1, Float(3_300 + Int(node.battery)) / 1_000) }
        case 6: composeLocalStatistics(node)
        case 7: composeHealth()
        case 8: composeHost(node)
        case 9: composeTraffic()
        default: composeDevice(node)
        }
    }

    private mutating func composeDevice(_ node: SimulatedNode) {
        let load = Float(random.below(2_500)) / 100
        content.payload.message(2) { metrics in
            metrics.varint(1, UInt64(node.battery))
            metrics.float(2, Float(3_300 + 8 * Int(min(node.battery, 100))) / 1_000)
            metrics.float(3, load)
            metrics.float(4, load / 8)
            metrics.varint(5, UInt64(node.uptime))
        }
    }

    private mutating func composeEnvironment(temperature: Float) {
        let humidity = Float(random.below(10_000)) / 100
        content.payload.message(3) { metrics in
            metrics.float(1, temperature)
            metrics.float(2, humidity)
            metrics.float(3, 960 + humidity / 2)
        }
    }

    private mutating func composeAirQuality() {
        let dust = random.below(80)
        content.payload.message(4) { metrics in
            metrics.varint(1, UInt64(dust))
            metrics.varint(2, UInt64(dust) * 2)
            metrics.varint(3, UInt64(dust) * 3)
            metrics.varint(13, 420 + UInt64(dust) * 4)
        }
    }

    private mutating func composeLocalStatistics(_ node: SimulatedNode) {
        let sent = random.below(5_000)
        content.payload.message(6) { metrics in
            metrics.varint(1, UInt64(node.uptime))
            metrics.float(2, Float(sent % 40))
            metrics.varint(4, UInt64(sent))
            metrics.varint(5, UInt64(sent) * 7)
        }
    }

    private mutating func composeHealth() {
        let pulse = 52 + random.below(90)
        content.payload.message(7) { metrics in
            metrics.varint(1, UInt64(pulse))
            metrics.varint(2, 93 + UInt64(pulse % 7))
            metrics.float(3, 36 + Float(pulse % 20) / 10)
        }
    }

    private mutating func composeHost(_ node: SimulatedNode) {
        let load = random.below(300)
        content.payload.message(8) { metrics in
            metrics.varint(1, UInt64(node.uptime))
            metrics.varint(2, 180_000_000 + UInt64(load) * 1_000)
            metrics.varint(3, 9_000_000_000 - UInt64(load) * 100_000)
            metrics.varint(6, UInt64(load))
            metrics.varint(7, UInt64(load) / 2)
            metrics.varint(8, UInt64(load) / 3)
        }
    }

    private mutating func composeTraffic() {
        let seen = random.below(9_000)
        content.payload.message(9) { metrics in
            metrics.varint(1, UInt64(seen))
            metrics.varint(2, UInt64(seen) / 20)
            metrics.varint(4, UInt64(seen) / 90)
        }
    }
}
