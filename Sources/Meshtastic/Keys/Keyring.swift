internal import MeshCrypto

/// All keys that packets are tried with. A value: changing one makes another keyring with another fingerprint.
///
/// ```swift
/// var keyring = Keyring.standard
/// keyring.add(try ChannelKey(name: "Harbour", base64: "AQ=="))
/// try await ledger.keys.set(keyring)
/// ```
public struct Keyring: Sendable, Hashable {
    /// At most 65,534, in the order in which they were added.
    public private(set) var channels: [ChannelKey]
    public private(set) var privateKeys: [PrivateKey]

    public init(channels: [ChannelKey] = [], privateKeys: [PrivateKey] = []) {
        self.channels = []
        self.privateKeys = []
        for channel in channels { add(channel) }
        for key in privateKeys { add(key) }
    }

    /// By their numbers in `LoRaConfig.ModemPreset`, in the order in which their channels are tried.
    private static let presets: KeyValuePairs<UInt32, String> = [
        0: "LongFast", 1: "LongSlow", 7: "LongMod", 9: "LongTurbo", 4: "MediumFast", 3: "MediumSlow", 16: "MediumTurbo",
        6: "ShortFast", 5: "ShortSlow", 8: "ShortTurbo", 10: "LiteFast", 11: "LiteSlow", 12: "NarrowFast", 13: "NarrowSlow",
        14: "TinyFast", 15: "TinySlow",
    ]

    /// The names of modem presets, which are the names of channels without a name.
    public static let presetNames = presets.map(\.value)

    /// The name of a modem preset by its number in `LoRaConfig.ModemPreset`; nil for a preset without a channel name.
    public static func presetName(_ number: UInt32) -> String? { presets.first { $0.key == number }?.value }

    /// Every modem preset's name under the default key: the devices' default.
    public static let standard = Keyring(channels: presetNames.map { ChannelKey(name: $0, checked: [1]) })

    /// Adds a channel; does nothing if the same name and key with the same encryption exist already.
    /// - Returns: whether it was added.
    @discardableResult
    public mutating func add(_ channel: ChannelKey) -> Bool {
        guard channels.count < Int(UInt16.max) - 1,
            !channels.contains(where: { $0.name == channel.name && $0.key == channel.key && $0.isAEAD == channel.isAEAD })
        else { return false }
        channels.append(channel)
        return true
    }

    @discardableResult
    public mutating func add(_ key: PrivateKey) -> Bool {
        guard !privateKeys.contains(key) else { return false }
        privateKeys.append(key)
        return true
    }

    /// Removes the channels of that name, optionally only those with that fingerprint or that encryption.
    /// - Returns: how many were removed.
    @discardableResult
    public mutating func removeChannels(named name: String, fingerprint: UInt64? = nil, isAEAD: Bool? = nil) -> Int {
        let before = channels.count
        channels.removeAll {
            $0.name == name && (fingerprint == nil || $0.fingerprint == fingerprint) && (isAEAD == nil || $0.isAEAD == isAEAD)
        }
        return before - channels.count
    }

    /// Removes the private keys of a node, or those without a node.
    @discardableResult
    public mutating func removePrivateKeys(of node: UInt32?) -> Int {
        let before = privateKeys.count
        privateKeys.removeAll { $0.node == node }
        return before - privateKeys.count
    }

    public func adding(_ channel: ChannelKey) -> Keyring {
        var changed = self
        changed.add(channel)
        return changed
    }

    /// SHA-256 over the content, regardless of order: equal for keyrings that open the same packets.
    public var fingerprint: [UInt8] {
        var parts = channels.map { Self.part(Array(($0.isAEAD ? "aead" : "channel").utf8), Array($0.name.utf8), $0.key) }
        parts += privateKeys.map { Self.part(Array("private".utf8), $0.node.map { Array(NodeID.text($0).utf8) } ?? [], $0.key) }
        parts.sort { $0.lexicographicallyPrecedes($1) }
        return SHA256.hash(parts.flatMap { $0 })
    }

    private static func part(_ fields: [UInt8]...) -> [UInt8] {
        fields.flatMap { field in (0..<4).map { UInt8(truncatingIfNeeded: field.count >> (8 * $0)) } + field }
    }
}
