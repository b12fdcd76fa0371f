"""Which key opens a packet, and what its channel is called: sections "Packets" and "Channel names" of Sources/MeshViews/FOLD.md."""
import hashlib, struct
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from meshtastic.protobuf import portnums_pb2
from schema import messages
from wire import LENGTH, VARINT, fields, repaired, writes, writes_content

BROADCAST = 0xFFFFFFFF
NOBODY = (0, BROADCAST)
DEFAULT = bytes.fromhex("d4f1bb3a20290759f0bcffabcf4e6901")
PRESETS = ["LongFast", "LongSlow", "LongMod", "LongTurbo", "MediumFast", "MediumSlow", "MediumTurbo", "ShortFast", "ShortSlow",
           "ShortTurbo", "LiteFast", "LiteSlow", "NarrowFast", "NarrowSlow", "TinyFast", "TinySlow"]
TEXTS = {1, 10, 11, 32, 66}
PAYLOADS = {2: messages.HardwareMessage, 3: messages.Position, 4: messages.User, 5: messages.Routing, 8: messages.Waypoint,
            12: messages.KeyVerification, 13: messages.RemoteShell, 34: messages.Paxcount, 35: messages.StoreForwardPlusPlus,
            36: messages.StatusMessage, 37: messages.MeshBeacon, 65: messages.StoreAndForward, 67: messages.Telemetry, 69: messages.Compressed,
            70: messages.RouteDiscovery, 71: messages.NeighborInfo, 73: messages.MapReport}
# The message of this port is too large to judge: only the wire format counts.
WIRE_ONLY = {6}
HIGHEST_OF_ADMIN = 119
# The schema's, some of which the official package lacks, and private ones.
KNOWN_PORTS = {*portnums_pb2.PortNum.values(), 37, 38, 78, 79, *range(256, 512)}
# A channel with authenticated encryption has another hash than one of its name and key without.
SEALED, TAG = 0xAE, 12


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
    """What a key made of a packet. `how` is key, plain, sealed or private; without `data` it goes to quarantine."""

    def __init__(self, data, channel=None, mark=0, how="key"):
        self.data, self.channel, self.mark, self.how = data, channel, mark, how


class Keys:
    def __init__(self, channels, private=(), sealed=()):
        """`channels` are (name, psk) beside the presets, `sealed` those with authenticated encryption, `private` are (node or 0, 32 bytes)."""
        self.channels = [(name, DEFAULT) for name in PRESETS] + [(name, expand(psk)) for name, psk in channels]
        self.sealed = [(name, expand(psk)) for name, psk in sealed]
        self.private = list(private)
        self.of_name = {}
        for name, key in self.channels + self.sealed:
            self.of_name.setdefault(name, set()).add(fingerprint(key))

    def mark(self, name):
        """The fingerprint of the only known key of this name, else 0."""
        found = self.of_name.get(name, ())
        return next(iter(found)) if len(found) == 1 else 0

    def open(self, packet, envelope_name, announced):
        direct = self.open_directly(packet, announced)
        if direct is not None:
            return Opened(authentic(direct), "PKI", 0, "private")
        sealed = with_hash(self.sealed, packet.channel ^ SEALED, envelope_name)
        for name, key in sealed:
            plain = untagged(key, packet)
            if plain is not None:
                return Opened(authentic(plain), name, fingerprint(key), "sealed")
        fitting = with_hash(self.channels, packet.channel, envelope_name)
        for name, key in fitting:
            data = content(decrypt(key, packet), is_ours)
            if data is not None:
                return Opened(data, name, fingerprint(key))
        unnamed = envelope_name or f"hash {packet.channel}"
        for key in [] if sealed else [b"", *dict.fromkeys(key for _, key in self.channels if key)]:
            data = content(decrypt(key, packet), is_anyones)
            if data is not None:
                mark = fingerprint(key) if key or not envelope_name else self.mark(envelope_name)
                return Opened(data, unnamed, mark, "key" if key else "plain")
        for name, key in fitting:
            data = content(decrypt(key, packet), is_damaged)
            if data is not None:
                return Opened(data, name, fingerprint(key))
        return Opened(None) if sealed and not looks_direct(packet) else None

    def open_directly(self, packet, announced):
        sender, sealed = getattr(packet, "from"), packet.encrypted
        if not looks_direct(packet) or len(sealed) <= 12:
            return None
        nonce = struct.pack("<I", packet.id) + sealed[-4:] + struct.pack("<I", sender) + b"\0"
        for node, private in self.private:
            others = [packet.to if node == sender else sender] if node in (sender, packet.to) else [sender, packet.to] if node == 0 else []
            for other in others:
                for public in (announced.get(other, (None,))[0], packet.public_key):
                    plain = unsealed(private, public, nonce, sealed[:-4])
                    if plain is not None:
                        return plain
        return None


def with_hash(channels, wanted, envelope_name):
    """The channels with a hash, that of the envelope's name first."""
    return sorted(((name, key) for name, key in channels if folded(name.encode()) ^ folded(key) == wanted), key=lambda entry: entry[0] != envelope_name)


def looks_direct(packet):
    return packet.channel == 0 and packet.to > 3 and packet.to != BROADCAST


def untagged(key, packet):
    """What a channel with authenticated encryption has sealed."""
    sender, sealed = getattr(packet, "from"), packet.encrypted
    if len(sealed) <= TAG:
        return None
    try:
        return AESCCM(key, tag_length=TAG).decrypt(struct.pack("<QI", packet.id, sender) + b"\0", sealed, struct.pack("<II", sender, packet.to))
    except InvalidTag:
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


def content(plain, accepts):
    """The content, if an encoder can have written these bytes; else none."""
    try:
        data = messages.Data.FromString(plain)
        return data if len(plain) >= 4 and 0 < data.portnum <= 511 and accepts(plain, data) else None
    except Exception:
        return None


def is_ours(plain, data):
    """Under a key of the packet's hash."""
    if not data.payload and not (data.portnum in KNOWN_PORTS and {number for number, *_ in fields(plain)} <= {1, 2, 3, 6, 9, 10}):
        return False
    return writes_content(plain) and is_plausible(data)


def is_anyones(plain, data):
    """Under no key, or a key of another hash."""
    evident = data.payload or data.want_response or (data.HasField("bitfield") and data.bitfield < 16)
    return bool(evident) and data.portnum in KNOWN_PORTS and is_ours(plain, data)


def is_damaged(plain, data):
    """Under a key of the packet's hash, the second time: what an official decoder takes, though no encoder wrote it."""
    head = [(number, kind) for number, kind, *_ in fields(plain)][:2]
    if head != [(1, VARINT), (2, LENGTH)] or not data.payload or data.portnum not in KNOWN_PORTS:
        return False
    if data.portnum in TEXTS:
        data.payload.decode("utf-8")
    elif data.portnum in WIRE_ONLY:
        list(fields(data.payload))
    elif data.portnum in PAYLOADS:
        PAYLOADS[data.portnum].FromString(repaired(PAYLOADS[data.portnum].DESCRIPTOR, data.payload))
    return True


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
        return all(number <= HIGHEST_OF_ADMIN and kind in ((0, 2, 5) if number < 64 else (0, 2)) for number, kind, *_ in fields(data.payload))
    return True


def field(number):
    """A coordinate of the curve's field."""
    return number % (2 ** 255 - 19)


def signing_key(public):
    """The Ed25519 key that belongs to an X25519 key: y = (u - 1) / (u + 1), sign 0."""
    u = int.from_bytes(public, "little") & (1 << 255) - 1
    y = field((u - 1) * pow(u + 1, 2 ** 255 - 21, 2 ** 255 - 19))
    return y.to_bytes(32, "little")
