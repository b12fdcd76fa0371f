import Meshtastic

extension EventRow {
    /// What would open a packet that no known key opens.
    var advice: String? {
        guard let packet, packet.opening == .opaque else { return nil }
        // A direct message under a private key has no channel's hash.
        if packet.channel == 0, packet.to != NodeID.broadcast {
            let node = NodeID.text(packet.to)
            return "the private key of \(node) would open it: `meshledger keys add --private-key - --node \(node)`"
        }
        let name = gatewayChannel.isEmpty ? "NAME" : gatewayChannel.quotedForShell
        let called = gatewayChannel.isEmpty ? "" : "; its gateway calls the channel \(gatewayChannel)"
        return "its channel's key would open it: `meshledger keys add \(name) --psk KEY`\(called)"
    }
}
