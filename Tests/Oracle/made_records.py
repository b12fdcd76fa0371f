"""Records in which a mesh's packets come: envelopes of MQTT, frames of a radio, the JSON form; and what a person decides."""
import json, struct
from google.protobuf.json_format import MessageToDict
from made_payloads import ODD_TEXTS, filled, tagged
from opening import BROADCAST, PAYLOADS
from packets import replay_id
from schema import messages

TYPES = {1: "text", 67: "telemetry", 4: "nodeinfo", 3: "position", 8: "waypoint", 71: "neighborinfo", 70: "traceroute", 10: "detection", 34: "paxcounter"}
RENAMED = {"long_name": "longname", "short_name": "shortname", "hw_model": "hardware", "wifi": "wifi_count", "ble": "ble_count", "pm10_standard": "pm10",
           "pm25_standard": "pm25", "pm100_standard": "pm100", **{f"ch{number}_{what}": f"{what}_ch{number}" for number in range(1, 4)
                                                                 for what in ("voltage", "current")}}
LONGEST_FRAME = 512


def envelope(mesh, packet, gateway, name):
    made = messages.ServiceEnvelope(channel_id=name, gateway_id=f"!{gateway:08x}")
    made.packet.CopyFrom(packet)
    if mesh.random.random() < 0.03:
        replay(mesh.random, made.packet)
    content = made.SerializeToString()
    return damaged_record(mesh, content)


def damaged_record(mesh, content):
    """Now and then what a broken gateway sends."""
    random = mesh.random
    if random.random() > mesh.hostile / 3:
        return content
    choice = random.randrange(4)
    if choice == 0:
        return content[:random.randrange(len(content))]
    if choice == 1:
        return content + tagged(3, 2, random.choice(ODD_TEXTS))
    if choice == 2:
        return content + tagged(random.choice([9, 20]), 5, 9)
    place = random.randrange(len(content))
    return content[:place] + random.randbytes(1) + content[place + 1:]


def frame(mesh, packet):
    """A packet as a radio hands it to its client, or state of a node that a 2.8 radio replays."""
    random, made = mesh.random, messages.FromRadio(id=random_id(mesh))
    made.packet.CopyFrom(packet)
    if random.random() < 0.15:
        replay(random, made.packet)
    content = damaged_record(mesh, made.SerializeToString())
    return content if len(content) <= LONGEST_FRAME else messages.FromRadio(rebooted=True).SerializeToString()


def replay(random, packet):
    """Makes it state that a node of 2.8 replays, or something alike."""
    if not packet.HasField("decoded") or packet.decoded.portnum not in (3, 67, 36):
        return
    kind = {3: 3, 67: random.choice([2, 3]), 36: 36}[packet.decoded.portnum]
    packet.id = replay_id(getattr(packet, "from"), packet.rx_time, kind)
    if random.random() < 0.8:
        packet.to, packet.channel, packet.priority, packet.transport_mechanism = BROADCAST, 0, 10, 1


def random_id(mesh):
    return mesh.random.randint(1, 9_999)


def frames_of_a_radio(mesh, radio):
    """What a radio tells a client that connects."""
    random, frames = mesh.random, []
    frames.append(messages.FromRadio(my_info=messages.MyNodeInfo(my_node_num=radio.number, pio_env=random.choice(["tbeam", "heltec-v3", ""]))))
    frames.append(messages.FromRadio(metadata=messages.DeviceMetadata(
        firmware_version=random.choice(["2.7.15.a", "2.8.1.b"]), hw_model=radio.hardware, role=random.choice([0, 2]))))
    for index, name in enumerate(random.sample(["", "Harbour", "Quay", "MediumFast", "Own"], 3)):
        settings = messages.ChannelSettings(name=name, psk=random.choice([b"\1", bytes(range(16)), b""]), id=random.getrandbits(8))
        frames.append(messages.FromRadio(channel=messages.Channel(index=index, settings=settings, role=1 + (index > 0))))
    for field in messages.Config.DESCRIPTOR.fields:
        config = messages.Config()
        filled(random, getattr(config, field.name)).ByteSize()
        getattr(config, field.name).SetInParent()
        if random.random() < 0.7:
            frames.append(messages.FromRadio(config=config))
    for field in messages.ModuleConfig.DESCRIPTOR.fields:
        module = messages.ModuleConfig()
        filled(random, getattr(module, field.name)).ByteSize()
        getattr(module, field.name).SetInParent()
        if random.random() < 0.4:
            frames.append(messages.FromRadio(moduleConfig=module))
    frames.append(messages.FromRadio(deviceuiConfig=filled(random, messages.DeviceUIConfig())))
    frames.append(messages.FromRadio(region_presets=tagged(1, 2, b"\x08\x03")))
    for node in random.sample(mesh.nodes, min(5, len(mesh.nodes))):
        info = messages.NodeInfo(num=node.number, last_heard=random.choice([0, mesh.now, mesh.now - 50, mesh.now - 90_000, mesh.now + 9_000]), snr=5)
        if random.random() < 0.9:
            info.user.long_name, info.user.short_name, info.user.hw_model, info.user.role = node.long_name, node.short_name, node.hardware, node.role
            info.user.public_key = random.choice([node.public, b""])
        frames.append(messages.FromRadio(node_info=info))
    frames.append(messages.FromRadio(config_complete_id=69_420))
    contents = [message.SerializeToString() for message in frames]
    return [content for content in contents if len(content) <= LONGEST_FRAME]


def json_form(mesh, packet, gateway, name):
    """The message that firmware 2.7 publishes of a packet that it could read; none of others."""
    random, data = mesh.random, packet.decoded
    if not packet.HasField("decoded") or (data.portnum not in TYPES and data.portnum != 256):
        return None
    out = {"id": packet.id, "timestamp": packet.rx_time, "to": packet.to, "from": getattr(packet, "from"), "channel": packet.channel,
           "type": TYPES.get(data.portnum, ""), "sender": f"!{gateway:08x}"}
    if random.random() < 0.1:
        out["to"] = packet.to - (1 << 32) if packet.to >= 1 << 31 else packet.to
    if packet.rx_rssi:
        out["rssi"] = packet.rx_rssi
    if packet.rx_snr == packet.rx_snr and packet.rx_snr:
        out["snr"] = packet.rx_snr
    if packet.hop_start >= packet.hop_limit and random.random() < 0.9:
        out["hops_away"], out["hop_start"] = packet.hop_start - packet.hop_limit, packet.hop_start
    if data.portnum in (1, 10):
        text = data.payload.decode("utf-8", "replace")
        out["payload"] = random.choice([{"text": text}, text] if random.random() < 0.1 else [{"text": text}])
    elif data.portnum in TYPES:
        try:
            members = MessageToDict(PAYLOADS[data.portnum].FromString(data.payload), preserving_proto_field_name=True, use_integers_for_enums=True)
        except Exception:
            return None
        out["payload"] = body(random, data.portnum, members)
    if random.random() < mesh.hostile / 4:
        del out[random.choice(sorted(out))]
    content = json.dumps(out, ensure_ascii=False).encode()
    return content[:random.randrange(len(content))] if random.random() < mesh.hostile / 8 else content


def body(random, port, members):
    if port == 67:
        metrics = [value for value in members.values() if isinstance(value, dict)]
        members = {name: value for name, value in (metrics[0] if metrics else {}).items() if not isinstance(value, list)}
    if port == 70:
        some = ["Unknown", "Hill"]
        return {way: ["!0000000a", *(f"!{hop:08x}" if random.random() < 0.8 else random.choice(some) for hop in members.get(way, [])), "!0000000b"]
                for way in ("route", "route_back")} | {name: [strength / 4 for strength in members.get(name, [])] for name in ("snr_towards", "snr_back")}
    members.pop("bounding_box", None)
    if port == 71:
        members["neighbors_count"] = len(members.get("neighbors", []))
    return {RENAMED.get(name, name): value for name, value in members.items() if name != "macaddr" and value not in ("NaN", "Infinity", "-Infinity")}


def annotation(mesh):
    """What a person decides about a node, or about messages."""
    random, out = mesh.random, bytearray()
    if random.random() < 0.6:
        out += tagged(1, 5, random.choice([node.number for node in mesh.nodes] + [12_345, 0, BROADCAST]))
        for number in (3, 4, 5):
            if random.random() < 0.4:
                out += tagged(number, 0, random.randint(0, 1))
        for number in (7, 8):
            if random.random() < 0.4:
                out += tagged(number, 2, random.choice([b"", b"harbour", b"hill", "é山".encode()]))
    else:
        chosen = [packet for _, packet, port, _ in mesh.sent if port in (1, 11)][-3:]
        keys = b"".join(struct.pack("<III", getattr(packet, "from"), packet.id, mesh.now - random.choice([0, 60, 3_500, 9_000])) for packet in chosen)
        out += tagged(2, 2, keys or struct.pack("<III", 5, 6, 7))
        for number in (5, 6):
            if random.random() < 0.6:
                out += tagged(number, 0, random.randint(0, 1))
    if random.random() < 0.3:
        out += tagged(9, 5, mesh.now - random.randint(0, 90_000))
    return bytes(out)
