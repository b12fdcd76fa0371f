#!/usr/bin/env python3
"""An independent fold of raw events into the rows of the views and their quarantine, by the rules of Sources/MeshViews/FOLD.md.

usage: fold.py EVENTS.jsonl [--psk NAME=BASE64 ...] [--aead NAME=BASE64 ...] > rows.jsonl
EVENTS.jsonl is what `meshledger export events --format jsonl` writes. Packets are decoded by the official Python package. One JSON line a
row: {"view", "key", ...}, sorted by view and key. Caps are not reached by the recordings that this is for, and not implemented.
"""
import argparse, base64, collections, datetime, hashlib, json, math, re, struct
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from meshtastic.protobuf import mesh_pb2, mqtt_pb2, paxcount_pb2, portnums_pb2, remote_hardware_pb2, storeforward_pb2, telemetry_pb2
import json_form
from wire import LENGTH, VARINT, fields, repaired, writes, writes_content

DEFAULT = bytes.fromhex("d4f1bb3a20290759f0bcffabcf4e6901")
PRESETS = ["LongFast", "LongSlow", "LongMod", "LongTurbo", "MediumFast", "MediumSlow", "MediumTurbo", "ShortFast", "ShortSlow",
           "ShortTurbo", "LiteFast", "LiteSlow", "NarrowFast", "NarrowSlow", "TinyFast", "TinySlow"]
PAYLOADS = {3: mesh_pb2.Position, 4: mesh_pb2.User, 5: mesh_pb2.Routing, 8: mesh_pb2.Waypoint, 34: paxcount_pb2.Paxcount,
            65: storeforward_pb2.StoreAndForward, 67: telemetry_pb2.Telemetry, 70: mesh_pb2.RouteDiscovery,
            71: mesh_pb2.NeighborInfo, 73: mqtt_pb2.MapReport, 2: remote_hardware_pb2.HardwareMessage, 12: mesh_pb2.KeyVerification,
            13: mesh_pb2.RemoteShell, 35: mesh_pb2.StoreForwardPlusPlus, 36: mesh_pb2.StatusMessage, 69: mesh_pb2.Compressed}
TEXTS = {1, 10, 11, 32, 66}
# The official package lacks some.
PORTS = {*portnums_pb2.PortNum.values(), 37, 38, 78, 79, *range(256, 512)}
# Ports with a message that the official package lacks or that is too large to judge: only the wire format counts.
WIRE_ONLY = {6, 37}
KINDS = ["device_metrics", "environment_metrics", "air_quality_metrics", "power_metrics", "local_stats", "health_metrics",
         "host_metrics", "traffic_management_stats", None, "soil_water_metrics"]
SOIL = ["soil_ph", "ph", "electrical_conductivity", "salinity", "nitrogen", "phosphorus", "potassium", "dissolved_oxygen", "orp", "chemical_oxygen_demand",
        "turbidity", "nitrate", "ammonium", "biochemical_oxygen_demand", "solar_irradiance"]
BROADCAST = 0xFFFFFFFF
OLDEST = 1577836800
LATEST = 0xFFFFFFFF
SENSORS = {10: "detection", 34: "paxcounter", 65: "storeForward", 66: "rangeTest"}
PARTS = {"my_info", "config", "moduleConfig", "channel", "metadata", "deviceuiConfig"}
UNMARKED = {"is_favorite": False, "is_ignored": False, "archived_at": 0, "note": None, "alias": None}
# What has no packet.
NOTHING = mesh_pb2.MeshPacket()


def expand(psk):
    if len(psk) == 1:
        return DEFAULT[:-1] + bytes([(DEFAULT[-1] + psk[0] - 1) & 255]) if psk[0] else b""
    return psk.ljust(16 if len(psk) <= 16 else 32, b"\0") if psk else b""


def xor(data):
    result = 0
    for byte in data:
        result ^= byte
    return result


class Keys:
    def __init__(self, extra, sealed=()):
        self.sealed = [(name, expand(psk)) for name, psk in sealed]
        self.all = [(name, DEFAULT) for name in PRESETS] + [(name, expand(psk)) for name, psk in extra]
        self.of_name = {}
        for name, key in self.all + self.sealed:
            self.of_name.setdefault(name, set()).add(fingerprint(key))

    def named(self, name):
        """A channel that is known by its name only."""
        found = self.of_name.get(name, ())
        return name, next(iter(found)) if len(found) == 1 else 0

    def open(self, packet, channel_id):
        """(Data, channel name, key's fingerprint), None, or False where a tag does not fit. Channels of the hash go first, the envelope's foremost, then
        plaintext and all keys, then the channels of the hash for what was damaged."""
        sealed = [(name, key) for name, key in self.sealed if xor(name.encode()) ^ xor(key) ^ 0xAE == packet.channel]
        for name, key in sealed:
            plain = unseal(key, packet)
            if plain is not None:
                return mesh_pb2.Data.FromString(plain), name, fingerprint(key)
        fitting = [(name, key) for name, key in self.all if xor(name.encode()) ^ xor(key) == packet.channel]
        fitting.sort(key=lambda entry: entry[0] != channel_id)
        known = [(key, name) for name, key in fitting]
        unnamed = channel_id or f"hash {packet.channel}"
        rest = [(key, unnamed) for key in dict.fromkeys(key for _, key in self.all)]
        others = [] if sealed else [(b"", unnamed)] + rest
        for accepts, key, name in [(ours, *entry) for entry in known] + [(anyones, *entry) for entry in others] + [(damaged, *entry) for entry in known]:
            try:
                plain = decrypt(key, packet)
                data = mesh_pb2.Data.FromString(plain)
                if 0 < data.portnum <= 511 and len(plain) >= 4 and plain[0] == 8 and accepts(plain, data):
                    return (data, *self.named(name)) if key == b"" and channel_id else (data, name, fingerprint(key))
            except Exception:
                continue
        is_direct = packet.channel == 0 and packet.to > 3 and packet.to != BROADCAST
        return False if sealed and not is_direct else None


def ours(plain, data):
    if not data.payload and not ({number for number, *_ in fields(plain)} <= {1, 2, 3, 6, 9} and data.portnum in PORTS):
        return False
    return writes_content(plain) and plausible(data)


def anyones(plain, data):
    evident = data.payload or data.want_response or data.HasField("bitfield") and data.bitfield < 16
    return bool(evident) and data.portnum in PORTS and ours(plain, data)


def damaged(plain, data):
    head = [(number, kind) for number, kind, *_ in fields(plain)][:2]
    if head != [(1, VARINT), (2, LENGTH)] or not data.payload or data.portnum not in PORTS:
        return False
    if data.portnum in TEXTS:
        data.payload.decode("utf-8")
    elif data.portnum in PAYLOADS:
        read(PAYLOADS[data.portnum], data.payload)
    elif data.portnum in WIRE_ONLY:
        list(fields(data.payload))
    return True


def unseal(key, packet):
    sender = getattr(packet, "from")
    try:
        return AESCCM(key, tag_length=12).decrypt(
            struct.pack("<QI", packet.id, sender) + b"\0", packet.encrypted, struct.pack("<II", sender, packet.to)) if len(packet.encrypted) > 12 else None
    except InvalidTag:
        return None


def fingerprint(key):
    return int.from_bytes(hashlib.sha256(b"meshledger channel key" + key).digest()[:8], "big") if key else 0


def decrypt(key, packet):
    if not key:
        return packet.encrypted
    nonce = struct.pack("<QII", packet.id, getattr(packet, "from"), 0)
    return Cipher(algorithms.AES(key), modes.CTR(nonce)).decryptor().update(packet.encrypted)


def plausible(data):
    """A key counts as the right one only if an encoder can have written what comes out of it."""
    if data.portnum in TEXTS:
        data.payload.decode("utf-8")
    elif data.portnum in PAYLOADS:
        return writes(PAYLOADS[data.portnum].DESCRIPTOR, data.payload)
    elif data.portnum in WIRE_ONLY:
        return all(kind in ((0, 2, 5) if number < 64 else (0, 2)) and number <= 119 for number, kind, *_ in fields(data.payload))
    return True


def read(message, data):
    """Decoded officially, after the documented repair of texts."""
    return message.FromString(repaired(message.DESCRIPTOR, data))


def cut(text, most):
    return text if len(text.encode()) <= most else text[:most]


def shortened(name):
    """At most 64 bytes, cut between Unicode scalars."""
    while len(name.encode()) > 64:
        name = name[:-1]
    return name


def length(way):
    return len(way[0]) + len(way[1])


def hops(first, way, last, places):
    """The nodes of a way with the strengths at which each heard the one before, as the command writes them."""
    between, strengths = way
    nodes = [first] + between + ([last] if last is not None else [])
    whole = len(strengths) in (len(between), len(between) + 1)
    heard = [-128] + (strengths if whole else []) + [-128] * len(nodes)
    return [[None if node == BROADCAST else node, None if snr == -128 else snr / 4, places.get(node)] for node, snr in zip(nodes, heard)]


class Event:
    def __init__(self, line):
        record = json.loads(line)
        self.sequence, self.encoding, self.source = record["sequence"], record["encoding"], record["source"]
        self.arrival = seconds(record["arrival"])
        self.live = record["reception"] == "live"
        self.reception, self.clock = self.arrival, "arrival"
        if not self.live:
            recorded = seconds(record["reception"])
            self.reception, self.clock = (recorded, "recorded") if self.plausible(recorded) else (None, "arrival")
        self.payload = base64.b64decode(record["payload_b64"])
        self.replayed, self.sound = False, True

    def plausible(self, stamp):
        return stamp is not None and OLDEST <= stamp <= self.arrival + 300


def seconds(text):
    if text is None:
        return None
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def replay_id(node, time, kind):
    mixed = ((node * 2654435761 + time) * 2654435761 + kind) & 0xFFFFFFFF
    return mixed or 1


def replays(packet, data):
    """Whether this is state that a 2.8 node replays: its id is made of the node, the time and the kind."""
    if (packet.to, packet.channel, packet.priority, packet.transport_mechanism) != (BROADCAST, 0, 10, 1) or data.portnum not in (3, 36, 67):
        return False
    kind = data.portnum
    if kind == 67:
        try:
            name = read(telemetry_pb2.Telemetry, data.payload).WhichOneof("variant")
        except Exception:
            return False
        if name not in KINDS[:2]:
            return False
        kind = KINDS.index(name) + 2
    return packet.id == replay_id(getattr(packet, "from"), packet.rx_time, kind)


def contradicts(known, new):
    """Whether the contents of two receptions cannot be of one packet."""
    if known["content"] is not None and new["content"] is not None:
        if known["json"] != new["json"]:
            return known["content"][0] != new["content"][0]
        return known["content"] != new["content"]
    if known["cipher"] is None or new["cipher"] is None:
        return False
    (mine, hashed), (other, others) = known["cipher"], new["cipher"]
    return hashed != others or mine != other and (len(mine) == len(other) or mine[:3] != other[:3])


# What an event is of its packet: the first reception, the first readable one, one that supersedes, a repeat, the first of its gateway.
Place = collections.namedtuple("Place", "packet first readable supersedes repeat first_of_gateway")


def unclean(text):
    return any(ord(letter) < 32 or 127 <= ord(letter) <= 159 or letter == "\ufffd" for letter in text)


class Fold:
    def __init__(self, keys):
        self.keys, self.seen = keys, {}
        self.nodes, self.positions, self.telemetry, self.messages, self.waiting = {}, {}, {}, {}, {}
        self.by_packet, self.radio_channels, self.quarantine = {}, {}, set()
        self.waypoints, self.traces, self.links, self.index = {}, {}, {}, {}
        self.channels, self.gateways, self.pairs, self.reports, self.sensors = {}, {}, {}, {}, {}
        self.history, self.known, self.key_holders, self.hardware = {}, {}, {}, {}
        self.radios, self.last_parts, self.radio_nodes = {}, {}, {}
        self.places, self.unknown, self.marks = {}, {}, {}

    # Times

    def accepts(self, event, stamp):
        if not stamp or stamp > max(event.reception or 0, event.arrival) + 300:
            return False
        if event.replayed:
            return True
        if event.reception is not None:
            return event.reception - 86400 <= stamp <= event.reception + 300
        return stamp >= OLDEST

    def time(self, event, packet, fix=0, sent=0):
        for stamp, source in ((fix, "sender"), (sent, "sender"), (packet.rx_time, "receiver")):
            if self.accepts(event, stamp):
                return stamp, source
        if event.reception is not None:
            return event.reception, event.clock
        return event.arrival, "arrival"

    def heard(self, event, packet):
        if event.replayed:
            return packet.rx_time if self.accepts(event, packet.rx_time) else 0
        return event.reception or 0

    # Events

    def event(self, event):
        gateway, channel_id, packet = 0, "", None
        try:
            if event.encoding == "ServiceEnvelope":
                envelope = read(mqtt_pb2.ServiceEnvelope, event.payload)
                if not envelope.HasField("packet"):
                    raise ValueError("no packet")
                packet, channel_id = envelope.packet, envelope.channel_id
                if re.fullmatch("![0-9a-fA-F]{1,8}", envelope.gateway_id):
                    gateway = int(envelope.gateway_id[1:], 16)
            elif event.encoding == "MeshPacket":
                packet = read(mesh_pb2.MeshPacket, event.payload)
            elif event.encoding == "FromRadio":
                packet = self.from_radio(event)
            elif event.encoding == "annotation":
                return self.annotate(event)
            elif event.encoding == "MQTTJSON":
                packet, channel_id, gateway, event.sound = json_form.packet(event.payload, event.source)
            else:
                raise ValueError("no packet in it")
        except Exception:
            self.quarantine.add(event.sequence)
            return
        if packet is not None:
            self.packet(event, packet, channel_id, gateway)

    def from_radio(self, event):
        frame = read(mesh_pb2.FromRadio, event.payload)
        kind = frame.WhichOneof("payload_variant")
        if kind == "channel" and frame.channel.settings.name:
            self.radio_channels[event.source, frame.channel.index] = frame.channel.settings.name
        if kind == "node_info" and frame.node_info.num not in (0, BROADCAST):
            info = frame.node_info
            if info.HasField("user"):
                self.learn(event, NOTHING, info.num, "nodeList", info.user)
            last = info.last_heard if self.accepts(event, info.last_heard) else 0
            row = self.node(info.num, event, last)
            row["last_heard"], row["last_sequence"] = max(row["last_heard"], last), event.sequence
            if info.HasField("user"):
                self.introduce(row, info.user, self.heard(event, NOTHING))
            self.index[event.sequence] = {"from": 0, "to": 0, "gateway": 0, "channel": None, "port": None, "named": [info.num],
                                          "first": False, "first_readable": False, "repeat": False}
        if kind in PARTS:
            self.radio(event, kind, getattr(frame, kind))
        if kind == "metadata" and self.radio_nodes.get(event.source, (0,))[0] not in (0, BROADCAST):
            self.learn(event, NOTHING, self.radio_nodes[event.source][0], "metadata", frame.metadata)
        return frame.packet if kind == "packet" else None

    def radio(self, event, kind, body):
        if kind == "my_info":
            self.radio_nodes[event.source] = body.my_node_num, cut(body.pio_env, 64)
        title = {"my_info": "myInfo", "deviceuiConfig": "deviceUI"}.get(kind, kind)
        if kind in ("config", "moduleConfig"):
            title += "." + (body.WhichOneof("payload_variant") or "0")
        elif kind == "channel":
            title += f".{body.index & 255}"
        content = body.SerializeToString()
        if self.last_parts.get((event.source, title)) != content:
            self.last_parts[event.source, title] = content
            time, source = self.time(event, NOTHING)
            self.radios[event.source, title, time, event.sequence] = {"time_source": source, "node": self.radio_nodes.get(event.source, (0,))[0]}

    def packet(self, event, packet, channel_id, gateway):
        sender, kind = getattr(packet, "from"), packet.WhichOneof("payload_variant")
        data, channel = None, None
        mark, hashed = 0, None
        if kind == "decoded":
            data = packet.decoded
            local = self.radio_channels.get((event.source, packet.channel), f"index {packet.channel}")
            channel = channel_id or local
            mark = self.keys.named(channel)[1] if channel_id or (event.source, packet.channel) in self.radio_channels else 0
            if data.portnum == 0:
                data = None
                self.quarantine.add(event.sequence)
        elif kind is None and channel_id and event.encoding == "MQTTJSON":
            channel, mark = self.keys.named(channel_id)
        if data is not None and kind == "decoded":
            event.replayed = replays(packet, data)
        elif kind == "encrypted" and packet.encrypted:
            opened = self.keys.open(packet, channel_id)
            if opened is False:
                self.quarantine.add(event.sequence)
            if opened:
                data, channel, mark = opened
                hashed = packet.channel
        if not event.live and event.reception is None and not event.replayed and event.plausible(packet.rx_time):
            event.reception, event.clock = packet.rx_time, "receiver"
        channel = shortened(channel) if channel is not None else None
        at = self.place(event, packet, data, gateway)
        nobody = sender in (0, BROADCAST)
        self.index[event.sequence] = {
            "from": sender, "to": packet.to or BROADCAST, "gateway": gateway, "channel": channel or f"hash {min(packet.channel, 256)}, unreadable",
            "port": data.portnum if data is not None else None, "named": self.named(packet.to, data),
            "first": at.first and not nobody, "first_readable": (at.readable or at.supersedes) and not nobody, "repeat": at.repeat}
        if nobody:
            return
        self.hear(event, packet, data, channel, at)
        named = (channel, mark, None) if channel is not None else ("", 0, min(packet.channel, 256))
        if not event.replayed:
            self.traffic(event, packet, named, hashed, at)
        if gateway:
            self.pass_on(event, packet, data, gateway, at)
        self.hear_directly(event, packet, data, gateway, at)
        is_heard = data is None or data.portnum in (1, 11)
        at.packet["hearings"] += is_heard and not at.repeat
        if gateway and is_heard:
            time, by = self.time(event, packet)[0], at.packet["gateways"]
            by[gateway] = min(by.get(gateway, time), time)
        if data is not None:
            if data.portnum == 70 and packet.id and event.sound:
                self.trace(event, packet, data, channel, at.packet["sequence"])
            self.content(event, packet, data, channel, gateway, at)
        view, row = at.packet["row"] or ("", None)
        if view == "messages":
            message = self.messages[row]
            message["receptions"] = at.packet["hearings"]
            message["gateways"] = [number for number, _ in sorted(at.packet["gateways"].items(), key=lambda entry: entry[::-1])][:32]

    def place(self, event, packet, data, gateway):
        """Which packet this is of, and what it is of it."""
        time, json_form_of = self.heard(event, packet), event.encoding == "MQTTJSON"
        content = (data.portnum, data.payload if data.portnum != 70 else b"", data.request_id, data.reply_id, data.emoji) if data is not None else None
        cipher = (packet.encrypted, packet.channel) if data is None and packet.WhichOneof("payload_variant") == "encrypted" else None
        new = {"heard": time, "sequence": event.sequence, "replayed": event.replayed, "content": content, "json": json_form_of, "cipher": cipher,
               "row_of": (time, json_form_of) if data is not None else None, "row": None, "hearings": 0, "gateways": {}, "receptions": [], "hearers": {gateway},
               "conflict": False}
        sign = (gateway, packet.rx_time, struct.pack("<f", packet.rx_snr), packet.rx_rssi)
        if not gateway:
            sign += (packet.hop_limit, packet.hop_start, packet.relay_node, packet.next_hop, packet.transport_mechanism, packet.priority, packet.via_mqtt)
        remembered = self.seen.setdefault((getattr(packet, "from"), packet.id), []) if packet.id else []
        conflict = None
        for known in remembered[:8]:
            if known["replayed"] != event.replayed:
                continue
            if not event.replayed and time and known["heard"] and abs(time - known["heard"]) > 3600:
                continue
            if contradicts(known, new):
                conflict = conflict or known
                continue
            return self.known_place(event, remembered, known, new, sign, gateway)
        if conflict and time and conflict["heard"]:
            new["conflict"] = conflict["conflict"] = True
            self.mark_conflict(conflict)
        new["receptions"].append(sign)
        remembered.insert(0, new)
        return Place(new, True, data is not None, False, False, True)

    def mark_conflict(self, known):
        if known["row"] and known["row"][0] == "messages":
            self.messages[known["row"][1]]["has_conflict"] = True

    @staticmethod
    def known_place(event, remembered, known, new, sign, gateway):
        time, learned = new["heard"], False
        if not known["heard"] and time:
            known["heard"], learned = time, True
        turns = new["content"] is not None and known["content"] is None
        supersedes = False
        if turns:
            known["row_of"], learned = new["row_of"], True
        elif new["content"] is not None:
            row_time, row_json = known["row_of"]
            supersedes = row_json and not new["json"] or row_json == new["json"] and 0 < time < row_time
            if supersedes:
                known["row_of"], learned = new["row_of"], True
        if new["content"] is not None and (known["content"] is None or known["json"] and not new["json"]):
            known["content"], known["json"], learned = new["content"], new["json"], True
        if known["cipher"] is None and new["cipher"] is not None:
            known["cipher"], learned = new["cipher"], True
        repeat = not event.replayed and sign in known["receptions"]
        if not repeat and not event.replayed:
            known["receptions"] = (known["receptions"] + [sign])[-256:]
        if learned:
            remembered[:] = [known] + [other for other in remembered if other is not known]
        first_of_gateway = gateway not in known["hearers"]
        known["hearers"].add(gateway)
        return Place(known, False, turns, supersedes, repeat, first_of_gateway)

    @staticmethod
    def named(to, data):
        port, nodes = data.portnum if data is not None else 0, []
        if port not in (5, 8, 70, 71):
            return nodes
        try:
            content = read(PAYLOADS[port], data.payload)
        except Exception:
            return nodes
        if port == 5 and content.WhichOneof("variant") not in ("route_request", "route_reply"):
            return nodes
        if port == 8:
            found = [content.locked_to]
        elif port == 71:
            found = [content.node_id, content.last_sent_by_id] + [neighbor.node_id for neighbor in content.neighbors]
        else:
            route = content if port == 70 else getattr(content, content.WhichOneof("variant"))
            found = list(route.route) + list(route.route_back)
        for node in found:
            if node not in (0, BROADCAST, to) and node not in nodes and len(nodes) < 64:
                nodes.append(node)
        return nodes

    # Nodes

    def node(self, number, event, heard):
        if number not in self.nodes:
            self.nodes[number] = {"long_name": None, "short_name": None, "hw": 0, "role": 0, "first_heard": heard, "last_heard": heard,
                                  "hops_away": None, "channel": None, "packets": 0, "receptions": 0, "unreadable": 0, "key": b"",
                                  "has_key_conflict": False, "first_sequence": event.sequence, "last_sequence": event.sequence,
                                  "firmware": None, "via_mqtt": False, "snr": 0, "rssi": 0, "times": {}, **self.marks.get(number, UNMARKED)}
        return self.nodes[number]

    def hear(self, event, packet, data, channel, at):
        time, heard = self.time(event, packet)[0], self.heard(event, packet)
        if event.replayed:
            row = self.node(getattr(packet, "from"), event, heard)
            row["last_heard"], row["last_sequence"] = max(row["last_heard"], heard), event.sequence
            return
        row = self.node(getattr(packet, "from"), event, time)
        row["receptions"] += not at.repeat
        row["packets"] += at.first
        row["unreadable"] += (at.first and data is None) - (at.readable and not at.first)
        row["last_sequence"] = event.sequence
        row["last_heard"] = max(row["last_heard"], time)
        row["first_heard"] = min(row["first_heard"] or time, time)
        self.newest(row, "via_mqtt", packet.via_mqtt, heard)
        if (packet.rx_snr or packet.rx_rssi) and heard >= row["times"].get("signal", 0):
            row["times"]["signal"], row["snr"], row["rssi"] = heard, packet.rx_snr, packet.rx_rssi
        if 7 >= packet.hop_start >= packet.hop_limit and (packet.hop_start > 0 or (data is not None and data.HasField("bitfield"))):
            self.newest(row, "hops_away", packet.hop_start - packet.hop_limit, heard)
        if data is not None:
            self.newest(row, "channel", channel, heard)

    @staticmethod
    def newest(row, name, value, heard):
        if heard >= row["times"].get(name, 0):
            row[name], row["times"][name] = value, heard

    def newest_name(self, row, name, value, heard):
        """A name with what cannot be read gives way to one without, and never the other way round."""
        if not value:
            return
        if row[name] and unclean(row[name]) != unclean(value):
            if not unclean(value):
                row[name], row["times"][name] = value, heard
            return
        self.newest(row, name, value, heard)

    def begin(self, rows, key, event, time, **fields):
        """The row of a key, with the times and sequences that all such rows have."""
        row = rows.setdefault(key, {"first_time": time, "time": time, "first_sequence": event.sequence, **fields})
        row.update(time=max(row["time"], time), first_time=min(row["first_time"], time), sequence=event.sequence)
        return row

    def traffic(self, event, packet, channel, hashed, at):
        row = self.begin(self.channels, channel, event, self.time(event, packet)[0], packets=0, receptions=0, hash=channel[2], hash_time=0)
        row["receptions"] += not at.repeat
        row["packets"] += at.first
        heard = self.heard(event, packet)
        if hashed is not None and heard >= row["hash_time"]:
            row["hash"], row["hash_time"] = hashed, heard

    def pass_on(self, event, packet, data, gateway, at):
        sender, time = getattr(packet, "from"), self.time(event, packet)[0]
        row = self.begin(self.gateways, gateway, event, time, receptions=0, packets=0, unreadable=0, via_mqtt=0, own=0, nodes=0, sources=[],
                         lowest_snr=None, highest_snr=None, lowest_rssi=None, highest_rssi=None)
        for name, more in (("receptions", 1), ("packets", at.first_of_gateway), ("unreadable", data is None), ("via_mqtt", packet.via_mqtt),
                           ("own", sender == gateway)):
            row[name] += more and not at.repeat
        if event.source not in row["sources"] and len(row["sources"]) < 8:
            row["sources"].append(event.source)
        heard = sender != gateway and not packet.via_mqtt
        snr = packet.rx_snr if heard and (packet.rx_snr or packet.rx_rssi) and math.isfinite(packet.rx_snr) else None
        for name, value in (("snr", snr), ("rssi", packet.rx_rssi or None if heard else None)):
            if value is not None:
                row[f"lowest_{name}"] = value if row[f"lowest_{name}"] is None else min(row[f"lowest_{name}"], value)
                row[f"highest_{name}"] = value if row[f"highest_{name}"] is None else max(row[f"highest_{name}"], value)
        if sender != gateway:
            row["nodes"] += (gateway, sender) not in self.pairs
            pair = self.begin(self.pairs, (gateway, sender), event, time, receptions=0, highest_snr=None)
            pair["receptions"] += not at.repeat
            if snr is not None:
                pair["highest_snr"] = snr if pair["highest_snr"] is None else max(pair["highest_snr"], snr)

    # What people decided

    def annotate(self, event):
        said = {number: value for number, _, value, *_ in fields(event.payload)}
        node, messages = said.get(1), said.get(2, b"")
        count = len(messages) // 12
        if (node is not None) == (count > 0) or node in (0, BROADCAST):
            raise ValueError("of nothing, or of both")
        archived = 0 if not said.get(5, 0) else max(said.get(9, event.arrival if event.reception is None else event.reception), 1)
        if node is not None:
            mark = dict(self.marks.get(node, UNMARKED))
            for number, name in ((3, "is_favorite"), (4, "is_ignored")):
                mark[name] = bool(said.get(number, mark[name]))
            for number, name in ((7, "note"), (8, "alias")):
                mark[name] = said[number].decode() or None if number in said else mark[name]
            if 5 in said:
                mark["archived_at"] = archived
            for other, known in self.marks.items():
                if mark["alias"] and known["alias"] == mark["alias"] and other != node:
                    known["alias"] = None
                    self.nodes.get(other, {}).update(alias=None)
            self.marks[node] = mark
            self.nodes.get(node, {}).update(mark)
            self.index[event.sequence] = {"from": 0, "to": 0, "gateway": 0, "channel": None, "port": None, "named": [node],
                                          "first": False, "first_readable": False, "repeat": False}
            return
        senders = set()
        for place in range(count):
            sender, number, time = struct.unpack_from("<III", messages, 12 * place)
            senders.add(sender)
            near = [row for row in self.by_packet.get((sender, number), []) if abs(row["time"] - time) <= 3600]
            if not near:
                continue
            row = min(near, key=lambda row: (abs(row["time"] - time), row["first_sequence"]))
            if 6 in said:
                row["is_read"] = bool(said[6])
            if 5 in said:
                row["archived_at"] = archived
        self.index[event.sequence] = {"from": 0, "to": 0, "gateway": 0, "channel": None, "port": None, "named": sorted(senders)[:64],
                                      "first": False, "first_readable": False, "repeat": False}

    # What nodes said of themselves

    def learn(self, event, packet, node, kind, told, gateway=0):
        time, source = self.time(event, packet)
        known = self.known.setdefault(node, {"long_name": "", "short_name": "", "hardware": 0, "role": 0, "firmware": "", "first": b"", "last": b""})
        long_name, short_name = cut(getattr(told, "long_name", ""), 64), cut(getattr(told, "short_name", ""), 64)
        firmware, has_role = cut(getattr(told, "firmware_version", ""), 64), {"mapReport": long_name, "metadata": True}.get(kind, long_name or short_name)
        changes = []
        for name, value in (("long_name", long_name), ("short_name", short_name), ("hardware", told.hw_model), ("role", told.role if has_role else None),
                            ("firmware", firmware)):
            if (value or name == "role" and value is not None) and value != known[name]:
                known[name] = value
                changes.append(name)
        key, shared = getattr(told, "public_key", b""), 0
        if len(key) == 32 and key != known["last"]:
            changes.append("first_key" if not known["first"] else "first_key_again" if key == known["first"] else "other_key")
            known["last"] = key
            if not known["first"]:
                known["first"] = key
                holders = self.key_holders.setdefault(key, [])
                if holders:
                    changes.append("shared_key")
                    shared = holders[-1]
                holders.append(node)
        if told.hw_model:
            row = self.begin(self.hardware, (told.hw_model, node), event, time, count=0, firmware="", target="", latest={})
            row["count"] += 1
            for name, value in (("firmware", firmware), ("target", self.radio_nodes[event.source][1] if kind == "metadata" else "")):
                if value and time >= row["latest"].get(name, 0):
                    row[name], row["latest"][name] = value, time
        if changes:
            self.history[node, time, event.sequence] = {
                "time_source": source, "changes": changes, "kind": kind, "public_key": base64.b64encode(key).decode() if len(key) == 32 else None,
                "same_key_as": shared, "gateway": gateway, **{name: known[name] for name in ("long_name", "short_name", "firmware")}}

    def report(self, event, packet, report, channel, at):
        time, source = self.time(event, packet)
        row = self.reports.setdefault(getattr(packet, "from"), {"time": time, "first_time": time, "first_sequence": event.sequence, "reports": 0, "most": 0})
        row.update(reports=row["reports"] + at.readable, first_time=min(row["first_time"], time), most=max(row["most"], report.num_online_local_nodes))
        if time < row["time"]:
            return
        latitude, longitude = report.latitude_i, report.longitude_i
        placed = (latitude or longitude) and abs(latitude) <= 900000000 and abs(longitude) <= 1800000000
        row.update(time=time, time_source=source, sequence=event.sequence, channel=shortened(channel), online=report.num_online_local_nodes,
                   latitude_e7=latitude if placed else None, longitude_e7=longitude if placed else None, precision_bits=report.position_precision,
                   long_name=cut(report.long_name, 64), short_name=cut(report.short_name, 64), firmware=cut(report.firmware_version, 64))

    def introduce(self, row, user, heard):
        for name in ("long_name", "short_name"):
            self.newest_name(row, name, cut(getattr(user, name), 64), heard)
        if user.hw_model:
            self.newest(row, "hw", user.hw_model, heard)
        if user.long_name or user.short_name:
            self.newest(row, "role", user.role, heard)
        if len(user.public_key) == 32:
            heard = heard or LATEST
            if row["key"] and row["key"] != user.public_key:
                row["has_key_conflict"] = True
            if not row["key"] or heard < row["times"]["key"]:
                row["key"], row["times"]["key"] = user.public_key, heard

    def describe(self, row, report, heard):
        for name in ("long_name", "short_name"):
            self.newest_name(row, name, cut(getattr(report, name), 64), heard)
        if report.hw_model:
            self.newest(row, "hw", report.hw_model, heard)
        if report.long_name:
            self.newest(row, "role", report.role, heard)
        if report.firmware_version:
            self.newest(row, "firmware", cut(report.firmware_version, 64), heard)

    # Content

    def replaces(self, at, *views):
        """Whether a row may be made of this event: the first one, or one in the place of a row of before, which goes."""
        if at.readable:
            return True
        if at.supersedes and at.packet["row"] and at.packet["row"][0] in views:
            view, key = at.packet["row"]
            del getattr(self, view)[key]
            at.packet["row"] = None
        return at.supersedes

    def add(self, at, view, key, row):
        getattr(self, view)[key] = row
        at.packet["row"] = view, key

    def content(self, event, packet, data, channel, gateway, at):
        sender, port = getattr(packet, "from"), data.portnum
        if port in (1, 11):
            self.message(event, packet, data, channel, gateway, at)
            return
        if not at.readable:
            self.replaces(at, "positions", "telemetry", "unknown", "sensors")
        try:
            if not event.sound:
                raise ValueError("a payload without what its type needs")
            if port in TEXTS:
                data.payload.decode("utf-8")
            if port in WIRE_ONLY:
                list(fields(data.payload))
            content = read(PAYLOADS[port], data.payload) if port in PAYLOADS else None
        except Exception:
            if at.readable or at.supersedes and (port in SENSORS or port in (3, 67)):
                self.quarantine.add(event.sequence)
            return
        if port in (70, 71):
            self.hear_of(event, packet, data, content, at)
        if port in SENSORS and self.replaces(at, "sensors"):
            time, source = self.time(event, packet)
            self.add(at, "sensors", (sender, port, time, event.sequence), {
                "time_source": source, "packet_id": packet.id, "to": packet.to, "gateway": gateway, "channel": channel,
                "text": data.payload.decode() if port in TEXTS else None})
        if port == 4:
            self.introduce(self.nodes[sender], content, self.heard(event, packet))
            if at.readable:
                self.learn(event, packet, sender, "nodeInfo", content, gateway)
        elif port == 73:
            self.report(event, packet, content, channel, at)
            if at.readable:
                self.learn(event, packet, sender, "mapReport", content, gateway)
            self.describe(self.nodes[sender], content, self.heard(event, packet))
        elif port == 3:
            self.position(event, packet, content, gateway, at)
        elif port == 8:
            self.waypoint(event, packet, content, channel, gateway, at)
        elif port == 67:
            self.metrics(event, packet, content, data.payload, at)
        elif port == 5 and at.readable and data.request_id and content.WhichOneof("variant") == "error_reason":
            self.receipt(event, packet, data.request_id, content.error_reason)

    def position(self, event, packet, position, gateway, at):
        if not (position.HasField("latitude_i") and position.HasField("longitude_i")):
            return
        latitude, longitude, bits = position.latitude_i, position.longitude_i, position.precision_bits
        if abs(latitude) > 900000000 or abs(longitude) > 1800000000:
            if at.readable or at.supersedes:
                self.quarantine.add(event.sequence)
            return
        if not self.replaces(at, "positions"):
            return
        if (latitude, longitude) == (0, 0):
            return
        if latitude == longitude and 1 <= bits <= 31 and latitude == 1 << (31 - bits):
            return
        time, source = self.time(event, packet, fix=position.timestamp, sent=position.time)
        if time >= self.places.get(getattr(packet, "from"), (0,))[0]:
            self.places[getattr(packet, "from")] = time, latitude, longitude
        self.add(at, "positions", (getattr(packet, "from"), time, event.sequence), {
            "time_source": source, "latitude_e7": latitude, "longitude_e7": longitude, "gateway": gateway, "packet_id": packet.id,
            "altitude": position.altitude if position.HasField("altitude") else None, "precision_bits": bits})

    def waypoint(self, event, packet, waypoint, channel, gateway, at):
        placed = waypoint.HasField("latitude_i") and waypoint.HasField("longitude_i")
        latitude, longitude = (waypoint.latitude_i, waypoint.longitude_i) if placed else (None, None)
        if waypoint.id == 0:
            return
        if placed and (abs(latitude) > 900000000 or abs(longitude) > 1800000000):
            if at.readable:
                self.quarantine.add(event.sequence)
            return
        sender, (time, source) = getattr(packet, "from"), self.time(event, packet)
        deletes = waypoint.expire != 0 and waypoint.expire <= time
        row = self.waypoints.setdefault(waypoint.id, {
            "time": 0, "content_time": 0, "deleted": False, "locked_to": 0, "changes": 0, "refused": 0, "first_sequence": event.sequence, "creator": 0,
            "created_time": 0, "latitude_e7": None, "longitude_e7": None, "name": "", "details": "", "icon": 0})
        if not deletes and (not row["created_time"] or time < row["created_time"]):
            row.update(creator=sender, created_time=time)
        if time < (row["time"] if deletes else row["content_time"]):
            row["changes"] += at.readable
            return
        if row["content_time"] and (not row["deleted"] or time < row["time"]) and row["locked_to"] not in (0, sender):
            row["refused"] += at.readable
            return
        row["changes"] += at.readable
        if time >= row["time"]:
            row.update(time=time, time_source=source, sequence=event.sequence, packet_id=packet.id, to=packet.to, gateway=gateway, channel=channel,
                       expire=waypoint.expire, deleted=deletes)
            row["from"] = sender
        if not deletes:
            row.update(latitude_e7=latitude, longitude_e7=longitude, locked_to=waypoint.locked_to, name=cut(waypoint.name, 64), icon=waypoint.icon,
                       details=cut(waypoint.description, 256), content_time=time)

    def trace(self, event, packet, data, channel, packet_sequence):
        try:
            found = read(mesh_pb2.RouteDiscovery, data.payload)
        except Exception:
            return
        sender, (time, source), answers = getattr(packet, "from"), self.time(event, packet), data.request_id != 0
        if answers and packet.to in (0, BROADCAST):
            return
        way = list(found.route)[:16], list(found.snr_towards)[:17]
        back = list(found.route_back)[:16], list(found.snr_back)[:17]
        key = (packet.to, data.request_id) if answers else (sender, packet.id)
        row = self.traces.get(key)
        if row and row["reply_sequence" if answers else "request_sequence"] != packet_sequence and abs(row["time"] - time) > 3600:
            if time < row["time"]:
                return
            row = None
        if row is None:
            row = {"time": time, "time_source": source, "to": 0, "first_sequence": event.sequence, "sequence": event.sequence, "request_sequence": 0,
                   "reply_sequence": 0, "reply_id": None, "reply_time": 0, "channel": None, "towards": ([], []), "back": ([], []), "places": {}}
            self.traces[key] = row
        row["channel"], answered = row["channel"] or channel, row["reply_sequence"]
        if answers:
            counts = self.trace_answer(event, packet, packet_sequence, row, sender, time, way, back)
        else:
            counts = self.trace_question(event, packet, packet_sequence, row, way)
        if counts and time < row["time"]:
            row.update(time=time, time_source=source)
        if row["sequence"] == event.sequence:
            if row["reply_sequence"] and not answered:
                row["places"] = {}
            for node in [key[0], row["to"]] + row["towards"][0] + row["back"][0]:
                if node in self.places:
                    row["places"].setdefault(node, self.places[node])

    def trace_question(self, event, packet, packet_sequence, row, way):
        if not row["request_sequence"]:
            row.update(request_sequence=packet_sequence, sequence=event.sequence)
            row["to"] = row["to"] if row["reply_sequence"] else packet.to
        if not row["reply_sequence"] and length(way) > length(row["towards"]):
            row.update(towards=way, sequence=event.sequence)
        return True

    def trace_answer(self, event, packet, packet_sequence, row, sender, time, way, back):
        if not row["reply_sequence"]:
            if row["request_sequence"] and row["to"] not in (sender, BROADCAST):
                return False
            row.update(reply_sequence=packet_sequence, reply_id=packet.id, reply_time=time, to=sender, towards=way, sequence=event.sequence)
        if (row["reply_id"], row["to"]) != (packet.id, sender):
            return False
        row["reply_time"] = min(row["reply_time"], time)
        if length(way) > length(row["towards"]):
            row.update(towards=way, sequence=event.sequence)
        if length(back) > length(row["back"]):
            row.update(back=back, sequence=event.sequence)
        return True

    def hear_directly(self, event, packet, data, gateway, at):
        sender = getattr(packet, "from")
        known = packet.hop_start > 0 or (data is not None and data.HasField("bitfield"))
        if not gateway or packet.hop_start != packet.hop_limit or packet.hop_start > 7 or not known or packet.via_mqtt:
            return
        if packet.relay_node & 255 not in (0, sender & 255 or 255) or not (packet.rx_snr or packet.rx_rssi):
            return
        time = self.time(event, packet)[0]
        row = self.link(event, gateway, sender, 0, time, packet.rx_snr, not at.repeat)
        if row and packet.rx_rssi and time >= row["rssi_time"]:
            row.update(rssi=packet.rx_rssi, rssi_time=time)

    def hear_of(self, event, packet, data, content, at):
        sender, time = getattr(packet, "from"), self.time(event, packet)[0]
        if data.portnum == 71:
            for neighbor in content.neighbors[:64]:
                self.link(event, sender, neighbor.node_id, 1, self.time(event, packet, sent=neighbor.last_rx_time)[0], neighbor.snr,
                          at.readable)
            return
        first, last = (packet.to, sender) if data.request_id else (sender, packet.to)
        ways = [(first, list(content.route), last, list(content.snr_towards))]
        if data.request_id:
            ways.append((last, list(content.route_back), first, list(content.snr_back)))
        for begin, between, end, strengths in ways:
            if len(between) > 16 or len(strengths) not in (len(between), len(between) + 1):
                continue
            nodes = [begin] + between + [end]
            for index, strength in enumerate(strengths):
                if strength != -128:
                    self.link(event, nodes[index + 1], nodes[index], 2, time, strength / 4, not at.repeat)

    def link(self, event, hearer, heard, kind, time, snr, counts):
        if hearer == heard or {hearer, heard} & {0, BROADCAST} or not math.isfinite(snr):
            return None
        row = self.links.setdefault((hearer, heard), {"time": time, "first_time": time, "first_sequence": event.sequence, "counts": [0, 0, 0],
                                                      "rssi": None, "rssi_time": 0, "samples": {}})
        row["counts"][kind] += counts
        row.update(first_time=min(row["first_time"], time), sequence=event.sequence)
        if time >= row["time"]:
            row.update(time=time, snr=snr, evidence=kind)
        samples, stretch = row["samples"], time // 900
        if stretch not in samples or time < samples[stretch][0]:
            samples[stretch] = [time, snr, kind]
        if len(samples) > 128:
            del samples[min(samples)]
        return row

    def metrics(self, event, packet, telemetry, payload, at):
        if not self.replaces(at, "telemetry", "unknown"):
            return
        kind = telemetry.WhichOneof("variant")
        time, source = self.time(event, packet, sent=telemetry.time)
        numbers = [number for number, wire, *_ in fields(payload) if wire == 2 and 2 <= number <= 31]
        if numbers and numbers[-1] > 9 and numbers[-1] != 11:
            self.add(at, "unknown", (getattr(packet, "from"), numbers[-1], time, event.sequence), {"time_source": source, "packet_id": packet.id})
            return
        if numbers and numbers[-1] == 11:
            # The official package does not have it yet.
            body = [value for number, wire, value, *_ in fields(payload) if wire == LENGTH and number == 11][-1]
            known = {SOIL[number - 1] for number, wire, *_ in fields(body) if wire == 5 and number <= len(SOIL)}
            self.add(at, "telemetry", (getattr(packet, "from"), 11, time, event.sequence), {"time_source": source, "packet_id": packet.id, "fields": sorted(known)})
            return
        if kind is None or kind not in KINDS:
            return
        self.add(at, "telemetry", (getattr(packet, "from"), KINDS.index(kind) + 2, time, event.sequence), {
            "time_source": source, "packet_id": packet.id, "fields": sorted(field.name for field, _ in getattr(telemetry, kind).ListFields())})

    def message(self, event, packet, data, channel, gateway, at):
        if not at.readable and not at.supersedes:
            return
        sender, (time, source) = getattr(packet, "from"), self.time(event, packet)
        told = {"time": time, "time_source": source, "from": sender, "to": packet.to, "id": packet.id, "channel": channel,
                "text": data.payload.decode("utf-8", "replace"), "reply_id": data.reply_id, "reaction": bool(data.emoji and data.reply_id)}
        if at.supersedes:
            if at.packet["row"] and at.packet["row"][0] == "messages":
                row = self.messages.pop(at.packet["row"][1])
                row.update(told)
                self.add(at, "messages", event.sequence, row)
            return
        row = {**told, "state": 1, "receptions": 0, "gateways": [], "reason": 0, "first_sequence": at.packet["sequence"], "is_read": False,
               "archived_at": 0, "has_conflict": at.packet["conflict"]}
        self.add(at, "messages", event.sequence, row)
        if packet.id:
            self.by_packet.setdefault((sender, packet.id), []).append(row)
            for receipt in self.waiting.pop((sender, packet.id), []):
                if abs(receipt[0] - time) <= 3600:
                    self.raise_state(row, *receipt[1:])

    def receipt(self, event, packet, request, reason):
        rows = self.by_packet.get((packet.to, request))
        if rows:
            self.raise_state(max(rows, key=lambda row: row["first_sequence"]), getattr(packet, "from"), reason)
        else:
            waiting = self.waiting.setdefault((packet.to, request), [])
            if len(waiting) < 4:
                waiting.append((self.time(event, packet)[0], getattr(packet, "from"), reason))

    def raise_state(self, row, sender, reason):
        state = 2 if reason else (4 if sender == row["to"] else 3)
        if state > row["state"]:
            row["state"], row["reason"] = state, reason if state == 2 else 0
        elif state == row["state"] == 2:
            row["reason"] = min(row["reason"], reason)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("events")
    arguments.add_argument("--psk", action="append", default=[])
    arguments.add_argument("--aead", action="append", default=[])
    options = arguments.parse_args()
    extra, sealed = ([(name, base64.b64decode(psk)) for name, psk in (entry.split("=", 1) for entry in entries)] for entries in (options.psk, options.aead))
    fold = Fold(Keys(extra, sealed))
    for line in open(options.events, encoding="utf-8"):
        if not json.loads(line).get("erased"):
            fold.event(Event(line))
    out = []
    for number, row in fold.nodes.items():
        row["public_key"] = base64.b64encode(row.pop("key")).decode() or None
        out.append({"view": "nodes", "key": [number], **row})
    for view, rows in (("positions", fold.positions), ("telemetry", fold.telemetry)):
        out += [{"view": view, "key": list(key), **row} for key, row in rows.items()]
    out += [{"view": "messages", "key": [sequence], **row} for sequence, row in fold.messages.items()]
    out += [{"view": "waypoints", "key": [number], **row} for number, row in fold.waypoints.items()]
    for (asker, number), row in fold.traces.items():
        way, back, places, answered = row.pop("towards"), row.pop("back"), row.pop("places"), row["reply_sequence"] != 0
        arrived = asker if len(back[1]) > len(back[0]) else None
        row["towards"] = hops(asker, way, row["to"] if answered else None, places)
        row["back"] = hops(row["to"], back, arrived, places) if answered else []
        out.append({"view": "traceroutes", "key": [asker, number], **row})
    for row in fold.links.values():
        row["samples"] = [sample for _, sample in sorted(row["samples"].items())]
    out += [{"view": "links", "key": list(key), **row} for key, row in fold.links.items()]
    out += [{"view": "channels", "key": [name, mark, -1 if number is None else number], **row} for (name, mark, number), row in fold.channels.items()]
    out += [{"view": "gateways", "key": [number], **row} for number, row in fold.gateways.items()]
    out += [{"view": "mapreports", "key": [number], **row} for number, row in fold.reports.items()]
    for view, rows in (("gateway_nodes", fold.pairs), ("unknown_telemetry", fold.unknown), ("sensors", fold.sensors), ("nodehistory", fold.history), ("hardware", fold.hardware),
                       ("radios", fold.radios)):
        out += [{"view": view, "key": list(key), **row} for key, row in rows.items()]
    out += [{"view": "packets", "key": [sequence], **row} for sequence, row in fold.index.items()]
    out += [{"view": "quarantine", "key": [sequence]} for sequence in fold.quarantine]
    for row in sorted(out, key=lambda row: (row["view"], row["key"])):
        print(json.dumps(row, ensure_ascii=False))


main()
