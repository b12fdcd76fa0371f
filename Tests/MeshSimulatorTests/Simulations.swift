import MeshCrypto
import MeshSimulator
import Meshtastic
import ProtobufWire
import Testing

struct Simulations {
    private func bytes(_ options: SimulationOptions, _ count: Int) -> [UInt8] {
        var mesh = MeshSimulation(options)
        return (0..<count).flatMap { _ in mesh.next().envelope }
    }

    @Test func `a seed gives the same bytes, another seed others`() {
        let first = bytes(SimulationOptions(seed: 5, nodes: 30), 2_000)
        #expect(first == bytes(SimulationOptions(seed: 5, nodes: 30), 2_000))
        #expect(first != bytes(SimulationOptions(seed: 6, nodes: 30), 2_000))
        #expect(XXH3.hash(first) == 16_427_653_166_412_525_576)
    }

    @Test(arguments: [0, 10, 200] as [UInt32]) func `what is reported about the traffic is what a decoder finds`(bad: UInt32) {
        var mesh = MeshSimulation(SimulationOptions(seed: 3, nodes: 40, badPerMille: bad))
        var keyring = Keyring.standard
        for key in MeshSimulation.harbour.channels { keyring.add(key) }
        let opener = PacketOpener(keyring: keyring)
        var batch = PacketBatch()
        var seen: Set<UInt64> = []
        var ports: [UInt32: Int] = [:]
        var (damaged, opaque, encrypted) = (0, 0, 0)
        for _ in 0..<20_000 {
            batch.removeAll()
            opener.decode(mesh.next().envelope.rawSpan, form: .serviceEnvelope, into: &batch)
            let packet = batch.packets[0]
            guard packet.opening != .invalid else {
                damaged += 1
                continue
            }
            guard packet.id == 0 || seen.insert(UInt64(packet.from) << 32 | UInt64(packet.id)).inserted else { continue }
            if packet.id == 0 { #expect(packet.port == Port.mapReport) }
            if packet.opening.isReadable { ports[packet.port, default: 0] += 1 } else { opaque += 1 }
            if packet.opening != .decoded { encrypted += 1 }
        }
        let truth = mesh.truth
        #expect(truth.events == 20_000 && truth.receptions == 20_000 - damaged)
        #expect(truth.unreadablePackets == opaque)
        #expect(truth.packetsByPort == ports)
        #expect(truth.packets == opaque + ports.values.reduce(0, +))
        #expect(truth.encryptedPackets == encrypted)
        #expect((damaged > 0) == (bad > 0))
    }

    @Test func `no options crash a simulation, whatever they say`() {
        var all: [SimulationOptions] = []
        for start in [0, 5, .max - 1_000, .max] as [UInt32] {
            all.append(SimulationOptions(nodes: 20, startTime: start, badPerMille: 300))
        }
        for (nodes, gateways) in [(0, 1), (-5, -5), (20, 0), (20, 1_000), (1, .max), (.min, .min)] {
            var options = SimulationOptions()
            (options.nodes, options.gateways) = (nodes, gateways)
            all.append(options)
        }
        var options = SimulationOptions(nodes: 20)
        (options.intervalMilliseconds, options.badPerMille, options.encryptedPercent) = (.max, .max, .max)
        all.append(options)
        (options.intervalMilliseconds, options.badPerMille, options.encryptedPercent) = (0, 0, 0)
        all.append(options)
        for options in all {
            var mesh = MeshSimulation(options)
            var bytes: [UInt8] = []
            for _ in 0..<2_000 {
                let reception = mesh.next()
                for format in SimulationFormat.allCases { _ = SimulationFile(format).append(reception, to: &bytes) }
                bytes.removeAll(keepingCapacity: true)
            }
            #expect(mesh.truth.events == 2_000 && mesh.options.nodes >= 2, "\(options)")
        }
    }

    @Test func `most packets are encrypted by default, and ids are random`() {
        var mesh = MeshSimulation()
        for _ in 0..<20_000 { _ = mesh.next() }
        #expect(mesh.truth.encryptedPackets * 100 >= mesh.truth.packets * 60)
        #expect(Set(mesh.truth.telemetry.keys) == Set(2...9))
    }

    @Test(arguments: SimulationFormat.allCases) func `every format has records`(format: SimulationFormat) {
        var mesh = MeshSimulation(SimulationOptions(seed: 2, nodes: 20))
        var bytes: [UInt8] = []
        var records = 0
        for _ in 0..<500 where SimulationFile(format).append(mesh.next(), to: &bytes) { records += 1 }
        #expect(records > (format == .mqttJSON ? 100 : 480))
        #expect(bytes.count > records * 40)
    }
}
