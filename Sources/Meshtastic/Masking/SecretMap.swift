/// Which fields of the schema are secret, and which messages can hold one.
struct SecretMap: Sendable {
    static let standard = SecretMap(.standard)

    /// Places of messages in the field table.
    let fromRadio: Int?
    let data: Int?
    let admin: Int?
    let proxy: Int?
    let envelope: Int?
    let channel: Int?
    let lora: Int?
    /// By place of the message: the numbers of its secret fields.
    private let secrets: [Int: Set<UInt32>]
    /// By place of the message: whether it can contain a secret at any depth.
    private let canHold: [Bool]

    private static let secretFields: [String: Set<String>] = [
        "ChannelSettings": ["psk"],
        "Config.NetworkConfig": ["wifi_psk"],
        "Config.BluetoothConfig": ["fixed_pin"],
        "Config.SecurityConfig": ["private_key"],
        "ModuleConfig.MQTTConfig": ["password"],
        "DeviceUIConfig": ["pin_code"],
        "BluetoothConnectionStatus": ["pin"],
        "AdminMessage": ["session_passkey"],
        "LockdownAuth": ["passphrase"],
        "KeyVerificationNumberInform": ["security_number"],
        "KeyVerificationFinal": ["verification_characters"],
        "KeyVerificationAdmin": ["security_number"],
        "DeviceProfile": ["channel_url"],
        "XModem": ["buffer"],
    ]

    private init(_ table: FieldTable) {
        let places = Dictionary(table.messages.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        fromRadio = places["FromRadio"]
        data = places["Data"]
        admin = places["AdminMessage"]
        proxy = places["MqttClientProxyMessage"]
        envelope = places["ServiceEnvelope"]
        channel = places["Channel"]
        lora = places["Config.LoRaConfig"]
        var secrets: [Int: Set<UInt32>] = [:]
        for (name, fields) in Self.secretFields {
            guard let place = places[name] else { continue }
            secrets[place] = Set(table.messages[place].fields.filter { fields.contains($0.name) }.map(\.number))
        }
        self.secrets = secrets
        var canHold = table.messages.indices.map { secrets[$0] != nil }
        for special in [data, proxy, channel, lora] { if let special { canHold[special] = true } }
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (place, message) in table.messages.enumerated() where !canHold[place] {
                let reaches = message.fields.contains { if case .message(let inner) = $0.kind { canHold[inner] } else { false } }
                if reaches {
                    canHold[place] = true
                    hasChanged = true
                }
            }
        }
        self.canHold = canHold
    }

    func isSecret(_ field: UInt32, of message: Int) -> Bool { secrets[message]?.contains(field) ?? false }

    func canHold(_ message: Int) -> Bool { canHold[message] }
}
