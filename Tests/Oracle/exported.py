"""What `meshledger export` makes of a view's rows, column by column: names for numbers, units, empty cells for zeros that mean nothing."""
import base64
from google.protobuf.json_format import MessageToDict
from history_views import CHANGES
from meshtastic.protobuf import portnums_pb2
from opening import BROADCAST, PAYLOADS
from schema import messages
from series_views import KINDS



def names(field):
    return {number: value.name for number, value in field.enum_type.values_by_number.items()}


# What the newer schema has under another name, or besides.
NEWER_HARDWARE = ["HELTEC_RC32", "HELTEC_RC52", "HELTEC_RCC6", "SEEED_WIO_TRACKER_L1_PRO_1W", "MESHNOLOGY_W12", "MESHPAGER_X2", "T_CONNECT_PRO",
                  "AXIOMETA_GENESIS_MINI", "MAKERFABS_NOMAD_TERMINAL", "THINKNODE_MX"]
NEWER_REGIONS = {34: "ITU1_70CM", 35: "ITU2_70CM", 36: "ITU3_70CM", 37: "ITU2_125CM"}
LORA = messages.Config.LoRaConfig.DESCRIPTOR.fields_by_name
HARDWARE = names(messages.User.DESCRIPTOR.fields_by_name["hw_model"]) | dict(enumerate(NEWER_HARDWARE, 141)) \
    | {27: "MAKERFABS_TRACKER", 28: "MAKERFABS_RESERVED", 128: "MESH_TRACKER_X1"}
ROLES, ERRORS = names(messages.User.DESCRIPTOR.fields_by_name["role"]), names(messages.Routing.DESCRIPTOR.fields_by_name["error_reason"])
REGIONS = names(LORA["region"]) | NEWER_REGIONS
PRESETS = names(LORA["modem_preset"]) | {14: "TINY_FAST", 15: "TINY_SLOW", 16: "MEDIUM_TURBO"}
# The last three are newer than the package.
PORTS = {number: name for name, number in portnums_pb2.PortNum.items()} | {37: "MESH_BEACON_APP", 38: "PAGING_APP", 79: "LORA_OTA_APP"}
METRICS = messages.Telemetry.DESCRIPTOR.fields_by_number


def named(table, number):
    return table.get(number, str(number))


def hexed(number):
    return f"!{number:08x}"


def node(number):
    return hexed(number) if number else None


def everyone(number):
    return "^all" if number == BROADCAST else hexed(number)


def key(digits):
    return base64.b64encode(bytes.fromhex(digits)).decode() or None


def some(value):
    return value or None


def degrees(row):
    return {name: None if row[f"{name}_e7"] is None else row[f"{name}_e7"] / 1e7 for name in ("latitude", "longitude")}


def taken(row, *names):
    return {name: row[name] for name in names}


def nodes(row, _):
    return {"node": hexed(row["number"]), "number": row["number"], "hardware": named(HARDWARE, row["hardware_model"]) if row["hardware_model"] else None,
            "role": named(ROLES, row["role"]) if row["state"] == "introduced" else None, "via_mqtt": row["is_via_mqtt"],
            "public_key": key(row["public_key"]), **{name: some(row[name]) for name in ("short_name", "long_name", "channel", "firmware", "alias", "note")},
            **taken(row, "state", "last_heard", "first_heard", "is_time_of_import", "snr", "rssi", "hops_away", "packets", "receptions", "unreadable", "is_licensed",
                    "is_unmessagable", "has_key_conflict", "first_sequence", "last_sequence", "is_favorite", "is_ignored", "archived_at")}


def positions(row, _):
    return {"node": hexed(row["node"]), "gateway": node(row["gateway"]), **degrees(row),
            **{name: some(row[name]) for name in ("satellites", "precision_bits")},
            **taken(row, "time", "time_source", "altitude", "ground_speed", "ground_track", "pdop", "hdop", "vdop", "snr", "rssi", "since",
                    "sent_time", "fix_time", "packet_id", "sequence")}


def plain(message):
    """A message as JSON has it: floats of four bytes are written shortly, which comparing allows for."""
    return MessageToDict(message, preserving_proto_field_name=True)


def telemetry(row, _):
    number = next(number for number, name in KINDS.items() if name == row["kind"])
    metrics = messages.Telemetry.FromString(bytes([number << 3 | 2]) + length(row["metrics"]) + bytes.fromhex(row["metrics"]))
    return {"node": hexed(row["node"]), "gateway": node(row["gateway"]), "metrics": plain(getattr(metrics, METRICS[number].name)),
            **taken(row, "time", "time_source", "kind", "sent_time", "packet_id", "sequence")}


def length(digits):
    count = len(digits) // 2
    return bytes([count]) if count < 128 else bytes([count & 127 | 128, count >> 7])


def unknown_telemetry(row, _):
    return {"node": hexed(row["node"]), "gateway": node(row["gateway"]), "metrics_b64": base64.b64encode(bytes.fromhex(row["metrics"])).decode(),
            **taken(row, "time", "time_source", "kind", "sent_time", "packet_id", "sequence")}


def known_as(number, rows):
    """A node's alias, else its long name, else its short one."""
    row = rows["nodes"].get(number, {})
    return some(row.get("alias") or row.get("long_name") or row.get("short_name"))


def messages_(row, rows):
    return {"from": hexed(row["from"]), "from_name": known_as(row["from"], rows), "to": everyone(row["to"]), "channel": row["channel"],
            "gateways": [hexed(number) for number in row["gateways"]], "reply_id": some(row["reply_id"]), "via_mqtt": row["is_via_mqtt"],
            "state": f"failed: {named(ERRORS, row['failure_reason'])}" if row["state"] == "failed" else row["state"],
            "is_delivered": row["state"] == "delivered",
            "port": named(PORTS, row["port"]),
            **taken(row, "time", "time_source", "text", "receptions", "id", "is_reaction", "is_privately_encrypted", "signature",
                    "has_conflict", "sequence",
                    "first_sequence", "is_read", "archived_at")}


def gateways(row, rows):
    return {"gateway": hexed(row["gateway"]), "name": known_as(row["gateway"], rows),
            **{name: value for name, value in row.items() if name not in ("gateway", "view")}}


def pairs(row, _):
    return {**row, "gateway": hexed(row["gateway"]), "node": hexed(row["node"])}


def links(row, _):
    return {**{name: value for name, value in row.items() if name != "count"}, "hearer": hexed(row["hearer"]), "heard": hexed(row["heard"])}


def mapreports(row, _):
    return {"node": hexed(row["node"]), **degrees(row), "hardware": named(HARDWARE, row["hardware_model"]) if row["hardware_model"] else None,
            "role": named(ROLES, row["role"]), "region": named(REGIONS, row["region"]), "modem_preset": named(PRESETS, row["modem_preset"]),
            "precision_bits": some(row["precision_bits"]),
            **{name: some(row[name]) for name in ("short_name", "long_name", "firmware", "channel")},
            "altitude": None if row["latitude_e7"] is None else row["altitude"],
            **taken(row, "time", "time_source", "online_local_nodes", "most_online_local_nodes", "has_default_channel", "has_opted_report_location",
                    "reports", "first_time", "first_sequence", "sequence")}


def sensors(row, _):
    port = {"detection": 10, "paxcounter": 34, "storeForward": 65, "rangeTest": 66}[row["kind"]]
    content = {"text": row["text"]} if port not in PAYLOADS else plain(PAYLOADS[port].FromString(bytes.fromhex(row["payload"])))
    if port == 65 and "text" in content:
        content["text@content"] = row["text"]
    return {"node": hexed(row["node"]), "gateway": node(row["gateway"]), "to": everyone(row["to"]), "content": content,
            **taken(row, "time", "kind", "snr", "rssi", "hops_away", "channel", "time_source", "packet_id", "sequence")}


def nodehistory(row, _):
    return {"node": hexed(row["node"]), "changes": [name for bit, name in enumerate(CHANGES) if row["changes"]["raw_value"] >> bit & 1],
            "hardware": named(HARDWARE, row["hardware_model"]) if row["hardware_model"] else None, "role": named(ROLES, row["role"]),
            "public_key": key(row["public_key"]), "same_key_as": node(row["same_key_as"]), "gateway": node(row["gateway"]),
            **{name: some(row[name]) for name in ("short_name", "long_name", "firmware")}, **taken(row, "time", "kind", "time_source", "sequence")}


def hardware(row, _):
    return {"model": named(HARDWARE, row["model"]), "number": row["model"], "node": hexed(row["node"]), "firmware": some(row["firmware"]),
            "target": some(row["target"]), **taken(row, "time", "first_time", "is_time_of_import", "count", "first_sequence", "sequence")}


def title(row):
    """What every list calls a channel."""
    return row["name"] or "(unnamed)" if row["is_readable"] else f"hash {row['hash']}, unreadable"


def channels(row, _):
    return {"channel": title(row), "readable": row["is_readable"], "key_fingerprint": f"{row['key_fingerprint']:016x}" if row["key_fingerprint"] else None,
            **taken(row, "hash", "packets", "receptions", "first_heard", "last_heard", "is_time_of_import", "first_sequence", "last_sequence")}


EXPORTS = {"nodes": nodes, "positions": positions, "telemetry": telemetry, "unknown_telemetry": unknown_telemetry, "messages": messages_, "links": links,
           "gateways": gateways, "gateway_nodes": pairs, "mapreports": mapreports, "sensors": sensors, "nodehistory": nodehistory, "hardware": hardware,
           "channels": channels}
IDENTITY = {"nodes": ["number"], "links": ["hearer", "heard"], "gateways": ["gateway"], "gateway_nodes": ["gateway", "node"], "mapreports": ["node"],
            "hardware": ["number", "node"], "channels": ["channel", "key_fingerprint", "readable", "first_sequence"],
            **{view: ["sequence"] for view in ("positions", "telemetry", "unknown_telemetry", "messages", "sensors", "nodehistory")}}
