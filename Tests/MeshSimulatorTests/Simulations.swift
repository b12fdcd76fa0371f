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
        #expect(XXH3.hash(first) == 17_347_179_350_645_291_332)
    }

    @Test func `what is told about the traffic is what a decoder finds`() {
        var mesh = MeshSimulation(SimulationOptions(seed: 3, nodes: 40, badPerMille: 0))
        var keyring = Keyring.standard
        for key in MeshSimulation.harbour.channels { keyring.add(key) }
        let opener = PacketOpener(keyring: keyring)
        var batch = PacketBatch()
        for _ in 0..<20_000 { opener.decode(mesh.next().envelope.rawSpan, form: .serviceEnvelope, into: &batch) }
        var seen: Set<UInt64> = []
        var ports: [UInt32: Int] = [:]
        var opaque = 0
        for packet in batch.packets {
            #expect(packet.failure == nil)
            guard seen.insert(UInt64(packet.from) << 32 | UInt64(packet.id)).inserted else { continue }
            if packet.isReadable { ports[packet.port, default: 0] += 1 } else { opaque += 1 }
        }
        let truth = mesh.truth
        #expect(truth.receptions == 20_000)
        #expect(seen.count == truth.packets || seen.count == truth.packets - 1)
        #expect(abs(opaque - truth.foreignPackets) <= 1)
        #expect(ports.values.reduce(0, +) + opaque == seen.count)
        #expect(Set(ports.keys) == Set(truth.packetsByPort.keys))
        #expect(truth.encryptedPackets * 100 >= truth.packets * 60)
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
