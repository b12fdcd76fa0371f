"""The views of traffic: nodes, channels, gateways and the nodes that gateways hear."""
import math
from caps import Totals
from opening import NOBODY
from packets import IMPORT, LATEST

YOUNG = 1024
CHANNELS, TEXT = 1024, 64
UNMARKED = {"is_favorite": False, "is_ignored": False, "archived_at": 0, "note": "", "alias": ""}


def shortened(name):
    """At most 64 bytes, cut between Unicode scalars."""
    while len(name.encode()) > 64:
        name = name[:-1]
    return name


def cut(text, most):
    """A text of up to `most` bytes is whole; of others as many Unicode scalars are kept."""
    return text if len(text.encode()) <= most else text[:most]


class Nodes:
    def __init__(self, caps):
        self.rows, self.marks, self.cap = {}, {}, caps["nodes"]

    def row(self, number, sequence):
        if number not in self.rows:
            self.make_room(sequence)
            self.rows[number] = {
                "long_name": "", "short_name": "", "hardware_model": 0, "role": (0, False), "is_unmessagable": None,
                "public_key": b"", "has_key_conflict": False, "firmware": "", "first_heard": 0, "last_heard": 0,
                "is_time_of_import": False, "signal": (0, None), "hops_away": None, "is_via_mqtt": False, "channel": "", "receptions": 0, "packets": 0, "unreadable": 0,
                "first_sequence": sequence, "last_sequence": sequence, "times": {}, **self.marks.get(number, UNMARKED)}
        return self.rows[number]

    def make_room(self, sequence):
        """For one row more. Favorites never go; those that came just now only where there are no others."""
        while len(self.rows) >= self.cap:
            others = [number for number, row in self.rows.items() if not row["is_favorite"]]
            old = [number for number in others if sequence - self.rows[number]["first_sequence"] > YOUNG]
            if not others:
                return
            del self.rows[min(old or others, key=lambda number: (0 if self.rows[number]["is_time_of_import"] else self.rows[number]["last_heard"], number))]

    def hear(self, heard):
        packet, sequence = heard.packet, heard.event.sequence
        row = self.row(heard.sender, sequence)
        row["last_sequence"] = sequence
        if heard.event.is_replayed:
            span(row, "first_heard", "last_heard", heard.at, "receiver")
            return
        row["receptions"] += not heard.is_repeat
        row["packets"] += heard.is_first
        row["unreadable"] = max(0, row["unreadable"] + (heard.is_first and heard.data is None) - (heard.is_first_readable and not heard.is_first))
        span(row, "first_heard", "last_heard", *heard.time())
        newest(row, "is_via_mqtt", packet.via_mqtt, heard.at)
        if heard.snr or heard.rssi is not None:
            newest(row, "signal", (heard.snr, heard.rssi), heard.at)
        if heard.hops is not None:
            newest(row, "hops_away", heard.hops, heard.at)
        if heard.data is not None:
            newest(row, "channel", heard.channel, heard.at)

    def listed(self, event, info, at):
        """A radio's entry of a node."""
        last = info.last_heard if event.believes(info.last_heard) else 0
        row = self.row(info.num, event.sequence)
        span(row, "first_heard", "last_heard", last, "receiver")
        row["last_sequence"] = event.sequence
        if info.HasField("user"):
            self.introduce(info.num, info.user, at)

    def introduce(self, number, user, at):
        """What a node, or a radio's list, says that it is: of each the newest, but of keys the one that was heard first."""
        row = self.rows[number]
        self.name(row, user, at)
        if user.long_name or user.short_name:
            newest(row, "role", (user.role, user.is_licensed), at)
        if user.HasField("is_unmessagable"):
            newest(row, "is_unmessagable", user.is_unmessagable, at)
        if len(user.public_key) == 32:
            at = at or LATEST
            row["has_key_conflict"] |= row["public_key"] not in (b"", user.public_key)
            if not row["public_key"] or at < row["times"]["public_key"]:
                row["public_key"], row["times"]["public_key"] = user.public_key, at

    def report(self, number, report, at):
        row = self.rows[number]
        self.name(row, report, at)
        if report.firmware_version:
            newest(row, "firmware", cut(report.firmware_version, TEXT), at)
        if report.long_name:
            newest(row, "role", (report.role, row["role"][1]), at)

    @staticmethod
    def name(row, content, at):
        for name in ("long_name", "short_name"):
            value, known = cut(getattr(content, name), TEXT), row[name]
            if value and known and is_unclean(value) != is_unclean(known):
                # One with what cannot be read gives way to one without, however old, and never the other way round.
                if not is_unclean(value):
                    row[name], row["times"][name] = value, at
            elif value:
                newest(row, name, value, at)
        if content.hw_model:
            newest(row, "hardware_model", content.hw_model, at)

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
            known = row["long_name"] or row["short_name"] or row["hardware_model"]
            (snr, rssi), (role, is_licensed) = row["signal"], row["role"]
            shown = {name: value for name, value in row.items() if name not in ("times", "signal", "role")}
            yield {"number": number, "state": "introduced" if known else "heard", "is_archived": row["archived_at"] != 0, "snr": snr, "rssi": rssi,
                   "role": role, "is_licensed": is_licensed, **shown}


def newest(row, name, value, at):
    """The newest value stays, of equals the later event's."""
    if at >= row["times"].get(name, 0):
        row[name], row["times"][name] = value, at


def is_unclean(text):
    return any(ord(letter) < 32 or 127 <= ord(letter) <= 159 or letter == "\ufffd" for letter in text)


def span(row, first, last, time, clock):
    """Takes a time into those from the first to the last; what is known puts away what only imports tell."""
    tells_import = clock == IMPORT
    if not time:
        return
    if not row[last] or row["is_time_of_import"] and not tells_import:
        row.update({first: time, last: time, "is_time_of_import": tells_import})
    elif row["is_time_of_import"] == tells_import:
        row.update({first: min(row[first], time), last: max(row[last], time)})


def begin(rows, key, sequence, time, **fields):
    """The row of a key, with the times and sequences that such rows have."""
    row = rows.setdefault(key, {"first_time": 0, "time": 0, "is_time_of_import": False, "first_sequence": sequence, **fields})
    span(row, "first_time", "time", *time)
    row["sequence"] = sequence
    return row


class Channels:
    def __init__(self):
        self.rows = {}

    def hear(self, heard):
        key = ("", 0, min(heard.packet.channel, 256)) if heard.channel is None else (shortened(heard.channel), heard.mark, None)
        if key not in self.rows and len(self.rows) >= CHANNELS:
            key = ("(others)", 0, None)
        row = begin(self.rows, key, heard.event.sequence, heard.time(), packets=0, receptions=0, hash=key[2], hash_time=0)
        row["receptions"] += not heard.is_repeat
        row["packets"] += heard.is_first
        if heard.wire_hash is not None and heard.at >= row["hash_time"]:
            row["hash"], row["hash_time"] = heard.wire_hash, heard.at

    def out(self):
        for (name, mark, number), row in self.rows.items():
            yield {"channel": {"name": name or None, "key_fingerprint": mark, "hash": number}, "name": name, "key_fingerprint": mark,
                   "is_readable": number is None, "hash": row["hash"], "packets": row["packets"], "receptions": row["receptions"],
                   "first_heard": row["first_time"],
                   "last_heard": row["time"], "is_time_of_import": row["is_time_of_import"], "first_sequence": row["first_sequence"],
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
        time, sequence, gateway = heard.time(), heard.event.sequence, heard.gateway
        row = begin(self.rows, gateway, sequence, time, receptions=0, packets=0, unreadable=0, via_mqtt=0, own=0, nodes=0, sources=[],
                    lowest_snr=None, highest_snr=None, lowest_rssi=None, highest_rssi=None)
        for name, more in (("receptions", 1), ("packets", heard.is_first_of_gateway), ("unreadable", heard.data is None),
                           ("via_mqtt", heard.packet.via_mqtt), ("own", heard.sender == gateway)):
            row[name] += more and heard.counts
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
            pair.update(receptions=pair["receptions"] + heard.counts, highest_snr=higher(pair["highest_snr"], snr))
        self.rows.settle()
        self.pairs.settle()

    def out(self):
        for gateway, row in self.rows.items():
            yield {"gateway": gateway, **row}

    def out_pairs(self):
        for (gateway, node), row in self.pairs.items():
            yield {"gateway": gateway, "node": node, **row}
