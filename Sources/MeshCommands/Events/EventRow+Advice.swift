import MeshLedger
import Meshtastic

extension EventRow {
    /// Suggests how to open a packet that no known key opens.
    var advice: String? {
        guard let packet, packet.hasPacket, !packet.opening.isReadable else { return nil }
        // The JSON form is not encrypted: what cannot be read has a type that the firmware did not know at that time.
        if packet.opening != .invalid, CaptureForm(rawValue: header.encoding.rawValue) == .mqttJSON {
            return "no key is missing: it is unencrypted JSON of an unknown type, or without content"
        }
        guard packet.opening == .opaque else { return nil }
        // A direct message under a private key has no channel hash.
        if packet.channel == 0, packet.to != NodeID.broadcast {
            let node = NodeID.text(packet.to)
            return "the private key of \(node) would open it: `meshledger keys add --private-key - --node \(node)`"
        }
        guard knownChannels.isEmpty else {
            return
                "its hash \(packet.channel) is that of \(knownChannels.joined(separator: ", ")), whose key is known and does not open it: it is damaged, or of "
                + "another channel with that hash" + called + "; that one's key: `meshledger keys add NAME --psk KEY`"
        }
        let name = gatewayChannel.isEmpty ? "NAME" : gatewayChannel.quotedForShell
        return "its channel's key would open it: `meshledger keys add \(name) --psk KEY`\(called)"
    }

    private var called: String { gatewayChannel.isEmpty ? "" : "; its gateway calls the channel \(gatewayChannel)" }
}
