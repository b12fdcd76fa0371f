"""The views of traffic: nodes, channels, gateways and the nodes that gateways hear."""
import math
from opening import NOBODY
from caps import Totals

YOUNG = 1024
CHANNELS = 1024
UNMARKED = {"is_favorite": False, "is_ignored": False, "archived_at": 0, "note": "", "alias": ""}


def shortened(name):
    """At most 64 bytes, cut between characters."""
    while len(name.encode()) > 64:
        name = name[:-1]
    return name


class Nodes:
    def __init__(self, caps):
        self.rows, self.marks, self.cap = {}, {}, caps["nodes"]

    def row(self, number, sequence, heard):
        if number not in self.rows:
            self.make_room(sequence)
            self.rows[number] = {
                "long_name": "", "short_name": "", "hardware_model": 0, "role": 0, "is_licensed": False, "is_unmessagable": None,
                "public_key": b"", "has_key_conflict": False, "firmware": "", "first_heard": heard, "last_heard": heard, "snr": 0, "rssi": None,
                "hops_away": None, "is_via_mqtt": False, "channel": "", "receptions": 0, "packets": 0, "unreadable": 0,
                "first_sequence": sequence, "last_sequence": sequence, **self.marks.get(number, UNMARKED)}
        return self.rows[number]

    def make_room(self, sequence):
        """For one row more. Favorites never go; those that came just now only where there are no others."""
        while len(self.rows) >= self.cap:
            others = [number for number, row in self.rows.items() if not row["is_favorite"]]
            old = [number for number in others if sequence - self.rows[number]["first_sequence"] > YOUNG]
            if not others:
                return
            del self.rows[min(old or others, key=lambda number: (self.rows[number]["last_heard"], number))]

    def hear(self, heard):
        packet, time = heard.packet, heard.time()[0]
        row = self.row(heard.sender, heard.event.sequence, time)
        row["receptions"] += 1
        row["packets"] += heard.is_first
        row["unreadable"] += heard.is_first and heard.data is None
        row["last_sequence"] = heard.event.sequence
        row["last_heard"] = max(row["last_heard"], time)
        row["first_heard"] = min(row["first_heard"] or time, time)
        row["is_via_mqtt"] = packet.via_mqtt
        if heard.snr or heard.rssi is not None:
            row["snr"], row["rssi"] = heard.snr, heard.rssi
        if heard.hops is not None:
            row["hops_away"] = heard.hops
        if heard.is_first_readable:
            row["channel"] = heard.channel

    def listed(self, event, info):
        """A radio's entry of a node."""
        last = info.last_heard if event.believes(info.last_heard) else 0
        row = self.row(info.num, event.sequence, last)
        row["last_heard"], row["last_sequence"] = max(row["last_heard"], last), event.sequence
        if info.HasField("user"):
            self.introduce(info.num, info.user)

    def introduce(self, number, user):
        row = self.rows[number]
        row["long_name"], row["short_name"] = user.long_name or row["long_name"], user.short_name or row["short_name"]
        row["hardware_model"] = user.hw_model or row["hardware_model"]
        if user.long_name or user.short_name:
            row["role"], row["is_licensed"] = user.role, user.is_licensed
        if user.HasField("is_unmessagable"):
            row["is_unmessagable"] = user.is_unmessagable
        if len(user.public_key) == 32:
            row["has_key_conflict"] |= row["public_key"] not in (b"", user.public_key)
            row["public_key"] = row["public_key"] or user.public_key

    def report(self, number, report):
        row = self.rows[number]
        row["long_name"], row["short_name"] = report.long_name or row["long_name"], report.short_name or row["short_name"]
        row["hardware_model"] = report.hw_model or row["hardware_model"]
        row["firmware"] = report.firmware_version or row["firmware"]
        if report.long_name:
            row["role"] = report.role

    def mark(self, number, changes):
        """What a person decided about a node; an alias that another one has passes to it."""
        mark = {**self.marks.get(number, UNMARKED), **changes}
        for other, known in self.marks.items():
            if changes.get("alias") and other != number and known["alias"] == changes["alias"]:
                known["alias"] = ""
                self.rows.get(other, {}).update(alias="")
        self.marks[number] = mark
        if number in self.rows:
            self.rows[number].update(mark)
        return mark

    def out(self):
        for number, row in self.rows.items():
            known = row["long_name"] or row["short_name"] or row["hardware_model"] or row["public_key"]
            yield {"number": number, "state": "introduced" if known else "heard", "is_archived": row["archived_at"] != 0, **row}


def begin(rows, key, sequence, time, **fields):
    """The row of a key, with the times and sequences that such rows have."""
    row = rows.setdefault(key, {"first_time": time, "time": time, "first_sequence": sequence, **fields})
    row.update(time=max(row["time"], time), first_time=min(row["first_time"], time), sequence=sequence)
    return row


class Channels:
    def __init__(self):
        self.rows = {}

    def hear(self, heard):
        key = ("", 0, min(heard.packet.channel, 256)) if heard.channel is None else (shortened(heard.channel), heard.mark, None)
        if key not in self.rows and len(self.rows) >= CHANNELS:
            key = ("(others)", 0, None)
        row = begin(self.rows, key, heard.event.sequence, heard.time()[0], packets=0, receptions=0, hash=key[2])
        row["receptions"] += 1
        row["packets"] += heard.is_first
        if heard.wire_hash is not None:
            row["hash"] = heard.wire_hash

    def out(self):
        for (name, mark, number), row in self.rows.items():
            yield {"channel": {"name": name or None, "key_fingerprint": mark, "hash": number}, "name": name, "key_fingerprint": mark,
                   "is_readable": number is None, "hash": row["hash"], "packets": row["packets"], "receptions": row["receptions"],
                   "first_heard": row["first_time"], "last_heard": row["time"], "first_sequence": row["first_sequence"],
                   "last_sequence": row["sequence"]}


def lower(known, value):
    return known if value is None else value if known is None else min(known, value)


def higher(known, value):
    return known if value is None else value if known is None else max(known, value)


class Gateways:
    def __init__(self, caps):
        self.rows, self.pairs = Totals(caps["gateways"]), Totals(caps["gatewayNodes"])

    def hear(self, heard):
        if not heard.gateway:
            return
        time, sequence, gateway = heard.time()[0], heard.event.sequence, heard.gateway
        row = begin(self.rows, gateway, sequence, time, receptions=0, packets=0, unreadable=0, via_mqtt=0, own=0, nodes=0, sources=[],
                    lowest_snr=None, highest_snr=None, lowest_rssi=None, highest_rssi=None)
        for name, more in (("receptions", 1), ("packets", heard.is_first), ("unreadable", heard.data is None),
                           ("via_mqtt", heard.packet.via_mqtt), ("own", heard.sender == gateway)):
            row[name] += more
        if heard.event.source not in row["sources"] and len(row["sources"]) < 8:
            row["sources"].append(heard.event.source)
        counts = heard.sender != gateway and not heard.packet.via_mqtt
        snr = heard.snr if counts and math.isfinite(heard.snr) and (heard.snr or heard.rssi) else None
        rssi = heard.rssi or None if counts else None
        row.update(lowest_snr=lower(row["lowest_snr"], snr), highest_snr=higher(row["highest_snr"], snr),
                   lowest_rssi=lower(row["lowest_rssi"], rssi), highest_rssi=higher(row["highest_rssi"], rssi))
        if heard.sender != gateway and heard.sender not in NOBODY:
            row["nodes"] += (gateway, heard.sender) not in self.pairs
            pair = begin(self.pairs, (gateway, heard.sender), sequence, time, receptions=0, highest_snr=None)
            pair.update(receptions=pair["receptions"] + 1, highest_snr=higher(pair["highest_snr"], snr))
        self.rows.settle()
        self.pairs.settle()

    def out(self):
        for gateway, row in self.rows.items():
            yield {"gateway": gateway, **row}

    def out_pairs(self):
        for (gateway, node), row in self.pairs.items():
            yield {"gateway": gateway, "node": node, **row}
