"""Which key opens a packet, and what its channel is called: sections "Packets" and "Channel names" of Sources/MeshViews/FOLD.md."""
import hashlib, struct
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from schema import messages
from wire import fields, writes, writes_content

BROADCAST = 0xFFFFFFFF
NOBODY = (0, BROADCAST)
DEFAULT = bytes.fromhex("d4f1bb3a20290759f0bcffabcf4e6901")
PRESETS = ["LongFast", "LongSlow", "LongMod", "LongTurbo", "MediumFast", "MediumSlow", "MediumTurbo", "ShortFast", "ShortSlow",
           "ShortTurbo", "LiteFast", "LiteSlow", "NarrowFast", "NarrowSlow", "TinyFast", "TinySlow"]
TEXTS = {1, 10, 11, 32, 66}
PAYLOADS = {2: messages.HardwareMessage, 3: messages.Position, 4: messages.User, 5: messages.Routing, 8: messages.Waypoint,
            12: messages.KeyVerification, 13: messages.RemoteShell, 34: messages.Paxcount, 35: messages.StoreForwardPlusPlus,
            36: messages.StatusMessage, 65: messages.StoreAndForward, 67: messages.Telemetry, 69: messages.Compressed,
            70: messages.RouteDiscovery, 71: messages.NeighborInfo, 73: messages.MapReport}
# Ports with a message that the official package lacks or that is too large to judge: only the wire format counts.
WIRE_ONLY = {6, 37}


def expand(psk):
    if len(psk) == 1:
        return DEFAULT[:-1] + bytes([(DEFAULT[-1] + psk[0] - 1) & 255]) if psk[0] else b""
    return psk.ljust(16 if len(psk) <= 16 else 32, b"\0") if psk else b""


def folded(data):
    result = 0
    for byte in data:
        result ^= byte
    return result


def fingerprint(key):
    return int.from_bytes(hashlib.sha256(b"meshledger channel key" + key).digest()[:8], "big") if key else 0


class Opened:
    """What a key made of a packet. `how` is key, plain or private."""

    def __init__(self, data, channel, mark, how):
        self.data, self.channel, self.mark, self.how = data, channel, mark, how


class Keys:
    def __init__(self, channels, private=()):
        """`channels` are (name, psk) beside the presets, `private` are (node or 0, 32 bytes)."""
        self.channels = [(name, DEFAULT) for name in PRESETS] + [(name, expand(psk)) for name, psk in channels]
        self.private = list(private)
        self.of_name = {}
        for name, key in self.channels:
            self.of_name.setdefault(name, set()).add(fingerprint(key))

    def mark(self, name):
        """The fingerprint of the only known key of this name, else 0."""
        found = self.of_name.get(name, ())
        return next(iter(found)) if len(found) == 1 else 0

    def open(self, packet, envelope_name, announced):
        direct = self.open_directly(packet, announced)
        if direct is not None:
            return Opened(direct, "PKI", 0, "private")
        fitting = [(name, key) for name, key in self.channels if folded(name.encode()) ^ folded(key) == packet.channel]
        fitting.sort(key=lambda entry: entry[0] != envelope_name)
        for name, key in fitting:
            data = content(decrypt(key, packet))
            if data is not None:
                return Opened(data, name, fingerprint(key), "key")
        unnamed = envelope_name or f"hash {packet.channel}"
        data = content(packet.encrypted)
        if data is not None:
            return Opened(data, unnamed, self.mark(envelope_name) if envelope_name else 0, "plain")
        for key in dict.fromkeys(key for _, key in self.channels):
            data = content(decrypt(key, packet))
            if data is not None:
                return Opened(data, unnamed, fingerprint(key), "key")
        return None

    def open_directly(self, packet, announced):
        sender, sealed = getattr(packet, "from"), packet.encrypted
        if packet.channel != 0 or packet.to in NOBODY or len(sealed) <= 12:
            return None
        nonce = struct.pack("<I", packet.id) + sealed[-4:] + struct.pack("<I", sender) + b"\0"
        for node, private in self.private:
            others = [packet.to if node == sender else sender] if node in (sender, packet.to) else [sender, packet.to] if node == 0 else []
            for other in others:
                for public in (announced.get(other), packet.public_key):
                    plain = unsealed(private, public, nonce, sealed[:-4])
                    if plain is not None:
                        return authentic(plain)
        return None


def unsealed(private, public, nonce, sealed):
    if public is None or len(public) != 32:
        return None
    try:
        secret = X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
        return AESCCM(hashlib.sha256(secret).digest(), tag_length=8).decrypt(nonce, sealed, None)
    except Exception:
        return None


def decrypt(key, packet):
    nonce = struct.pack("<QII", packet.id, getattr(packet, "from"), 0)
    return Cipher(algorithms.AES(key), modes.CTR(nonce)).decryptor().update(packet.encrypted) if key else packet.encrypted


def content(plain):
    """The content, if an encoder can have written these bytes; else none."""
    try:
        if len(plain) < 4 or not writes_content(plain):
            return None
        data = messages.Data.FromString(plain)
        return data if 0 < data.portnum <= 511 and is_plausible(data) else None
    except Exception:
        return None


def authentic(plain):
    """The content of a message whose tag fits: its sender wrote these bytes, whatever they are."""
    try:
        data = messages.Data.FromString(plain)
        return data if data.portnum else None
    except Exception:
        return None


def is_plausible(data):
    if data.portnum in TEXTS:
        data.payload.decode("utf-8")
    elif data.portnum in PAYLOADS:
        return writes(PAYLOADS[data.portnum].DESCRIPTOR, data.payload)
    elif data.portnum in WIRE_ONLY:
        return all(number < 64 and kind in (0, 2, 5) for number, kind, *_ in fields(data.payload))
    return True


def field(number):
    """A coordinate of the curve's field."""
    return number % (2 ** 255 - 19)


def signing_key(public):
    """The Ed25519 key that belongs to an X25519 key: y = (u - 1) / (u + 1), sign 0."""
    u = int.from_bytes(public, "little") & (1 << 255) - 1
    y = field((u - 1) * pow(u + 1, 2 ** 255 - 21, 2 ** 255 - 19))
    return y.to_bytes(32, "little")
