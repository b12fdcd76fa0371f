"""The JSON form of MQTT as the packet that it was made from, by the rules of Sources/MeshViews/FOLD.md. Messages are built by the official package."""
import json, math, re
from google.protobuf.descriptor import FieldDescriptor as F
from schema import messages
from wire import FIXED32, LENGTH, VARINT, WIRE, encoded, fields, repeats, varint

BROADCAST = 0xFFFFFFFF
USER = {"longname": "long_name", "shortname": "short_name", "hardware": "hw_model"}
PAX = {"wifi_count": "wifi", "ble_count": "ble"}
AIR = {"pm10": "pm10_standard", "pm25": "pm25_standard", "pm100": "pm100_standard"}
POWER = {f"{what}_ch{number}": f"ch{number}_{what}" for what in ("voltage", "current") for number in range(1, 9)}
METRICS = ["device_metrics", "environment_metrics", "air_quality_metrics", "power_metrics", "local_stats", "health_metrics",
           "host_metrics", "traffic_management_stats", "soil_water_metrics"]
RENAMED = {"air_quality_metrics": AIR, "power_metrics": POWER}
PORTS = {"text": 1, "telemetry": 67, "nodeinfo": 4, "position": 3, "waypoint": 8, "neighborinfo": 71, "traceroute": 70, "detection": 10,
         "paxcounter": 34, "gpios_changed": 2, "gpios_read_reply": 2}
# What a payload without a type is, by its members: the first that fits.
MARKS = [("text", {"text"}), ("nodeinfo", {"longname", "shortname", "hardware"}), ("place", {"latitude_i", "longitude_i"}),
         ("neighborinfo", {"neighbors", "neighbors_count"}), ("traceroute", {"route", "route_back"}),
         ("paxcounter", {"wifi_count", "ble_count"}), ("gpio", {"gpio_value"})]


def packet(payload, source):
    """(MeshPacket, channel name, gateway, whether the payload is sound). Raises where the bytes are no such message."""
    message = json.loads(payload.decode("utf-8"))
    if not isinstance(message, dict) or node(message.get("from")) is None:
        raise ValueError("no sender")
    out = messages.MeshPacket(id=bits(message.get("id")) or 0, channel=bits(message.get("channel")) or 0, rx_time=bits(message.get("timestamp")) or 0)
    setattr(out, "from", node(message["from"]))
    out.to = BROADCAST if node(message.get("to")) is None else node(message["to"])
    start, away = small(message.get("hop_start")), small(message.get("hops_away"))
    out.hop_start = start if start is not None else away or 0
    out.hop_limit = out.hop_start - away if away is not None and away <= out.hop_start else 0
    snr, rssi = number(message.get("snr")), whole(message.get("rssi"))
    out.rx_snr = snr if snr is not None and abs(snr) < 1e38 else 0
    if rssi is not None and -(1 << 31) <= rssi < 1 << 31:
        out.rx_rssi = rssi
    gateway = re.fullmatch("![0-9a-fA-F]{1,8}", str(message.get("sender")))
    kind, content = message.get("type") or "", message.get("payload")
    if "payload" in message and (content is not None or kind == "text"):
        kind = kind or inferred(content)
        if kind in PORTS:
            out.decoded.portnum = PORTS[kind]
            if out.hop_start == 0 and away == 0:
                out.decoded.bitfield = 0
            body = body_of(kind, content)
            out.decoded.payload = body or b""
            if kind == "traceroute":  # an answer; which question it is of is not known
                out.decoded.request_id = out.id
            return out, channel_of(source), int(gateway[0][1:], 16) if gateway else 0, body is not None
    return out, channel_of(source), int(gateway[0][1:], 16) if gateway else 0, True


def channel_of(source):
    found = re.search("(?:^|/)2/json/([^/]+)/![0-9a-fA-F]{1,8}$", source)
    return found[1] if found else ""


def number(value):
    if isinstance(value, (bool, int, float)):
        return value
    try:
        found = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and math.isfinite(found) else None


def whole(value):
    if isinstance(value, str) and re.fullmatch("[+-]?[0-9]+", value):
        return int(value)
    value = number(value)
    return int(value) if value is not None and value == int(value) else None


def bits(value):
    value = whole(value)
    return value & BROADCAST if value is not None and -(1 << 31) <= value < 1 << 32 else None


def small(value):
    value = whole(value)
    return value if value is not None and 0 <= value < 256 else None


def node(value):
    if isinstance(value, str) and re.fullmatch("![0-9a-fA-F]{1,8}", value):
        return int(value[1:], 16)
    return BROADCAST if value == "^all" else bits(value)


def inferred(content):
    if not isinstance(content, dict):
        return "text" if isinstance(content, str) else None
    names = set(content)
    for kind, marks in MARKS:
        if names & marks:
            if kind == "place":
                return "waypoint" if names & {"name", "description", "expire", "locked_to"} else "position"
            return ("gpios_read_reply" if "gpio_mask" in names else "gpios_changed") if kind == "gpio" else kind
    return "telemetry" if metrics_of(content) else None


def metrics_of(content):
    """The metrics that know the most of the names, the first of equals."""
    if not isinstance(content, dict):
        return None
    best, most = None, 0
    for name in METRICS:
        known = messages.Telemetry.DESCRIPTOR.fields_by_name[name].message_type.fields_by_name
        count = sum(RENAMED.get(name, {}).get(member, member) in known for member in content)
        if count > most:
            best, most = name, count
    return best


def body_of(kind, content):
    """The payload's bytes; None where it holds nothing of its kind."""
    if kind in ("text", "detection"):
        text = content.get("text") if isinstance(content, dict) and "text" in content else content
        return (text if isinstance(text, str) else json.dumps(text, separators=(",", ":"))).encode()
    if not isinstance(content, dict):
        return None
    if kind == "telemetry":
        name = metrics_of(content)
        if name is None:
            return None
        telemetry = messages.Telemetry()
        getattr(telemetry, name).SetInParent()
        fill(getattr(telemetry, name), content, RENAMED.get(name, {}))
        return unpacked(telemetry.DESCRIPTOR, telemetry.SerializeToString())
    made = {"nodeinfo": messages.User(), "position": messages.Position(), "waypoint": messages.Waypoint(), "paxcounter": messages.Paxcount(),
                "neighborinfo": messages.NeighborInfo(), "traceroute": messages.RouteDiscovery()}
    if kind == "traceroute":
        return route_of(content)
    message = made.get(kind) or messages.HardwareMessage()
    fill(message, content, {"nodeinfo": USER, "paxcounter": PAX}.get(kind, {}))
    return unpacked(message.DESCRIPTOR, message.SerializeToString())


def listed(value):
    return value if isinstance(value, list) else []


def route_of(content):
    """Hops come as names, both ends included: numbers where they are, else unknown ones. Strengths are decibels."""
    out = messages.RouteDiscovery()
    for route, strengths in (("route", "snr_towards"), ("route_back", "snr_back")):
        hops = [node(hop) for hop in listed(content.get(route))[1:-1][:64]]
        getattr(out, route).extend(BROADCAST if hop is None else hop for hop in hops)
        for level in listed(content.get(strengths))[:64]:
            level = number(level)
            known = level is not None and abs(level) < 1000
            getattr(out, strengths).append(int(math.copysign(math.floor(abs(level) * 4 + 0.5), level)) if known else -128)
    return out.SerializeToString()


def fill(message, content, names):
    for name, value in content.items():
        field = message.DESCRIPTOR.fields_by_name.get(names.get(name, name))
        if field is not None and field.name == "neighbors":
            for entry in value[:64] if isinstance(value, list) else [value]:
                if isinstance(entry, dict):
                    fill(message.neighbors.add(), entry, {})
            continue
        if field is None:
            continue
        if repeats(field):
            for entry in listed(value):
                fitting = fit(field, entry) if field.type != F.TYPE_MESSAGE else None
                if fitting is not None:
                    getattr(message, field.name).append(fitting)
                elif field.type == F.TYPE_MESSAGE and isinstance(entry, dict):
                    fill(getattr(message, field.name).add(), entry, {})
        elif field.type == F.TYPE_MESSAGE:
            if isinstance(value, dict):
                getattr(message, field.name).SetInParent()
                fill(getattr(message, field.name), value, {})
        else:
            fitting = fit(field, value)
            if fitting is not None:
                setattr(message, field.name, fitting)


NODES = {"id", "node_id", "last_sent_by_id", "locked_to"}  # of what the JSON form has


def fit(field, value):
    """What a field holds of a member; none where it does not fit."""
    if isinstance(value, (list, dict)):
        return None
    if field.type == F.TYPE_STRING:
        return value.split("\0")[0] if isinstance(value, str) else None
    if field.type == F.TYPE_BOOL:
        return bool(number(value)) if number(value) is not None else None
    if field.type == F.TYPE_FLOAT:
        return number(value)
    if field.type in (F.TYPE_UINT32, F.TYPE_FIXED32):
        if field.name in NODES:
            return node(value)
        found = whole(value)
        return found if found is not None and 0 <= found <= BROADCAST else None
    if field.type == F.TYPE_ENUM and isinstance(value, str) and value in field.enum_type.values_by_name:
        return field.enum_type.values_by_name[value].number
    if field.type in (F.TYPE_INT32, F.TYPE_SFIXED32, F.TYPE_SINT32, F.TYPE_ENUM, F.TYPE_UINT64):
        found = number(value)
        return int(found) if found is not None else None
    return None


def unpacked(descriptor, data):
    """The same message with its repeated numbers one by one, as the JSON form is read."""
    out = bytearray()
    for number_, kind, value, start, end in fields(data):
        field = descriptor.fields_by_number.get(number_)
        if field is not None and kind == LENGTH and field.type == F.TYPE_MESSAGE:
            value = unpacked(field.message_type, value)
            out += encoded(number_ << 3 | LENGTH) + encoded(len(value)) + value
        elif field is not None and kind == LENGTH and repeats(field) and field.type not in (F.TYPE_STRING, F.TYPE_BYTES):
            out += separate(number_, WIRE.get(field.type, VARINT), value)
        else:
            out += data[start:end]
    return bytes(out)


def separate(number_, kind, data):
    out, place = bytearray(), 0
    while place < len(data):
        after = varint(data, place)[1] if kind == VARINT else place + (4 if kind == FIXED32 else 8)
        out += encoded(number_ << 3 | kind) + data[place:after]
        place = after
    return out
