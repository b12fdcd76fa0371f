public import ProtobufWire

/// Zeroes the secrets that a radio sends to its client, at equal length, so that they never reach the log.
///
/// ```swift
/// let found = SecretMask.apply(fromRadio: &frame)
/// offer(found.channels)   // the original keys, for users who want to keep them
/// append(frame, isMasked: found.isMasked)
/// ```
/// Secret are channel keys, private keys, Wi-Fi, MQTT and lockdown passwords, Bluetooth and screen PINs, the numbers of a key verification, session
/// passkeys, and the content of files; anywhere in a FromRadio, including admin messages of decoded packets and
/// envelopes that the client is to pass on. Public keys and admin keys (which are public keys) stay. Numbers keep their length by being
/// written as longer zeros, so the frame still parses.
///
/// In a broken frame everything found up to the break is masked, and a secret that the break cuts to the end of the frame.
public enum SecretMask {
    /// What was found in a frame.
    public struct Findings: Sendable, Equatable {
        /// Whether a byte was changed.
        public var isMasked = false
        /// Where the frame, or a message in it, breaks the wire format; the rest was not examined.
        public var failure: WireError?
        /// The radio's channels with their original keys.
        public var channels: [ChannelFrame] = []
        /// The number of the radio's modem preset, which names a channel without a name.
        public var modemPreset: UInt32?
    }

    /// Masks one FromRadio.
    ///
    /// - Returns: whether a byte was changed.
    @discardableResult
    public static func mask(fromRadio frame: inout [UInt8]) -> Bool { apply(fromRadio: &frame).isMasked }

    /// Masks one FromRadio.
    ///
    /// - Returns: what was found.
    public static func apply(fromRadio frame: inout [UInt8]) -> Findings {
        guard let root = SecretMap.standard.fromRadio else { return Findings() }
        var search = SecretSearch()
        search.look(in: ByteRange(truncating: 0, frame.count), of: frame.rawSpan, message: root, depth: 0)
        for secret in search.secrets {
            for place in secret.range.start..<min(secret.range.end, frame.count) {
                let masked = secret.isVarint ? frame[place] & 0x80 : 0
                if frame[place] != masked {
                    frame[place] = masked
                    search.findings.isMasked = true
                }
            }
        }
        return search.findings
    }
}
