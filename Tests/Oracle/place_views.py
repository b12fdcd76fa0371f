"""The views of waypoints and of ways: waypoints, trace routes, links."""
import math
from caps import Totals, age
from opening import BROADCAST, NOBODY
from packets import IMPORT, LATEST
from schema import messages
from traffic_views import cut, span

ROUTE, STRENGTHS, NEIGHBORS = 16, 17, 64
SAMPLE_SECONDS, SAMPLES = 900, 128
PLACES = 20_000
ANSWER_SECONDS = 3600  # between a trace route and its answer
UNKNOWN = -128


class Waypoints:
    def __init__(self, caps):
        self.rows = Totals(caps["waypoints"])

    def take(self, heard, waypoint):
        """Returns False where the coordinates are outside of the globe."""
        placed = waypoint.HasField("latitude_i") and waypoint.HasField("longitude_i")
        if waypoint.id == 0:
            return True
        if placed and (abs(waypoint.latitude_i) > 900_000_000 or abs(waypoint.longitude_i) > 1_800_000_000):
            return False
        self.change(waypoint, heard, placed)
        self.rows.settle()
        return True

    def change(self, waypoint, heard, placed):
        """A row has a time, that of its newest change, and another one of its content, in whatever order they come."""
        (time, source), counts = heard.time(), heard.is_first_readable
        knows, deletes = source != IMPORT, waypoint.expire != 0 and waypoint.expire <= time
        row = self.rows.setdefault(waypoint.id, {
            "time": 0, "content_time": None, "created_time": None, "first_sequence": heard.event.sequence, "changes": 0, "refused_changes": 0,
            "creator": 0, "is_deleted": False, **EMPTY})
        earliest, place = (time, time) if knows else (LATEST, 0)
        if not deletes and (row["created_time"] is None or earliest < row["created_time"]):
            row.update(creator=heard.sender, created_time=earliest)
        if place < (age(row) if deletes else row["content_time"] or 0):
            row["changes"] += counts
            return
        if row["content_time"] is not None and (not row["is_deleted"] or place < age(row)) and row["locked_to"] not in (0, heard.sender):
            row["refused_changes"] += counts
            return
        row["changes"] += counts
        if place >= age(row):
            row.update({"time": time, "time_source": source, "sequence": heard.event.sequence, "packet_id": heard.packet.id, "from": heard.sender,
                        "to": heard.to, "gateway": heard.gateway, "channel": heard.channel, "expire": waypoint.expire, "is_deleted": deletes})
        if not deletes:
            row.update(content_time=place, **content_of(waypoint, placed))

    def out(self):
        for number, row in self.rows.items():
            degrees = {name: None if row[f"{name}_e7"] is None else row[f"{name}_e7"] / 1e7 for name in ("latitude", "longitude")}
            yield {"id": number, **degrees, **{name: value for name, value in row.items() if name not in ("content_time", "created_time")}}


def content_of(waypoint, placed):
    box = waypoint.bounding_box if waypoint.HasField("bounding_box") else None
    return {"locked_to": waypoint.locked_to, "latitude_e7": waypoint.latitude_i if placed else None,
            "longitude_e7": waypoint.longitude_i if placed else None, "name": cut(waypoint.name, 64), "details": cut(waypoint.description, 256),
            "icon": waypoint.icon, "geofence_radius": waypoint.geofence_radius, "notifies_on_enter": waypoint.notify_on_enter,
            "notifies_on_exit": waypoint.notify_on_exit, "notifies_favorites_only": waypoint.notify_favorites_only,
            "bounding_box": box and {"west_e7": box.longitude_west_i, "south_e7": box.latitude_south_i, "east_e7": box.longitude_east_i,
                                     "north_e7": box.latitude_north_i}}


EMPTY = content_of(messages.Waypoint(), False)


def length(way):
    return len(way[0]) + len(way[1])


class TraceRoutes:
    def __init__(self, caps, positions):
        self.rows, self.positions = Totals(caps["traceRoutes"]), positions

    def take(self, heard, found):
        packet, sequence, time = heard.packet, heard.event.sequence, heard.time()
        answers = heard.data.request_id != 0
        if packet.id == 0 or (answers and packet.to in NOBODY):
            return
        key = (packet.to, packet.id)  # where the JSON form's answer would be
        known = self.rows.get(key)
        if not (answers and known and known["reply_id"] == packet.id and known["reply_sequence"] == heard.first_sequence
                and not known["request_sequence"]):
            known = None
        if answers and heard.data.request_id == packet.id:
            if known is None and not heard.is_first_readable:
                return
        elif known is not None:
            del self.rows[key]
        key = (packet.to, heard.data.request_id) if answers else (heard.sender, packet.id)
        row = self.rows.get(key)
        if row and row["reply_sequence" if answers else "request_sequence"] != heard.first_sequence and IMPORT not in (time[1], row["time_source"]) \
                and abs(row["time"] - time[0]) > ANSWER_SECONDS:
            if time[0] < row["time"]:
                return
            row = None
        if row is None:
            row = self.rows[key] = {
                "time": time[0], "time_source": time[1], "to": 0, "first_sequence": sequence, "sequence": sequence, "request_sequence": 0,
                "reply_sequence": 0, "reply_id": 0, "reply_at": (0, ""), "channel": "", "there": ([], []), "back": ([], []), "places": {}}
        row["channel"] = row["channel"] or heard.channel
        there, back = ((list(route)[:ROUTE], list(strengths)[:STRENGTHS]) for route, strengths in
                       ((found.route, found.snr_towards), (found.route_back, found.snr_back)))
        was_answered = row["reply_sequence"] != 0
        counts = self.answer(heard, row, there, back) if answers else self.question(heard, row, there)
        if counts and is_earlier(time, (row["time"], row["time_source"])):
            row.update(time=time[0], time_source=time[1])
        if row["sequence"] == sequence:
            if row["reply_sequence"] and not was_answered:
                row["places"] = {}
            for node in [key[0], row["to"], *row["there"][0], *row["back"][0]]:
                if node in self.positions.last:
                    row["places"].setdefault(node, self.positions.last[node])
        self.rows.settle()

    @staticmethod
    def question(heard, row, way):
        if not row["request_sequence"]:
            row.update(request_sequence=heard.first_sequence, sequence=heard.event.sequence)
            row["to"] = row["to"] if row["reply_sequence"] else heard.to
        if not row["reply_sequence"] and length(way) > length(row["there"]):
            row.update(there=way, sequence=heard.event.sequence)
        return True

    @staticmethod
    def answer(heard, row, there, back):
        """Returns False for another answer than the one that is kept."""
        if not row["reply_sequence"]:
            if row["request_sequence"] and row["to"] not in (heard.sender, BROADCAST):
                return False
            row.update(reply_sequence=heard.first_sequence, reply_id=heard.packet.id, reply_at=heard.time(), to=heard.sender, there=there,
                       sequence=heard.event.sequence)
        if (row["reply_id"], row["to"]) != (heard.packet.id, heard.sender):
            return False
        if is_earlier(heard.time(), row["reply_at"]):
            row["reply_at"] = heard.time()
        for name, way in (("there", there), ("back", back)):
            if length(way) > length(row[name]):
                row.update({name: way, "sequence": heard.event.sequence})
        return True

    def out(self):
        for (asker, number), row in self.rows.items():
            (route, snr_towards), (route_back, snr_back) = row["there"], row["back"]
            places = [{"node": node, "time": place[0], "latitude_e7": place[1], "longitude_e7": place[2]} for node, place in row["places"].items()]
            kept = {name: value for name, value in row.items() if name not in ("there", "back", "places", "reply_at")}
            yield {"from": asker, "reply_time": row["reply_at"][0], "id": number, "is_answered": row["reply_sequence"] != 0, "route": route, "snr_towards": snr_towards,
                   "route_back": route_back, "snr_back": snr_back, "places": places, **kept}


def is_earlier(one, other):
    """Whether a time with its clock is earlier than another one: what only imports tell is later than what is known."""
    return (one[1] == IMPORT, one[0]) < (other[1] == IMPORT, other[0])


class Links:
    def __init__(self, caps):
        self.rows = Totals(caps["links"])

    def hear(self, heard):
        """A gateway that hears the sender itself."""
        packet = heard.packet
        if heard.gateway and heard.hops == 0 and not packet.via_mqtt and (heard.snr or heard.rssi) \
                and packet.relay_node & 255 in (0, heard.sender & 255 or 255):
            time = heard.time()
            row, at = self.add(heard, heard.gateway, heard.sender, "direct", time, heard.snr), 0 if time[1] == IMPORT else time[0]
            if row is not None and heard.rssi and at >= row["rssi_time"]:
                row.update(rssi=heard.rssi, rssi_time=at)

    def report(self, heard, found):
        for neighbor in found.neighbors[:NEIGHBORS]:
            self.add(heard, heard.sender, neighbor.node_id, "reported", heard.time(sent=neighbor.last_rx_time), neighbor.snr)

    def trace(self, heard, found):
        answers, sender, to = heard.data.request_id != 0, heard.sender, heard.to
        ways = [(to, found.route, sender, found.snr_towards) if answers else (sender, found.route, to, found.snr_towards)]
        if answers:
            ways.append((sender, found.route_back, to, found.snr_back))
        for begin, between, end, strengths in ways:
            if len(between) > ROUTE or len(strengths) not in (len(between), len(between) + 1):
                continue
            nodes = [begin, *between, end]
            for index, strength in enumerate(strengths):
                if strength != UNKNOWN:
                    self.add(heard, nodes[index + 1], nodes[index], "traced", heard.time(), strength / 4)

    def add(self, heard, hearer, other, evidence, time, snr):
        if hearer == other or hearer in NOBODY or other in NOBODY or not math.isfinite(snr):
            return None
        sequence, (seconds, clock) = heard.event.sequence, time
        row = self.rows.setdefault((hearer, other), {
            "time": 0, "first_time": 0, "is_time_of_import": False, "first_sequence": sequence, "direct": 0, "reported": 0, "traced": 0,
            "rssi": None, "rssi_time": 0, "samples": {}})
        row[evidence] += heard.is_first_readable if evidence == "reported" else heard.counts
        row["sequence"] = sequence
        knows, knew = clock != IMPORT, row["time"] and not row["is_time_of_import"]
        if knows or not knew:
            if knows and not knew:
                row["samples"].clear()
            if knows and not knew or seconds >= row["time"]:
                row.update(snr=snr, evidence=evidence)
            span(row, "first_time", "time", seconds, clock)
            samples, stretch = row["samples"], seconds // SAMPLE_SECONDS
            if stretch not in samples or seconds < samples[stretch]["time"]:
                samples[stretch] = {"time": seconds, "snr": snr, "evidence": evidence}
            if len(samples) > SAMPLES:
                del samples[min(samples)]
        self.rows.settle()
        return row

    def out(self):
        for (hearer, other), row in self.rows.items():
            yield {"hearer": hearer, "heard": other, "count": row["direct"] + row["reported"] + row["traced"],
                   **{name: value for name, value in row.items() if name != "rssi_time"}, "samples": [row["samples"][at] for at in sorted(row["samples"])]}
