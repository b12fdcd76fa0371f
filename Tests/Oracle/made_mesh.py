"""A mesh that sends, and what its gateways hear: packets as the official package's encoder writes them, careless and hostile ones among them."""
import hashlib, struct
from random import Random
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from made_payloads import MAKERS, ODD_TEXTS, clock, filled, tagged, word
from make_vectors import sign
from opening import BROADCAST, DEFAULT, PAYLOADS, SEALED, expand, folded
from schema import messages

START = 1_760_000_000
# Harbour is known from the start, Quay comes late, Secret never.
CHANNELS = [("LongFast", DEFAULT), ("MediumFast", DEFAULT), ("Harbour", expand(bytes(range(32)))), ("Quay", expand(bytes(range(16)))),
            ("Secret", bytes(range(9, 41))), ("Open", b"")]
KNOWN = CHANNELS[2:4]
# With authenticated encryption: the first two are known. The third has the key of a known name without.
SEALED_CHANNELS = [("Vault", expand(bytes(range(7, 39)))), ("Quay", expand(bytes(range(16)))), ("Attic", bytes(range(60, 92)))]
KNOWN_SEALED = SEALED_CHANNELS[:2]
TEXT_PORTS = [1] * 8 + [10, 11, 32, 66]
PORTS = TEXT_PORTS + [3] * 12 + [4] * 9 + [67] * 10 + [70] * 8 + [8] * 7 + [71] * 4 + [73] * 3 + [5] * 6 + [34, 35, 65, 2, 6, 256, 64, 0, 511, 512, 78, 36, 12]


class Node:
    def __init__(self, random, number):
        self.number, self.private = number, random.randbytes(32)
        self.public = X25519PrivateKey.from_private_bytes(self.private).public_key().public_bytes_raw()
        self.long_name, self.short_name = word(random, 4), word(random, 1)[:4]
        self.hardware, self.role = random.choice([43, 9, 4, 31, 50]), random.randint(0, 12)
        self.latitude, self.longitude = random.randint(-600_000_000, 600_000_000), random.randint(-1_700_000_000, 1_700_000_000)


class Mesh:
    def __init__(self, seed, nodes, hostile):
        self.random, self.now, self.hostile = Random(seed), START, hostile / 100
        numbers = [self.random.randint(16, BROADCAST - 1) for _ in range(nodes)]
        numbers[:2] = [numbers[0] & ~255, 1][:nodes]
        self.nodes = [Node(self.random, number) for number in numbers]
        self.gateways, self.sent, self.later = self.nodes[:4], [], []

    # A packet as its sender makes it

    def data(self, port, node, to):
        random, data = self.random, messages.Data(portnum=port if port else 0)
        if port in TEXT_PORTS:
            text = random.choice(ODD_TEXTS) if random.random() < self.hostile else word(random, 5).encode()
            data.payload = text
            if random.random() < 0.3 and self.sent:
                data.reply_id = random.choice(self.sent)[1].id
                data.emoji = random.choice([0, 1])
        elif port == 5:
            data.payload = self.routing(data)
        elif port in MAKERS:
            made = MAKERS[port](random, self, node, self.now)
            data.payload = made if isinstance(made, bytes) else made.SerializeToString()
        elif port in PAYLOADS or port == 6:
            data.payload = filled(random, PAYLOADS.get(port, messages.AdminMessage)()).SerializeToString()
        else:
            data.payload = random.randbytes(random.randint(0, 40))
        if port == 70 and random.random() < 0.6:
            questions = [packet for _, packet, asked, _ in self.sent if asked == 70 and packet.to == node.number]
            data.request_id = random.choice(questions).id if questions and random.random() < 0.8 else random.getrandbits(32)
        if random.random() < self.hostile / 2:
            data.payload = self.damaged(data.payload)
        if random.random() < 0.5:
            data.bitfield = random.randint(0, 3)
        if random.random() < 0.1:
            data.want_response = True
        return data

    def routing(self, data):
        random, messages_sent = self.random, [packet for _, packet, port, _ in self.sent if port in (1, 11)]
        data.request_id = random.choice(messages_sent).id if messages_sent and random.random() < 0.8 else random.getrandbits(32)
        made = messages.Routing(error_reason=random.choice([0, 0, 0, 1, 5, 35]))
        if random.random() < 0.2:
            made = messages.Routing()
            filled(random, made.route_request).route.extend([random.choice(self.nodes).number])
        return made.SerializeToString()

    def damaged(self, payload):
        """Unknown fields, broken text, cut or changed bytes."""
        random = self.random
        choice = random.random()
        if choice < 0.3:
            kind = random.choice([0, 2, 5])
            return payload + tagged(random.choice([5, 17, 30, 62, 63, 64, 200]), kind, b"abc" if kind == 2 else 7)
        if choice < 0.5 and len(payload) > 4:
            return payload[:random.randrange(len(payload))]
        if choice < 0.8 and payload:
            place = random.randrange(len(payload))
            return payload[:place] + random.randbytes(1) + payload[place + 1:]
        return payload + tagged(2, 2, random.choice(ODD_TEXTS))

    def packet(self):
        """(sender, packet without reception, port, Data's bytes, channel's name)."""
        random, node = self.random, self.random.choice(self.nodes)
        port = random.choice(PORTS)
        to = random.choice([BROADCAST] * 5 + [random.choice(self.nodes).number])
        if port in (5, 70) and random.random() < 0.7:
            others = [packet for _, packet, _, _ in self.sent if packet.to == node.number]
            to = getattr(random.choice(others), "from") if others else random.choice(self.nodes).number
        packet = messages.MeshPacket(to=to, id=random.getrandbits(32), hop_start=random.choice([0, 3, 3, 5, 7]))
        setattr(packet, "from", node.number)
        if port == 73 and random.random() < 0.7:
            packet.id = 0
        if random.random() < self.hostile:
            self.forge(packet)
        data = self.data(port, node, to)
        if random.random() < 0.15:
            data.xeddsa_signature = self.signature(packet, data, node)
        name = self.seal(packet, data, node)
        self.sent = (self.sent + [(node, packet, port, name)])[-200:]
        return packet, name

    def signature(self, packet, data, node):
        """One that anybody can write, or the node's, as firmware signs since 2.8.1 or did in 2.8.0."""
        random = self.random
        choice = random.random()
        if choice < 0.4:
            return random.randbytes(64)
        if choice < 0.7:
            return sign(node.private, struct.pack("<III", getattr(packet, "from"), packet.id, data.portnum) + data.payload, random)
        flags = data.want_response | data.HasField("bitfield") << 1
        return sign(node.private, struct.pack("<BIIIIIIIIB", 1, getattr(packet, "from"), packet.id, packet.to, data.portnum, data.request_id,
                                              data.reply_id, data.emoji, data.bitfield, flags) + data.payload, random)

    def forge(self, packet):
        random = self.random
        choice = random.randrange(6)
        if choice == 0 and self.sent:
            packet.id = random.choice(self.sent)[1].id
        elif choice == 1 and self.sent:
            other = random.choice(self.sent)[1]
            packet.id = other.id
            setattr(packet, "from", getattr(other, "from"))
        elif choice == 2:
            packet.id = 0
        elif choice == 3:
            setattr(packet, "from", random.choice([0, BROADCAST]))
        elif choice == 4:
            packet.hop_start = random.choice([8, 200])
        else:
            packet.to = random.choice([0, getattr(packet, "from")])

    def seal(self, packet, data, node):
        random, plain = self.random, data.SerializeToString()
        way = random.random()
        if random.random() < self.hostile / 4:
            plain = self.damaged(plain)
        peer = next((other for other in self.nodes if other.number == packet.to), None)
        if way < 0.2:
            packet.decoded.CopyFrom(data)
            packet.channel = random.choice([0, 0, 1, 2])
            return random.choice(["LongFast", "MediumFast", "Harbour", "", "Elsewhere"])
        if way < 0.35 and peer is not None and packet.to != node.number:
            secret = X25519PrivateKey.from_private_bytes(node.private).exchange(X25519PublicKey.from_public_bytes(peer.public))
            extra = random.randbytes(4)
            nonce = struct.pack("<I", packet.id) + extra + struct.pack("<I", getattr(packet, "from")) + b"\0"
            packet.encrypted = AESCCM(hashlib.sha256(secret).digest(), tag_length=8).encrypt(nonce, plain, None) + extra
            packet.pki_encrypted = random.random() < 0.5
            if random.random() < 0.3:
                packet.public_key = node.public
            return "PKI"
        if way > 0.9:
            return self.seal_with_tag(packet, plain)
        name, key = random.choice(CHANNELS)
        nonce = struct.pack("<QII", packet.id, getattr(packet, "from"), 0)
        packet.encrypted = Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor().update(plain) if key else plain
        packet.channel = folded(name.encode()) ^ folded(key) if random.random() > 0.03 else random.choice([0, 7, 300] if key else [300])
        return name

    def seal_with_tag(self, packet, plain):
        random, (name, key) = self.random, self.random.choice(SEALED_CHANNELS)
        nonce, beside = struct.pack("<QI", packet.id, getattr(packet, "from")) + b"\0", struct.pack("<II", getattr(packet, "from"), packet.to)
        packet.encrypted = AESCCM(key, tag_length=12).encrypt(nonce, plain, beside)
        packet.channel = folded(name.encode()) ^ folded(key) ^ SEALED
        if random.random() < self.hostile:
            sealed = bytearray(packet.encrypted)
            sealed[random.randrange(len(sealed))] ^= 1 << random.randrange(8)
            packet.encrypted = random.choice([bytes(sealed), packet.encrypted[:12], packet.encrypted[:13]])
        return name

    # What gateways hear of it

    def receptions(self):
        """Of each packet (time, packet as heard, gateway, channel's name), some of them much later."""
        random = self.random
        self.now += random.choice([0, 1, 3, 20, 60, 900])
        packet, name = self.packet()
        heard = []
        for gateway in random.sample(self.gateways, min(random.choice([1, 1, 2, 3, 4]), len(self.gateways))):
            copy = messages.MeshPacket()
            copy.CopyFrom(packet)
            at = self.now + random.choice([0, 0, 1, 2, 40])
            copy.hop_limit = max(0, packet.hop_start - random.choice([0, 0, 1, 2, 3])) if random.random() > 0.03 else random.choice([7, 9])
            copy.relay_node = random.choice([0, 0, getattr(packet, "from") & 255, 77, 0x1FF])
            if random.random() < 0.92:
                copy.rx_time = at if random.random() > self.hostile else clock(random, at)
            if gateway.number != getattr(packet, "from") and random.random() < 0.95:
                copy.rx_snr = random.choice([random.randint(-80, 48) / 4, 0, float("nan")] if random.random() < 0.1 else [random.randint(-80, 48) / 4])
                copy.rx_rssi = random.choice([0, -random.randint(20, 130)] if random.random() < 0.1 else [-random.randint(20, 130)])
            copy.via_mqtt = random.random() < 0.08
            heard.append((at, copy, gateway.number, name))
        if random.random() < self.hostile:
            at, copy, gateway, name = random.choice(heard)
            self.later.append((at + random.choice([0, 30, 3599, 3600, 3601, 9000]), copy, gateway, name))
        due = [entry for entry in self.later if entry[0] <= self.now]
        self.later = [entry for entry in self.later if entry[0] > self.now]
        return heard + due
