"""The views of what nodes tell of their place and their sensors: positions, telemetry, sensors; and what radios tell their clients."""
import math
from caps import Series, vacated
from opening import TEXTS
from packets import IMPORT, NOTHING
from wire import fields

SPHERE = 6_371_000
# Parts of a degree, and of a dilution of precision, that the wire counts in.
COURSE, DOP = 100_000, 100
KINDS = {2: "device", 3: "environment", 4: "airQuality", 5: "power", 6: "localStats", 7: "health", 8: "host", 9: "trafficManagement",
         11: "soilWater"}
SENSORS = {10: "detection", 34: "paxcounter", 65: "storeForward", 66: "rangeTest"}
PARTS = {3: "myInfo", 5: "config", 9: "moduleConfig", 10: "channel", 13: "metadata", 17: "deviceUI", 19: "regionPresets"}
LONGEST_PART = 4096
LAST_PARTS = 20_000


class Kept:
    """Caps of series by node: a favorite keeps more from the event on that makes it one."""

    def __init__(self, caps, marks):
        self.caps, self.marks = caps, marks

    def of(self, name):
        def cap(group):
            mark = self.marks.get(group[0])
            return max(self.caps[name], self.caps["favorites"]) if mark and mark["is_favorite"] else self.caps[name]
        return cap


def distance(one, other):
    north = math.radians((one["latitude_e7"] - other["latitude_e7"]) / 1e7)
    mean = math.radians((one["latitude_e7"] + other["latitude_e7"]) / 2e7)
    east = math.radians((one["longitude_e7"] - other["longitude_e7"]) / 1e7) * math.cos(mean)
    return SPHERE * math.hypot(north, east)


class Positions:
    def __init__(self, caps, kept):
        self.rows, self.caps, self.last, self.last_at = Series(kept.of("positions")), caps, {}, {}
        self.is_thinned = bool(caps["within"] or caps["reducedLatest"])

    def take(self, heard, position):
        """Returns False where the coordinates are outside of the globe."""
        keeps = heard.supersedes and self.is_thinned
        if not keeps:
            vacated(heard)
        if not (position.HasField("latitude_i") and position.HasField("longitude_i")):
            return True
        latitude, longitude, bits = position.latitude_i, position.longitude_i, position.precision_bits
        if abs(latitude) > 900_000_000 or abs(longitude) > 1_800_000_000:
            return keeps
        if latitude == longitude == 0 or (1 <= bits <= 31 and latitude == longitude == 1 << (31 - bits)):
            return True
        time, source = heard.time(fix=position.timestamp, sent=position.time)
        optional = {name: getattr(position, name) if position.HasField(name) else None for name in ("altitude", "ground_speed")}
        row = {"time_source": source, "packet_id": heard.packet.id, "latitude_e7": latitude, "longitude_e7": longitude,
               **optional, "ground_track": position.ground_track / COURSE if self.has_course(position) else None,
               "satellites": position.sats_in_view, "precision_bits": bits, "sent_time": position.time,
               "fix_time": position.timestamp, "gateway": heard.gateway,
               **{name.lower(): getattr(position, name) / DOP or None for name in ("PDOP", "HDOP", "VDOP")},
               "snr": heard.snr, "rssi": heard.rssi, "since": 0}
        node = heard.sender
        place = 0 if source == IMPORT else time
        if place >= self.last_at.get(node, 0):
            self.last[node], self.last_at[node] = (time, latitude, longitude), place
        if keeps:
            return True
        self.thin(self.rows.groups.get((node,), {}), time, row)
        self.rows.take(heard, (node,), time, row)
        return True

    @staticmethod
    def has_course(position):
        return position.HasField("ground_track") and position.ground_track <= 360 * COURSE

    def thin(self, known, time, row):
        latest = max(known, default=None)
        if latest is None or time < latest[0]:
            return
        other = known[latest]
        if self.caps["within"] and distance(row, other) <= self.caps["within"]:
            row.update(latitude_e7=other["latitude_e7"], longitude_e7=other["longitude_e7"], since=other["since"] or latest[0])
            del known[latest]
        elif self.caps["reducedLatest"] and all(1 <= entry["precision_bits"] <= 31 for entry in (row, other)):
            del known[latest]

    def out(self):
        for (node,), time, sequence, row in self.rows.items():
            yield {"node": node, "time": time, "sequence": sequence, "latitude": row["latitude_e7"] / 1e7,
                   "longitude": row["longitude_e7"] / 1e7, **row}


class Telemetry:
    def __init__(self, kept):
        self.rows, self.unknown = Series(kept.of("telemetry")), Series(kept.of("telemetry"))

    def take(self, heard, telemetry):
        """The kind is that of the last metrics, byte for byte; those of an unknown kind wait for a later version."""
        metrics = [(number, value) for number, wire, value, *_ in fields(heard.data.payload) if wire == 2 and 2 <= number <= 31]
        vacated(heard)
        if not metrics:
            return
        number, value = metrics[-1]
        time, source = heard.time(sent=telemetry.time)
        row = {"time_source": source, "packet_id": heard.packet.id, "sent_time": telemetry.time, "gateway": heard.gateway, "metrics": value}
        (self.rows if number in KINDS else self.unknown).take(heard, (heard.sender, number), time, row)

    def out(self):
        for (node, kind), time, sequence, row in self.rows.items():
            yield {"node": node, "kind": KINDS[kind], "time": time, "sequence": sequence, **row}

    def out_unknown(self):
        for (node, kind), time, sequence, row in self.unknown.items():
            yield {"node": node, "kind": kind, "time": time, "sequence": sequence, **row}


class Sensors:
    def __init__(self, kept):
        self.rows = Series(kept.of("sensors"))

    def take(self, heard, answer):
        vacated(heard)
        time, source = heard.time()
        text = heard.data.payload if heard.port in TEXTS else answer.text if heard.port == 65 else b""
        self.rows.take(heard, (heard.sender, heard.port), time, {
            "time_source": source, "packet_id": heard.packet.id, "to": heard.to, "channel": heard.channel, "gateway": heard.gateway,
            "snr": heard.snr, "rssi": heard.rssi, "hops_away": heard.hops, "payload": heard.data.payload,
            "text": text.decode("utf-8", "replace")})

    def out(self):
        for (node, port), time, sequence, row in self.rows.items():
            yield {"node": node, "kind": SENSORS[port], "time": time, "sequence": sequence, **row}


class Radios:
    def __init__(self, caps):
        self.rows, self.last, self.nodes, self.targets = Series(lambda _: caps["radios"]), {}, {}, {}

    def take(self, event, frame):
        """A frame as its bytes are: the log has zeroed its secrets already."""
        members = [(number, value) for number, wire, value, *_ in fields(event.payload) if wire == 2]
        if not members or members[-1][0] not in PARTS:
            return
        number, body = members[-1]
        if number == 3:
            self.nodes[event.source], self.targets[event.source] = frame.my_info.my_node_num, frame.my_info.pio_env
        if len(body) > LONGEST_PART:
            return
        sections = [inner for inner, wire, *_ in fields(body) if wire == 2]
        section = sections[-1] if number in (5, 9) and sections else 0
        group = event.source, number, section & 255, frame.channel.index & 255 if number == 10 else 0
        if self.last.get(group) != body:
            time, source = event.time(NOTHING)
            self.rows.add(group, time, event.sequence, {"time_source": source, "node": self.nodes.get(event.source, 0), "content": body})
        self.last.pop(group, None)
        self.last[group] = body
        if len(self.last) > LAST_PARTS:
            del self.last[next(iter(self.last))]

    def out(self):
        for (source, number, section, slot), time, sequence, row in self.rows.items():
            yield {"source": source, "part": PARTS[number], "section": section, "slot": slot, "time": time, "sequence": sequence, **row}
