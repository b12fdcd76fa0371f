#!/usr/bin/env python3
"""Decodes packets with the official Python package, one JSON line a packet.

usage: decode.py FILE     base64 ServiceEnvelopes, one a line, or JSON lines with "raw_b64" = MeshPacket (*.jsonl)
Each line: {"line", "error"}, or {"line", "from", "to", "id", "channel", "rx_time", "how", "portnum", "payload", "payload_hex"}; "how" is decoded,
AQ== (the default key), plaintext, opaque or empty; "payload" is the message with the schema's names, a string for texts, else base64.
usage: decode.py --facts [official]     the schema as lines: enum_value and field, with the columns that the tests read
"""
import base64, json, sys
from google.protobuf.descriptor import FieldDescriptor as F
from google.protobuf.json_format import MessageToDict
from meshtastic.protobuf import admin_pb2, mesh_pb2, mqtt_pb2, paxcount_pb2, remote_hardware_pb2, storeforward_pb2
import opening
from made_payloads import repeats
from opening import TEXTS, Keys
from schema import messages

PAYLOADS = {number: opening.PAYLOADS[number] for number in (3, 4, 5, 8, 34, 65, 67, 70, 71, 73)}
TYPES = {number: name[5:].lower() for name, number in vars(F).items() if name.startswith("TYPE_")}


def payload_of(data):
    if data.portnum in TEXTS:
        return data.payload.decode("utf-8")
    if data.portnum in PAYLOADS:
        return MessageToDict(PAYLOADS[data.portnum].FromString(data.payload), preserving_proto_field_name=True)
    return base64.b64encode(data.payload).decode()


def opened(packet, keys):
    """(how, content, payload)."""
    kind = packet.WhichOneof("payload_variant")
    if kind == "decoded":
        try:
            return ("decoded", packet.decoded, payload_of(packet.decoded)) if 0 < packet.decoded.portnum <= 511 else ("opaque", None, None)
        except Exception:
            return "opaque", None, None
    if kind != "encrypted" or not packet.encrypted:
        return "empty", None, None
    found = keys.open(packet, "", {})
    if found is None:
        return "opaque", None, None
    try:
        return ("AQ==" if found.how == "key" else "plaintext"), found.data, payload_of(found.data)
    except Exception:
        return "opaque", None, None


def decode(path):
    keys = Keys([])
    for number, line in enumerate(filter(None, map(str.strip, open(path, encoding="utf-8"))), 1):
        try:
            if path.endswith(".jsonl"):
                packet = messages.MeshPacket.FromString(base64.b64decode(json.loads(line)["raw_b64"]))
            else:
                packet = messages.ServiceEnvelope.FromString(base64.b64decode(line)).packet
        except Exception as error:
            yield {"line": number, "error": str(error)}
            continue
        how, data, payload = opened(packet, keys)
        yield {"line": number, "from": getattr(packet, "from"), "to": packet.to, "id": packet.id, "channel": packet.channel,
               "rx_time": packet.rx_time, "how": how, "portnum": data.portnum if data else None, "payload": payload,
               "payload_hex": data.payload.hex() if data else None}


def facts(files):
    """Every message and enumeration of files and of those that they import."""
    taken = {}

    def take(file):
        if file.name not in taken:
            taken[file.name] = file
            for other in file.dependencies:
                take(other)

    def named(descriptor):
        return descriptor.full_name.replace("meshtastic.protobuf.", "meshtastic.")

    def of(message):
        # Its fields were others before they were given up.
        for field in message.fields if message.name != "TrafficManagementConfig" else ():
            reference = field.message_type or field.enum_type
            synthetic = field.containing_oneof is None or field.containing_oneof.name.startswith("_")
            presence = "repeated" if repeats(field) else "oneof" if not synthetic else "explicit" if field.has_presence else "implicit"
            if named(message) == "meshtastic.MeshPacket" and field.name in ("rx_time", "rx_rssi"):
                presence = ""  # optional in the newer schema only
            yield ["field", "", named(message), field.name, str(field.number), TYPES[field.type], named(reference) if reference else "", "",
                   "repeated" if repeats(field) else "", presence, "" if synthetic else field.containing_oneof.name]
        for enumeration in message.enum_types:
            yield from values(enumeration)
        for nested in message.nested_types:
            yield from of(nested)

    def values(enumeration):
        for value in enumeration.values:
            yield ["enum_value", "", named(enumeration), value.name, str(value.number)]

    for file in files:
        take(file)
    for name, file in sorted(taken.items()):
        if not name.startswith("meshtastic/") or name.endswith("nanopb.proto"):
            continue
        for message in file.message_types_by_name.values():
            yield from of(message)
        for enumeration in file.enum_types_by_name.values():
            yield from values(enumeration)


def main():
    if sys.argv[1] == "--facts":
        official = [module.DESCRIPTOR for module in (admin_pb2, mesh_pb2, mqtt_pb2, paxcount_pb2, remote_hardware_pb2, storeforward_pb2)]
        widened = [getattr(messages, name).DESCRIPTOR.file for name in ("AdminMessage", "MeshPacket", "ServiceEnvelope", "Paxcount", "HardwareMessage",
                                                                       "StoreAndForward")]
        for row in facts(official if sys.argv[2:] == ["official"] else widened):
            print("\t".join(row))
        return
    for line in decode(sys.argv[1]):
        print(json.dumps(line, ensure_ascii=False))


main()
