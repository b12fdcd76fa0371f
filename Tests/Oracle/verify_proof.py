"""Checks a proof that `meshledger prove` wrote, from RFC 6962, C2SP's notes and Sources/EventLog/FORMAT.md alone.

usage: verify_proof.py PROOF KEY
Prints the sequence and the payload in base64, or for a proof of two checkpoints their numbers of events; ends with status 1 when the proof does
not hold.
"""

import base64
import hashlib
import sys

# Ed25519 of RFC 8032, section 5.1: the field, the curve's constant d, and a square root of -1.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    """Points in extended coordinates (X, Y, Z, T)."""
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def decompress(raw):
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return (x, y, 1, x * y % P)


BASE = decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_valid(signature, message, public):
    point, r = decompress(public), decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or point is None or r is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    left, right = multiply(s, BASE), add(r, multiply(h, point))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def expect(condition, flaw):
    if not condition:
        sys.exit(f"the proof does not hold: {flaw}")


def decode(text):
    """Base64 as it is written, and no other text for the same bytes."""
    raw = base64.b64decode(text, validate=True)
    expect(base64.b64encode(raw).decode() == text, "base64 that is written otherwise")
    return raw


def root_from_path(index, size, leaf, path):
    """The verification of RFC 9162, section 2.1.3.2, which is that of RFC 6962's trees."""
    expect(index < size, "the index is outside the tree")
    node, last, result = index, size - 1, leaf
    for sibling in path:
        expect(last != 0, "the path is too long")
        if node % 2 == 1 or node == last:
            result = sha256(b"\x01", sibling, result)
            while node % 2 == 0 and node != 0:
                node, last = node >> 1, last >> 1
        else:
            result = sha256(b"\x01", result, sibling)
        node, last = node >> 1, last >> 1
    expect(last == 0, "the path is too short")
    return result


def check_signature(text, signatures, key):
    name, key_hash, encoded = key.split("+", 2)
    public = base64.b64decode(encoded)
    expect(public[0] == 1 and len(public) == 33, "the key is no Ed25519 key")
    expect(sha256(name.encode(), b"\n", public)[:4].hex() == key_hash, "the key's hash does not fit")
    for line in signatures.splitlines():
        dash, signer, signature = line.split(" ")
        raw = decode(signature)
        if dash != "\u2014" or signer != name or raw[:4].hex() != key_hash:
            continue
        if is_valid(raw[4:], text.encode(), public[1:]):
            return
    expect(False, "no valid signature by the key")


def read_checkpoint(text):
    """Origin, number of events and root. Lines of meshledger's own may follow."""
    lines = text.split("\n")
    expect(3 <= len(lines) <= 5 and all(lines), "the note is no checkpoint")
    expect(lines[1] == str(int(lines[1])), "the number of events is written otherwise")
    return lines[0], int(lines[1]), decode(lines[2])


def check_consistency(old_size, old_root, size, root, path):
    """The verification of RFC 9162, section 2.1.4.2."""
    if old_size == 0 or old_size == size:
        expect(not path and old_size <= size, "the path has another length")
        expect(old_root == (sha256() if old_size == 0 else root), "another root")
        return
    expect(old_size < size, "the first checkpoint has more events")
    if old_size & (old_size - 1) == 0:
        path = [old_root] + path
    expect(path, "the path is too short")
    node, last = old_size - 1, size - 1
    while node % 2 == 1:
        node, last = node >> 1, last >> 1
    first = second = path[0]
    for sibling in path[1:]:
        expect(last != 0, "the path is too long")
        if node % 2 == 1 or node == last:
            first, second = sha256(b"\x01", sibling, first), sha256(b"\x01", sibling, second)
            while node % 2 == 0 and node != 0:
                node, last = node >> 1, last >> 1
        else:
            second = sha256(b"\x01", second, sibling)
        node, last = node >> 1, last >> 1
    expect(last == 0, "the path is too short")
    expect(first == old_root, "another root of the first checkpoint")
    expect(second == root, "another root of the second checkpoint")


def check_two(proof, key):
    head, old_text, old_signatures, text, signatures = proof.split("\n\n")
    path = [decode(line) for line in head.split("\n")[1:]]
    check_signature(old_text + "\n", old_signatures, key)
    check_signature(text + "\n", signatures, key)
    old_origin, old_size, old_root = read_checkpoint(old_text)
    origin, size, root = read_checkpoint(text)
    expect(old_origin == origin, "the checkpoints are of two logs")
    check_consistency(old_size, old_root, size, root, path)
    print(old_size, size)


def main():
    proof = open(sys.argv[1], encoding="utf-8", newline="").read()
    key = open(sys.argv[2], encoding="utf-8").read().strip()
    if proof.startswith("meshledger/consistency-proof@v1\n"):
        check_two(proof, key)
        return
    head, text, signatures = proof.split("\n\n")
    lines = head.split("\n")
    expect(lines[0] == "c2sp.org/tlog-proof@v1", "the first line is another one")
    extra = decode(lines[1].removeprefix("extra "))
    index = int(lines[2].removeprefix("index "))
    path = [decode(line) for line in lines[3:]]
    check_signature(text + "\n", signatures, key)

    _, size, root = read_checkpoint(text)
    leaf_data, salt, payload = extra[:64], extra[64:80], extra[80:]
    expect(int.from_bytes(leaf_data[:8], "big") == index + 1, "the leaf is of another event")
    if salt:
        expect(sha256(salt, payload) == leaf_data[32:], "the payload is another one")
    expect(root_from_path(index, size, sha256(b"\x00", leaf_data), path) == root, "another root")
    print(index + 1, base64.b64encode(payload).decode() if salt else "erased")


if __name__ == "__main__":
    main()
