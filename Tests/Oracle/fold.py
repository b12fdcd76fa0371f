#!/usr/bin/env python3
"""A fold of raw events into the rows of all views and their quarantine, written from Sources/MeshViews/FOLD.md alone.

usage: fold.py EVENTS.jsonl [--psk NAME=BASE64 ...] [--aead NAME=BASE64 ...] [--private-key NODE=BASE64 ...] [--cap NAME=NUMBER ...] > rows.jsonl
EVENTS.jsonl is what `meshledger export events --format jsonl` writes. Packets are decoded by the official Python package. One JSON line a
row: {"view": …} and every column that columns.py lists.
"""
import argparse, base64, json, math, re, struct, sys
import caps as limits
from caps import vacated
from columns import VIEWS
from history_views import MapReports, NodeHistory
from message_views import Messages
from opening import BROADCAST, NOBODY, PAYLOADS, Keys
from packets import NOTHING, Event, Reader, read
from place_views import Links, TraceRoutes, Waypoints
from series_views import SENSORS, Kept, Positions, Radios, Sensors, Telemetry
from traffic_views import Channels, Gateways, Nodes, cut
from wire import LENGTH, VARINT, fields

NAMED = 64
OF_PACKETS = {3, 67, *SENSORS}
# Those of which an event that supersedes goes to quarantine, too.
LISTED = {3, 67}


class Fold:
    def __init__(self, keys, caps=limits.STANDARD):
        self.reader, self.quarantine, self.index = Reader(keys), set(), {}
        self.nodes, self.channels, self.gateways = Nodes(caps), Channels(), Gateways(caps)
        kept = Kept(caps, self.nodes.marks)
        self.positions, self.telemetry, self.sensors = Positions(caps, kept), Telemetry(kept), Sensors(kept)
        self.messages, self.radios = Messages(caps), Radios(caps)
        self.waypoints, self.traces, self.links = Waypoints(caps), TraceRoutes(caps, self.positions), Links(caps)
        self.reports, self.history = MapReports(caps), NodeHistory(caps)

    def take(self, event):
        try:
            if event.encoding == "annotation":
                return self.annotate(event)
            heard, frame = self.reader.reception(event)
        except Exception:
            self.quarantine.add(event.sequence)
            return
        if frame is not None:
            self.frame(event, frame)
        if heard is not None:
            self.hear(heard)

    def frame(self, event, frame):
        """What a radio tells its client."""
        self.radios.take(event, frame)
        time, kind = event.time(NOTHING), frame.WhichOneof("payload_variant")
        if kind == "node_info" and frame.node_info.num not in NOBODY:
            info = frame.node_info
            self.nodes.listed(event, info, event.heard(NOTHING))
            if info.HasField("user"):
                self.history.learn(event, info.num, "nodeList", info.user, time)
                self.reader.announce(info.num, info.user.public_key, event.heard(NOTHING))
            self.point(event, [info.num])
        node = self.radios.nodes.get(event.source, 0)
        if kind == "metadata" and node not in NOBODY:
            self.history.learn(event, node, "metadata", frame.metadata, time, target=cut(self.radios.targets[event.source], 64))

    def hear(self, heard):
        if heard.is_refused:
            self.quarantine.add(heard.event.sequence)
        nobody = heard.sender in NOBODY
        self.index[heard.event.sequence] = {
            "from": heard.sender, "to": heard.to or BROADCAST, "gateway": heard.gateway, "port": heard.port, "named": named(heard),
            "channel": f"hash {min(heard.packet.channel, 256)}, unreadable" if heard.channel is None else heard.channel,
            "is_first_reception": heard.is_first and not nobody,
            "is_first_readable": (heard.is_first_readable or heard.supersedes) and not nobody, "is_repeat": heard.is_repeat and not nobody}
        if nobody:
            return
        self.nodes.hear(heard)
        if not heard.event.is_replayed:
            self.channels.hear(heard)
        self.gateways.hear(heard)
        self.links.hear(heard)
        heard.of.hear(heard)
        if heard.data is None:
            return
        makes_row = heard.is_first_readable or heard.supersedes
        if heard.port in (1, 11):
            if makes_row:
                self.messages.take(heard, self.reader.announced)
            return
        try:
            content = heard.payload()
        except Exception:
            if heard.supersedes and self.changes(heard):
                vacated(heard)
            if heard.is_first_readable or (heard.supersedes and heard.port in LISTED and self.changes(heard)):
                self.quarantine.add(heard.event.sequence)
            return
        is_sound = self.each(heard, content)
        if makes_row:
            is_sound &= self.row_of_packet(heard, content)
        if heard.is_first_readable:
            self.once(heard, content)
        if not is_sound and makes_row:
            self.quarantine.add(heard.event.sequence)

    def changes(self, heard):
        """Whether an event that supersedes can change the rows that are made of packets."""
        return heard.port in OF_PACKETS and not (heard.port == 3 and self.positions.is_thinned)

    def each(self, heard, content):
        """What counts at each readable reception."""
        if heard.port == 4:
            self.nodes.introduce(heard.sender, content, heard.at)
            self.reader.announce(heard.sender, content.public_key, heard.at)
        elif heard.port == 8:
            return self.waypoints.take(heard, content) or not heard.is_first_readable
        elif heard.port == 70:
            self.traces.take(heard, content)
            self.links.trace(heard, content)
        elif heard.port == 71:
            self.links.report(heard, content)
        elif heard.port == 73:
            self.nodes.report(heard.sender, content, heard.at)
            self.reports.take(heard, content)
        return True

    def row_of_packet(self, heard, content):
        """What is made of the first readable reception, or of one that supersedes."""
        if heard.port == 3:
            return self.positions.take(heard, content)
        if heard.port == 67:
            self.telemetry.take(heard, content)
        elif heard.port in SENSORS:
            self.sensors.take(heard, content)
        return True

    def once(self, heard, content):
        """What counts at the first readable reception only."""
        if heard.port == 4:
            self.history.learn(heard.event, heard.sender, "nodeInfo", content, heard.time(), heard.gateway)
        elif heard.port == 73:
            self.history.learn(heard.event, heard.sender, "mapReport", content, heard.time(), heard.gateway)
        elif heard.port == 5 and heard.data.request_id and content.WhichOneof("variant") == "error_reason":
            self.messages.receipt(heard, content)

    # What people decided

    def annotate(self, event):
        said = {number: value for number, _, value, *_ in fields(event.payload)}
        node, keys = said.get(1), said.get(2, b"")
        keys = [struct.unpack_from("<III", keys, place) for place in range(0, len(keys) - 11, 12)]
        if (node is not None) == bool(keys) or node in NOBODY:
            raise ValueError("of nothing, or of both")
        time = event.arrival if event.reception is None else event.reception
        archived = {"archived_at": max(said.get(9, time), 1) if said[5] else 0} if 5 in said else {}
        if node is None:
            changes = {**archived, **({"is_read": bool(said[6])} if 6 in said else {})}
            for sender, number, at in keys:
                if number:
                    self.messages.annotate(sender, number, at, changes)
            self.point(event, sorted({sender for sender, *_ in keys})[:NAMED])
            return
        flags = {name: bool(said[number]) for number, name in ((3, "is_favorite"), (4, "is_ignored")) if number in said}
        texts = {name: said[number].decode("utf-8", "replace") for number, name in ((7, "note"), (8, "alias")) if number in said}
        self.nodes.mark(node, {**flags, **texts, **archived})
        for series in (self.positions.rows, self.telemetry.rows, self.telemetry.unknown, self.sensors.rows):
            for group in list(series.groups):
                if group[0] == node:
                    series.settle(group)
        self.point(event, [node])

    def point(self, event, nodes):
        """An event of the index that holds no packet."""
        self.index[event.sequence] = {"from": 0, "to": 0, "gateway": 0, "channel": "", "port": None, "named": nodes,
                                      "is_first_reception": False, "is_first_readable": False, "is_repeat": False}

    def rows(self):
        nodes, history = self.nodes, self.history
        yield "nodes", nodes.out()
        yield "channels", self.channels.out()
        yield "gateways", self.gateways.out()
        yield "gateway_nodes", self.gateways.out_pairs()
        yield "positions", self.positions.out()
        yield "telemetry", self.telemetry.out()
        yield "unknown_telemetry", self.telemetry.out_unknown()
        yield "sensors", self.sensors.out()
        yield "radios", self.radios.out()
        yield "messages", self.messages.out()
        yield "waypoints", self.waypoints.out()
        yield "traceroutes", self.traces.out()
        yield "links", self.links.out()
        yield "mapreports", self.reports.out()
        yield "nodehistory", history.out()
        yield "hardware", history.out_hardware()
        yield "packets", ({"sequence": sequence, **row} for sequence, row in self.index.items())
        yield "quarantine", ({"sequence": sequence} for sequence in self.quarantine)


def named(heard):
    """The nodes that a payload names, then those between which it is carried."""
    if heard.data is None:
        return []
    try:
        found = {4: of_user, 6: of_admin, 35: of_store}.get(heard.port, of_route)(heard)
    except Exception:
        found = []
    named = list(dict.fromkeys(node for node in found if node not in (*NOBODY, heard.to)))[:NAMED]
    ends = [node for node in (heard.data.dest, heard.data.source) if node not in (*NOBODY, heard.to, heard.sender)]
    return list(dict.fromkeys(named + ends))


def of_user(heard):
    """The node of a user's id, if it is not the sender's."""
    ids = [value for number, kind, value, *_ in fields(heard.data.payload) if (number, kind) == (1, LENGTH)]
    shown = re.fullmatch(rb"!([0-9a-fA-F]{1,8})", ids[-1]) if ids else None
    return [node for node in ([int(shown[1], 16)] if shown else []) if node != heard.sender]


def of_admin(heard):
    found = []
    for number, kind, value, *_ in fields(heard.data.payload):
        if kind == VARINT and number in (38, 39, 40, 47, 48, 49):
            found.append(value & BROADCAST)
        elif kind == LENGTH and number in (66, 67):
            found += numbers(value, {number - 65})
    return found


def of_store(heard):
    return numbers(heard.data.payload, {7, 8})


def numbers(message, places):
    return [value & BROADCAST for number, kind, value, *_ in fields(message) if kind == VARINT and number in places]


def of_route(heard):
    if heard.port not in (5, 8, 70, 71):
        return []
    content = read(PAYLOADS[heard.port], heard.data.payload)
    if heard.port == 5:
        content = getattr(content, content.WhichOneof("variant") or "", None) if content.WhichOneof("variant") != "error_reason" else None
        found = [] if content is None else [*content.route, *content.route_back]
    elif heard.port == 8:
        found = [content.locked_to]
    elif heard.port == 71:
        found = [content.node_id, content.last_sent_by_id, *(neighbor.node_id for neighbor in content.neighbors)]
    else:
        found = [*content.route, *content.route_back]
    return found


def plain(value):
    """As JSON can have it: bytes as hex, what is no number as none."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return list(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def parsed(words):
    arguments = argparse.ArgumentParser()
    for name in ("--psk", "--aead", "--private-key", "--cap"):
        arguments.add_argument(name, action="append", default=[])
    options = arguments.parse_args(words)
    chosen = dict(limits.STANDARD)
    for entry in options.cap:
        name, number = entry.split("=")
        if name not in chosen:
            sys.exit(f"fold.py: there is no cap {name}; there are {', '.join(chosen)}")
        chosen[name] = int(number)
    channels, sealed = ([(name, base64.b64decode(psk)) for name, psk in (entry.split("=", 1) for entry in entries)]
                        for entries in (options.psk, options.aead))
    private = [(int(node, 0), base64.b64decode(key)) for node, key in (entry.split("=", 1) for entry in options.private_key)]
    return Keys(channels, private, sealed), chosen


def rows_of(path, words, caps={}):
    """All rows of a file of events, as JSON has them."""
    keys, chosen = parsed(words)
    fold = Fold(keys, {**chosen, **caps})
    for line in open(path, encoding="utf-8"):
        if not json.loads(line).get("erased"):
            fold.take(Event(line))
    out = []
    for view, rows in fold.rows():
        for row in rows:
            assert row.keys() == VIEWS[view].keys(), (view, row.keys() ^ VIEWS[view].keys())
            out.append({"view": view, **{name: plain(value) for name, value in row.items()}})
    return out


def main():
    for row in rows_of(sys.argv[1], sys.argv[2:]):
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main()
