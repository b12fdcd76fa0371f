"""Payloads of every port, as nodes send them, as careless ones do and as hostile ones would. Places and people are made up."""
import struct
from google.protobuf.descriptor import FieldDescriptor as F
from schema import messages
from opening import BROADCAST

SYLLABLES = ["ba", "ren", "to", "lim", "ka", "dor", "su", "vel", "ni", "örk", "é", "ши", "山"]
# What must not break anything: cut and foreign UTF-8, controls, marks, very long ones.
ODD_TEXTS = [b"\xe0", b"ok\xff", b"\xf0\x9f\x9b", b"a\x00b", b"\x1b[31m", b"caf\xc3\xa9", b"=1+1", b"\xef\xbf\xbd", "e\u0301".encode() * 40,
             ("\u00e9" * 70).encode(), b"", b" ", "🏔️".encode(), b"\xed\xa0\x80", b"x" * 300]


def word(random, count=3):
    return "".join(random.choice(SYLLABLES) for _ in range(random.randint(1, count))).capitalize()


def amount(random, field):
    """A number of the field's type, now and then at its limit."""
    edge = random.random() < 0.04
    if field.type == F.TYPE_FLOAT:
        return random.choice([float("nan"), float("inf"), -0.001, 3.4e38]) if edge else round(random.uniform(-40, 120), 2)
    if field.type == F.TYPE_BOOL:
        return random.random() < 0.5
    if field.type in (F.TYPE_INT32, F.TYPE_SINT32, F.TYPE_SFIXED32):
        return random.choice([-(1 << 31), (1 << 31) - 1, 0]) if edge else random.randint(-500, 5000)
    if field.type == F.TYPE_ENUM:
        return random.choice(field.enum_type.values).number
    return random.choice([0, (1 << 32) - 1]) if edge else random.randint(0, 5000)


def filled(random, message):
    """A message whose plain fields are there or not."""
    for field in message.DESCRIPTOR.fields:
        if random.random() < 0.4:
            continue
        if field.type == F.TYPE_MESSAGE:
            if not repeats(field) and random.random() < 0.3:
                filled(random, getattr(message, field.name))
        elif repeats(field):
            if field.type not in (F.TYPE_STRING, F.TYPE_BYTES):
                getattr(message, field.name).extend(amount(random, field) for _ in range(random.randint(0, 3)))
        elif field.type == F.TYPE_STRING:
            setattr(message, field.name, word(random))
        elif field.type == F.TYPE_BYTES:
            setattr(message, field.name, random.randbytes(random.randint(0, 8)))
        else:
            setattr(message, field.name, amount(random, field))
    return message


def repeats(field):
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def clock(random, now):
    """What a node believes the time to be."""
    return random.choice([now] * 12 + [0, 0, now - 7, now - 4000, now - 86_401, now - 86_400, now + 290, now + 300, now + 301, now + 90_000,
                                       1_577_836_799, 1_577_836_801, BROADCAST, 5])


def coordinates(random, node):
    precision = random.choice([0, 10, 13, 16, 31, 32, 32, 32])
    latitude, longitude = node.latitude + random.randint(-20_000, 20_000), node.longitude + random.randint(-20_000, 20_000)
    odd = random.random()
    if odd < 0.03:
        return 0, 0, precision
    if odd < 0.06:
        middle = 1 << (31 - min(precision or 31, 31))
        return middle, middle, precision
    if odd < 0.09:
        return random.choice([(900_000_000, 1_800_000_000), (900_000_001, 0), (0, -1_800_000_001), (-900_000_000, 5)]) + (precision,)
    if 0 < precision < 32:
        mask = -1 << (32 - precision)
        latitude, longitude = (latitude & mask) + (1 << (31 - precision)), (longitude & mask) + (1 << (31 - precision))
    return latitude, longitude, precision


def position(random, mesh, node, now):
    made = messages.Position()
    latitude, longitude, precision = coordinates(random, node)
    if random.random() > 0.04:
        made.latitude_i = latitude
    if random.random() > 0.04:
        made.longitude_i = longitude
    made.time, made.timestamp, made.precision_bits = clock(random, now), random.choice([0, clock(random, now)]), precision
    for name, most in (("altitude", 3000), ("ground_speed", 120), ("ground_track", 35_999_999), ("sats_in_view", 40), ("PDOP", 900),
                       ("HDOP", 900), ("VDOP", 900), ("seq_number", 99)):
        if random.random() < 0.6:
            setattr(made, name, random.choice([0, random.randint(0, most)]))
    if random.random() < 0.05:
        made.altitude = random.choice([-(1 << 31), -430, (1 << 31) - 1])
    return made


def user(random, mesh, node, now):
    made = messages.User(id=f"!{node.number:08x}", hw_model=node.hardware, role=node.role, macaddr=random.randbytes(6))
    if random.random() < 0.1:
        made.id = random.choice([f"!{random.choice(mesh.nodes).number:08x}", "!AB", "^all", "!", "!123456789", "!0000000g"])
    if random.random() < 0.9:
        made.long_name, made.short_name = node.long_name, node.short_name
    if random.random() < mesh.hostile / 2:
        made.long_name = random.choice(["a\x07b", "\ufffd", "é" * 40, "x" * 80, "\x85", "\x9f\xa0"])
    if random.random() < 0.15:
        node.long_name, node.role = word(random, 6), random.randint(0, 12)
        node.hardware = random.choice([node.hardware, 0, 43, 9, 255, 9999])
    if random.random() < 0.8:
        made.public_key = random.choice([node.public] * 8 + [mesh.nodes[0].public, random.randbytes(32), b"\1" * 31])
    if random.random() < 0.3:
        made.is_licensed = True
    if random.random() < 0.4:
        made.is_unmessagable = random.random() < 0.5
    return made


def telemetry(random, mesh, node, now):
    made = messages.Telemetry(time=clock(random, now))
    kinds = [field for field in made.DESCRIPTOR.fields if field.containing_oneof is not None and field.type == F.TYPE_MESSAGE]
    filled(random, getattr(made, random.choice(kinds).name)).ByteSize()
    content = made.SerializeToString()
    if random.random() < 0.08:
        return content + tagged(random.choice([10, 11, 15, 31, 32, 40]), 2, random.randbytes(random.randint(0, 9)))
    return content


def waypoint(random, mesh, node, now):
    made = messages.Waypoint(id=random.choice([0] + list(range(1, 12)) + [BROADCAST]), name=word(random), description=word(random, 9))
    latitude, longitude, _ = coordinates(random, node)
    if random.random() < 0.9:
        made.latitude_i = latitude
    if random.random() < 0.9:
        made.longitude_i = longitude
    made.expire = random.choice([0, now + 86_400, now + 3, 1, 1, now, BROADCAST])
    made.locked_to = random.choice([0, 0, node.number, random.choice(mesh.nodes).number])
    if random.random() < 0.4:
        made.icon = random.choice([0x1F3D4, 1, BROADCAST])
    if random.random() < 0.3:
        made.geofence_radius, made.notify_on_enter, made.notify_favorites_only = random.randint(0, 900), True, random.random() < 0.5
        made.bounding_box.longitude_west_i, made.bounding_box.latitude_north_i = longitude - 9, latitude + 9
    return made


def route(random, mesh, node, now):
    some = [entry.number for entry in mesh.nodes] + [BROADCAST, 0]
    made = messages.RouteDiscovery()
    for way, strengths in ((made.route, made.snr_towards), (made.route_back, made.snr_back)):
        between = random.choice([0, 0, 1, 2, 3, 7, 16, 17, 20])
        way.extend(random.choice(some) for _ in range(between))
        strengths.extend(random.choice([-128, random.randint(-80, 48)]) for _ in range(max(0, between + random.choice([0, 1, 1, 1, 2, -1]))))
        if random.random() < 0.4:
            break
    return made


def neighbors(random, mesh, node, now):
    made = messages.NeighborInfo(node_id=node.number, last_sent_by_id=random.choice(mesh.nodes).number, node_broadcast_interval_secs=900)
    for _ in range(random.choice([0, 1, 3, 10, 70])):
        made.neighbors.add(node_id=random.choice(mesh.nodes).number, snr=random.choice([round(random.uniform(-20, 12), 2), float("nan"), 0]),
                           last_rx_time=random.choice([0, 0, clock(random, now)]))
    return made


def map_report(random, mesh, node, now):
    made = filled(random, messages.MapReport())
    made.long_name, made.short_name, made.firmware_version = random.choice([node.long_name, ""]), node.short_name, random.choice(["2.7.15.a", "", "x" * 70])
    made.latitude_i, made.longitude_i, made.position_precision = coordinates(random, node)
    return made


def store_forward(random, mesh, node, now):
    return filled(random, messages.StoreAndForward())


def paxcount(random, mesh, node, now):
    return filled(random, messages.Paxcount())


def hardware(random, mesh, node, now):
    return filled(random, messages.HardwareMessage())


def tagged(number, kind, value):
    """An unknown field: length-delimited (2), a number (0) or four bytes (5)."""
    out = bytearray()
    parts = [number << 3 | kind] + ([len(value)] if kind == 2 else [value] if kind == 0 else [])
    for part in parts:
        while part > 127:
            out.append(part & 127 | 128)
            part >>= 7
        out.append(part)
    return bytes(out) + (value if kind == 2 else struct.pack("<I", value) if kind == 5 else b"")


MAKERS = {3: position, 4: user, 8: waypoint, 67: telemetry, 70: route, 71: neighbors, 73: map_report, 65: store_forward, 34: paxcount, 2: hardware}
