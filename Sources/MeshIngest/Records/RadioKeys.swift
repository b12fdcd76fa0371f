public import Meshtastic

/// The channel keys that radios reported, collected before their frames are masked and stored.
///
/// A radio reports its channels first and the modem preset, which names a channel without a name, later; so names are resolved at the end.
public struct RadioKeys: Sendable, Equatable {
    /// Further keys are not collected: a file must not fill memory.
    static let mostChannels = 1_024

    private var frames: [ChannelFrame] = []
    private var modemPreset: UInt32 = 0

    public init() {}

    public mutating func add(_ findings: SecretMask.Findings) {
        for frame in findings.channels { add(frame) }
        if let preset = findings.modemPreset { modemPreset = preset }
    }

    public mutating func merge(_ other: RadioKeys) {
        for frame in other.frames { add(frame) }
        if other.modemPreset != 0 { modemPreset = other.modemPreset }
    }

    /// A masked key is all zeros; a disabled channel has no key; a secondary channel without one has that of the primary.
    private mutating func add(_ frame: ChannelFrame) {
        let isKnown = frame.psk.contains { $0 != 0 } || (frame.psk.isEmpty && frame.role == 2)
        guard frame.role != 0, isKnown, frame.psk.count <= 32, !frames.contains(frame), frames.count < Self.mostChannels
        else { return }
        frames.append(frame)
    }

    /// The keys, each once, in the order in which they were reported.
    public var channels: [ChannelKey] {
        var keyring = Keyring()
        var primary: [UInt8] = []
        for frame in frames {
            if frame.role == 1 { primary = frame.psk }
            let psk = frame.psk.isEmpty ? primary : frame.psk
            let name = frame.name.isEmpty ? Keyring.presetName(modemPreset) : frame.name
            guard !psk.isEmpty, let name else { continue }
            let key = try? ChannelKey(name: name, psk: psk, isAEAD: frame.isAEAD)  // 32 bytes at most
            if let key { keyring.add(key) }
        }
        return keyring.channels
    }
}
