import EventLog
import MeshViews
import Meshtastic

/// How many stored packets a key would open, see `Ledger.trial`.
public struct KeyTrial: Sendable, Hashable {
    /// Packets that no known key opens, and that this one might: those with the hash of its channel, or direct messages.
    public var candidates = 0
    /// Those of them that it opens.
    public var opened = 0
}

extension Ledger {
    private static let packetsAtOnce = 4_096

    /// Tries keys on the stored packets that no known key opens, without keeping them.
    ///
    /// ```swift
    /// let trial = try ledger.trial(of: .addChannels([ChannelKey(name: "Harbour", base64: psk)]))
    /// print("opens \(trial.opened) of \(trial.candidates)")
    /// ```
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func trial(of change: KeyringChange) throws(LedgerError) -> KeyTrial {
        let hashes: Set<UInt32>
        switch change {
        case .addChannels(let channels): hashes = Set(channels.map { UInt32($0.hash) })
        case .addPrivateKey: hashes = [0]
        case .removeChannels, .removePrivateKeys: return KeyTrial()
        }
        var keyring = keyring
        _ = change.apply(to: &keyring)
        let titles = Set(hashes.map { ChannelIdentity.title(ofHash: $0) })
        let reader = try PacketReader(self, openingKnowledge(with: keyring))
        var (trial, waiting) = (KeyTrial(), [EventSequence]())
        func count() throws {
            try reader.forEachReception(at: waiting) { packet, header in
                if CaptureForm(rawValue: header.encoding.rawValue) == .mqttJSON { return }  // it came unencrypted
                trial.candidates += 1
                if packet.opening.isReadable { trial.opened += 1 }
            }
            waiting.removeAll(keepingCapacity: true)
        }
        do {
            try forEachIndexedEvent { event in
                guard event.hasPacket, event.isFirstReception, event.port == nil, titles.contains(event.channel) else { return }
                waiting.append(EventSequence(event.sequence))
                if waiting.count == Self.packetsAtOnce { try count() }
            }
            try count()
        } catch {
            throw LedgerError(error, path: path)
        }
        return trial
    }
}
