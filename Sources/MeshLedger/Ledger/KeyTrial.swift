import EventLog
import Meshtastic

/// How many stored packets a key would open, see `Ledger.Keys.trial`.
public struct KeyTrial: Sendable, Hashable {
    /// Encrypted packets that no known key opens.
    public var unreadable = 0
    /// Those of them that it opens, whatever their channel's hash.
    public var opened = 0
}

extension Ledger.Keys {
    private static let packetsAtOnce = 4_096

    /// Tries keys on the stored packets that no known key opens, without keeping them.
    ///
    /// ```swift
    /// let trial = try ledger.keys.trial(of: .addChannels([ChannelKey(name: "Harbour", base64: psk)]))
    /// print("opens \(trial.opened) of \(trial.unreadable)")
    /// ```
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func trial(of change: KeyringChange) throws(LedgerError) -> KeyTrial {
        var keyring = keyring
        _ = change.apply(to: &keyring)
        let reader = try PacketReader(ledger, ledger.openingKnowledge(with: keyring))
        var (trial, waiting) = (KeyTrial(), [EventSequence]())
        func count() throws {
            try reader.forEachReception(at: waiting) { packet, header in
                if CaptureForm(rawValue: header.encoding.rawValue) == .mqttJSON { return }  // it came unencrypted
                trial.unreadable += 1
                if packet.opening.isReadable { trial.opened += 1 }
            }
            waiting.removeAll(keepingCapacity: true)
        }
        try ledger.wrappingErrors {
            try ledger.forEachIndexedEvent { event in
                guard event.hasPacket, event.isFirstReception, event.port == nil else { return }
                waiting.append(EventSequence(event.sequence))
                if waiting.count == Self.packetsAtOnce { try count() }
            }
            try count()
        }
        return trial
    }
}
