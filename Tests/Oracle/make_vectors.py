#!/usr/bin/env python3
"""Makes Tests/Fixtures/firmware-2.8.1.json: packets of channels with authenticated encryption, and signed packets, from a seed.

usage: make_vectors.py [SEED] > FILE      needs the package `cryptography`

The packets are sealed by that package's AES-CCM and AES-CTR from a description of the wire format; the signatures are made as the XEdDSA
specification says (Signal, revision 1), over the curve as RFC 8032 has it, and checked with that package's Ed25519. Nothing here is the program's.
"""
import hashlib, json, random, struct, sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from verify_proof import BASE, ORDER, P, multiply

DEFAULT = bytes.fromhex("d4f1bb3a20290759f0bcffabcf4e6901")
EVERYBODY = 0xFFFFFFFF


def expanded(psk):
    if len(psk) == 1:
        return DEFAULT[:-1] + bytes([psk[0]])
    return psk.ljust(16 if len(psk) <= 16 else 32, b"\0")


def hash_of(name, key, aead):
    value = 0xAE if aead else 0
    for byte in name.encode() + key:
        value ^= byte
    return value


def nonce(packet):
    return struct.pack("<QI", packet["id"], packet["from"]) + b"\0"


def beside(packet):
    return struct.pack("<II", packet["from"], packet["to"])


def seal(packet, key, plain, tag=12, aad=None):
    return AESCCM(key, tag_length=tag).encrypt(nonce(packet), plain, beside(packet) if aad is None else aad)


def ctr(packet, key, plain):
    block = struct.pack("<QI", packet["id"], packet["from"]) + b"\0\0\0\0"
    return Cipher(algorithms.AES(key), modes.CTR(block)).encryptor().update(plain)


def field(number, payload):
    return bytes([number << 3 | 2, len(payload)]) + payload if len(payload) < 128 else (
        bytes([number << 3 | 2, len(payload) & 127 | 128, len(payload) >> 7]) + payload)


def content(port, payload, *more):
    return bytes([8, port]) + field(2, payload) + b"".join(more)


def vector(name, packet, channel, psk, sealed, plain=None):
    key = expanded(psk)
    entry = {"name": name, "channel_name": channel, "psk_hex": psk.hex(), "channel_hash": hash_of(channel, key, True),
             "ctr_channel_hash": hash_of(channel, key, False), **packet, "ciphertext_with_tag_hex": sealed.hex()}
    if plain is not None:
        entry["plaintext_hex"] = plain.hex()
    return entry


def aead(random):
    accept, refuse = [], []
    channels = [("LongFast", b"\1"), ("Harbour", random.randbytes(32)), ("Ops", random.randbytes(16)), ("Pad", random.randbytes(5)),
                ("Längs der Küste", random.randbytes(20))]
    plains = [content(1, "über Berg".encode()), content(1, b"x" * 223), content(3, struct.pack("<BiBi", 13, 480000000, 21, 90000000)),
              content(5, b"\x18\x00", b"\x35" + random.randbytes(4), b"\x48\x00"), content(70, b"", b"\x18\x01", b"\x48\x03")]
    for index, (channel, psk) in enumerate(channels * 3):
        plain = plains[index % len(plains)]
        packet = {"from": random.randrange(4, EVERYBODY), "id": random.randrange(1, 1 << 32),
                  "to": random.choice([EVERYBODY, random.randrange(4, EVERYBODY)])}
        key = expanded(psk)
        if index == 7:
            packet["id"] = 0
        sealed = seal(packet, key, plain)
        accept.append(vector(f"{index} {channel}", packet, channel, psk, sealed, plain))
        if index >= len(channels):
            continue
        other = random.randrange(4, EVERYBODY)
        flipped = bytearray(sealed)
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
        for name, changed, bytes_ in [
                ("a flipped bit", packet, bytes(flipped)), ("another sender", {**packet, "from": other}, sealed),
                ("another addressee", {**packet, "to": other}, sealed), ("another id", {**packet, "id": other}, sealed),
                ("a tag of 8", packet, seal(packet, key, plain, tag=8)), ("a tag of 16", packet, seal(packet, key, plain, tag=16)),
                ("nothing beside", packet, seal(packet, key, plain, aad=b"")),
                ("addressee before sender", packet, seal(packet, key, plain, aad=struct.pack("<II", packet["to"], packet["from"]))),
                ("the tag first", packet, sealed[-12:] + sealed[:-12]), ("cut", packet, sealed[:-1]),
                ("no content", packet, seal(packet, key, b"")), ("counter mode", packet, ctr(packet, key, plain)),
                ("counter mode and a tag of zeros", packet, ctr(packet, key, plain) + bytes(12))]:
            refuse.append(vector(f"{name}, {channel}", changed, channel, psk, bytes_))
    # A name for which the hash is 0, as direct messages have it.
    psk = random.randbytes(16)
    while hash_of("Zero", psk, True) & 0xE0 != 0x40:
        psk = random.randbytes(16)
    packet = {"from": 0x51A0BE11, "id": 77, "to": 0x0C3D77A9}
    name = "Zero" + chr(hash_of("Zero", psk, True))
    accept.append(vector("a hash of 0", packet, name, psk, seal(packet, psk, plains[0]), plains[0]))
    return accept, refuse


def compressed(point):
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def sign(private, message, random):
    """XEdDSA: the Ed25519 key has a sign bit of 0."""
    scalar = int.from_bytes(bytes([private[0] & 248]) + private[1:31] + bytes([private[31] & 127 | 64]), "little")
    public = compressed(multiply(scalar, BASE))
    if public[31] & 128:
        scalar = ORDER - scalar % ORDER
        public = public[:31] + bytes([public[31] & 127])
    prefix = b"\xfe" + b"\xff" * 31
    r = int.from_bytes(hashlib.sha512(prefix + scalar.to_bytes(32, "little") + message + random.randbytes(64)).digest(), "little") % ORDER
    point = compressed(multiply(r, BASE))
    h = int.from_bytes(hashlib.sha512(point + public + message).digest(), "little") % ORDER
    signature = point + ((r + h * scalar) % ORDER).to_bytes(32, "little")
    Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    return signature


def signatures(random):
    entries = []
    for index in range(12):
        private = random.randbytes(32)
        public = X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        packet = {"from": random.randrange(4, EVERYBODY), "id": random.randrange(1, 1 << 32), "to": EVERYBODY, "portnum": 1,
                  "request_id": 0, "reply_id": 0, "emoji": 0, "bitfield": None, "want_response": False}
        if index % 4:
            packet["bitfield"] = index % 4 - 1
        if index % 3 == 1:
            packet |= {"reply_id": random.randrange(1, 1 << 32), "emoji": index % 2}
        if index % 5 == 2:
            packet |= {"want_response": True, "request_id": random.randrange(1, 1 << 32)}
        payload = f"signed {index} ü".encode()
        whole = b"\1" + struct.pack("<8I", packet["from"], packet["id"], packet["to"], packet["portnum"], packet["request_id"],
                                   packet["reply_id"], packet["emoji"], packet["bitfield"] or 0)
        whole += bytes([packet["want_response"] | (packet["bitfield"] is not None) << 1]) + payload
        old = struct.pack("<3I", packet["from"], packet["id"], packet["portnum"]) + payload
        entries.append({**packet, "payload_hex": payload.hex(), "public_key_hex": public.hex(), "signed_hex": whole.hex(),
                        "signed_2_8_0_hex": old.hex(), "signature_hex": sign(private, whole, random).hex(),
                        "signature_2_8_0_hex": sign(private, old, random).hex()})
    return entries


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 281
    source = random.Random(seed)
    accept, refuse = aead(source)
    lines = {"accept": accept, "refuse": refuse, "signatures": signatures(source)}
    parts = [f' "{name}": [\n  ' + ",\n  ".join(map(json.dumps, entries)) + "\n ]" for name, entries in lines.items()]
    print("{\n" + f' "seed": {seed},\n' + ",\n".join(parts) + "\n}")


if __name__ == "__main__":
    main()
