#!/usr/bin/env python3
"""Compares the rows of fold.py with those that meshledger exports, field by field.

usage: compare.py ROWS FOLDER     FOLDER holds quarantine.jsonl and for each view its rows, as nodes.jsonl
Prints each difference (the first twenty) and the number of rows compared; exit status 1 when there is a difference.
"""
import datetime, json, pathlib, struct, sys

MISSING = object()


def node(text):
    return 0xFFFFFFFF if text == "^all" else int(text[1:], 16) if text else 0


def seconds(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()) if text else 0


def hop(entry):
    place = entry["latitude"] is not None and [seconds(entry["place_time"]), *(round(entry[name] * 1e7) for name in ("latitude", "longitude"))]
    return [None if entry["node"] is None else node(entry["node"]), entry["snr"], place or None]


def single(number):
    """A number as four bytes hold it."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def state(text):
    kinds = {"sent": 1, "implicitlyAcknowledged": 3, "delivered": 4}
    return kinds.get(text, 2)


def float4(number):
    return None if number is None else single(number)


SENSORS = {"detection": 10, "paxcounter": 34, "storeForward": 65, "rangeTest": 66}
TIMES = {"first_time": lambda row: seconds(row["first_time"]), "time": lambda row: seconds(row["time"]),
         "first_sequence": lambda row: row["first_sequence"], "sequence": lambda row: row["sequence"]}
EVIDENCE = ["direct", "reported", "traced"]
KINDS = ["device", "environment", "airQuality", "power", "localStats", "health", "host", "trafficManagement", None, "soilWater"]
READERS = {
    "nodes": (lambda row: [row["number"]], {
        "long_name": lambda row: row["long_name"], "short_name": lambda row: row["short_name"],
        "first_heard": lambda row: seconds(row["first_heard"]), "last_heard": lambda row: seconds(row["last_heard"]),
        "hops_away": lambda row: row["hops_away"], "channel": lambda row: row["channel"], "packets": lambda row: row["packets"],
        "receptions": lambda row: row["receptions"], "unreadable": lambda row: row["unreadable"],
        "has_key_conflict": lambda row: row["has_key_conflict"], "public_key": lambda row: row["public_key"],
        "first_sequence": lambda row: row["first_sequence"], "last_sequence": lambda row: row["last_sequence"],
        "firmware": lambda row: row["firmware"], "via_mqtt": lambda row: row["via_mqtt"],
        "is_favorite": lambda row: row["is_favorite"], "is_ignored": lambda row: row["is_ignored"], "archived_at": lambda row: seconds(row["archived_at"]),
        "snr": lambda row: float4(row["snr"] or 0), "rssi": lambda row: row["rssi"] or 0,
        "note": lambda row: row["note"], "alias": lambda row: row["alias"]}),
    "positions": (lambda row: [node(row["node"]), seconds(row["time"]), row["sequence"]], {
        "time_source": lambda row: row["time_source"], "latitude_e7": lambda row: round(row["latitude"] * 1e7),
        "longitude_e7": lambda row: round(row["longitude"] * 1e7), "gateway": lambda row: node(row["gateway"]),
        "packet_id": lambda row: row["packet_id"], "altitude": lambda row: row["altitude"],
        "precision_bits": lambda row: row["precision_bits"] or 0}),
    "telemetry": (lambda row: [node(row["node"]), KINDS.index(row["kind"]) + 2, seconds(row["time"]), row["sequence"]], {
        "time_source": lambda row: row["time_source"], "packet_id": lambda row: row["packet_id"]}),
    "unknown_telemetry": (lambda row: [node(row["node"]), row["kind"], seconds(row["time"]), row["sequence"]], {
        "time_source": lambda row: row["time_source"], "packet_id": lambda row: row["packet_id"]}),
    "messages": (lambda row: [row["sequence"]], {
        "time": lambda row: seconds(row["time"]), "time_source": lambda row: row["time_source"], "from": lambda row: node(row["from"]),
        "to": lambda row: node(row["to"]), "id": lambda row: row["id"], "channel": lambda row: row["channel"],
        "state": lambda row: state(row["state"]), "text": lambda row: row["text"], "reply_id": lambda row: row["reply_id"] or 0,
        "reaction": lambda row: row["is_reaction"], "receptions": lambda row: row["receptions"],
        "gateways": lambda row: [node(entry) for entry in row["gateways"]], "first_sequence": lambda row: row["first_sequence"],
        "is_read": lambda row: row["is_read"], "archived_at": lambda row: seconds(row["archived_at"]),
        "has_conflict": lambda row: row["has_conflict"]}),
    "waypoints": (lambda row: [row["id"]], {
        "time": lambda row: seconds(row["time"]), "time_source": lambda row: row["time_source"], "deleted": lambda row: row["state"] == "deleted",
        "locked_to": lambda row: node(row["locked_to"]), "changes": lambda row: row["changes"], "refused": lambda row: row["refused_changes"],
        "first_sequence": lambda row: row["first_sequence"], "sequence": lambda row: row["sequence"], "packet_id": lambda row: row["packet_id"],
        "from": lambda row: node(row["from"]), "to": lambda row: node(row["to"]), "creator": lambda row: node(row["creator"]),
        "gateway": lambda row: node(row["gateway"]), "channel": lambda row: row["channel"], "expire": lambda row: seconds(row["expire"]),
        "name": lambda row: row["name"] or "", "details": lambda row: row["details"] or "", "icon": lambda row: row["icon"] or 0,
        "latitude_e7": lambda row: None if row["latitude"] is None else round(row["latitude"] * 1e7),
        "longitude_e7": lambda row: None if row["longitude"] is None else round(row["longitude"] * 1e7)}),
    "traceroutes": (lambda row: [node(row["from"]), row["id"]], {
        "time": lambda row: seconds(row["time"]), "time_source": lambda row: row["time_source"], "to": lambda row: node(row["to"]),
        "first_sequence": lambda row: row["first_sequence"], "sequence": lambda row: row["sequence"], "reply_id": lambda row: row["reply_id"],
        "request_sequence": lambda row: row["request_sequence"] or 0, "reply_sequence": lambda row: row["reply_sequence"] or 0,
        "reply_time": lambda row: seconds(row["reply_time"]), "channel": lambda row: row["channel"],
        "towards": lambda row: [hop(entry) for entry in row["towards"]], "back": lambda row: [hop(entry) for entry in row["back"]]}),
    "links": (lambda row: [node(row["hearer"]), node(row["heard"])], {
        "time": lambda row: seconds(row["time"]), "first_time": lambda row: seconds(row["first_time"]), "rssi": lambda row: row["rssi"],
        "first_sequence": lambda row: row["first_sequence"], "sequence": lambda row: row["sequence"], "snr": lambda row: single(row["snr"]),
        "evidence": lambda row: EVIDENCE.index(row["evidence"]), "counts": lambda row: [row[name] for name in EVIDENCE],
        "samples": lambda row: [[seconds(entry["time"]), single(entry["snr"]), EVIDENCE.index(entry["evidence"])] for entry in row["samples"]]}),
    "channels": (lambda row: [row["channel"] or "", int(row["key_fingerprint"] or "0", 16), -1 if row["readable"] else row["hash"]], {
        "packets": lambda row: row["packets"], "receptions": lambda row: row["receptions"], "hash": lambda row: row["hash"],
        "first_time": lambda row: seconds(row["first_heard"]), "time": lambda row: seconds(row["last_heard"]),
        "first_sequence": lambda row: row["first_sequence"], "sequence": lambda row: row["last_sequence"]}),
    "gateways": (lambda row: [node(row["gateway"])], {
        **TIMES, **{name: lambda row, name=name: row[name] for name in
                    ("receptions", "packets", "unreadable", "via_mqtt", "own", "nodes", "lowest_rssi", "highest_rssi", "sources")},
        "lowest_snr": lambda row: float4(row["lowest_snr"]), "highest_snr": lambda row: float4(row["highest_snr"])}),
    "gateway_nodes": (lambda row: [node(row["gateway"]), node(row["node"])], {
        **TIMES, "receptions": lambda row: row["receptions"], "highest_snr": lambda row: float4(row["highest_snr"])}),
    "mapreports": (lambda row: [node(row["node"])], {
        **TIMES, "time_source": lambda row: row["time_source"], "reports": lambda row: row["reports"], "channel": lambda row: row["channel"] or "",
        "most": lambda row: row["most_online_local_nodes"], "online": lambda row: row["online_local_nodes"],
        "precision_bits": lambda row: row["precision_bits"] or 0, "long_name": lambda row: row["long_name"] or "",
        "short_name": lambda row: row["short_name"] or "", "firmware": lambda row: row["firmware"] or "",
        "latitude_e7": lambda row: None if row["latitude"] is None else round(row["latitude"] * 1e7),
        "longitude_e7": lambda row: None if row["longitude"] is None else round(row["longitude"] * 1e7)}),
    "sensors": (lambda row: [node(row["node"]), SENSORS[row["kind"]], seconds(row["time"]), row["sequence"]], {
        "time_source": lambda row: row["time_source"], "packet_id": lambda row: row["packet_id"], "to": lambda row: node(row["to"]),
        "gateway": lambda row: node(row["gateway"]), "channel": lambda row: row["channel"],
        "text": lambda row: row["content"].get("text") if row["kind"] in ("detection", "rangeTest") else None}),
    "nodehistory": (lambda row: [node(row["node"]), seconds(row["time"]), row["sequence"]], {
        "time_source": lambda row: row["time_source"], "changes": lambda row: row["changes"], "kind": lambda row: row["kind"],
        "public_key": lambda row: row["public_key"], "same_key_as": lambda row: node(row["same_key_as"]), "gateway": lambda row: node(row["gateway"]),
        "long_name": lambda row: row["long_name"] or "", "short_name": lambda row: row["short_name"] or "",
        "firmware": lambda row: row["firmware"] or ""}),
    "hardware": (lambda row: [row["number"], node(row["node"])], {
        **TIMES, "count": lambda row: row["count"], "firmware": lambda row: row["firmware"] or "", "target": lambda row: row["target"] or ""}),
    "radios": (lambda row: [row["source"], row["part"], seconds(row["time"]), row["sequence"]], {
        "time_source": lambda row: row["time_source"], "node": lambda row: node(row["node"])}),
    "packets": (lambda row: [row["sequence"]], {
        "from": lambda row: node(row["from"]), "to": lambda row: node(row["to"]), "gateway": lambda row: node(row["gateway"]),
        "channel": lambda row: row["channel"], "port": lambda row: row["port"], "named": lambda row: [node(entry) for entry in row["named"]],
        "first": lambda row: row["is_first_reception"], "first_readable": lambda row: row["is_first_readable"],
        "repeat": lambda row: row["is_repeat"]}),
    "quarantine": (lambda row: [row["sequence"]], {}),
}


def main():
    theirs = {view: {} for view in READERS}
    for line in open(sys.argv[1], encoding="utf-8"):
        row = json.loads(line)
        theirs[row["view"]][tuple(row["key"])] = row
    differences, compared, indexed = [], 0, 0
    for view, (key, fields) in READERS.items():
        ours = {}
        for line in (pathlib.Path(sys.argv[2]) / f"{view}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            ours[tuple(key(row))] = row
        for place in sorted(ours.keys() ^ theirs[view].keys()):
            differences.append(f"{view} {place}: only {'meshledger' if place in ours else 'fold.py'} has this row")
        for place in sorted(ours.keys() & theirs[view].keys()):
            compared, indexed = compared + (view != "packets"), indexed + (view == "packets")
            for name, read in fields.items():
                mine, other = read(ours[place]), theirs[view][place][name]
                if mine != other:
                    differences.append(f"{view} {place} {name}: meshledger {mine!r}, fold.py {other!r}")
    print("\n".join(differences[:20]))
    print(f"{compared} rows compared, {len(differences)} differences; {indexed} events of the index compared")
    sys.exit(bool(differences) or compared == 0)


main()
