"""The views of waypoints and of ways: waypoints, trace routes, links."""
import math
from caps import Totals
from opening import BROADCAST, NOBODY
from packets import WINDOW

ROUTE, STRENGTHS, NEIGHBORS = 16, 17, 64
SAMPLE_SECONDS, SAMPLES = 900, 128
PLACES = 20_000
UNKNOWN = -128


def cut(text, most):
    """A text of up to `most` bytes is whole; of others as many Unicode scalars are kept."""
    return text if len(text.encode()) <= most else text[:most]


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
        time, source = heard.time()
        deletes, row = waypoint.expire != 0 and waypoint.expire <= time, self.rows.get(waypoint.id)
        if row is None and deletes:
            return True
        if row is not None and (row["time"] - time > WINDOW or (deletes and row["is_deleted"])):
            return True
        begins = row is None or row["is_deleted"]
        if not begins and row["locked_to"] not in (0, heard.sender):
            row["refused_changes"] += 1
            return True
        if row is None:
            row = self.rows[waypoint.id] = {"time": 0, "first_sequence": heard.event.sequence, "changes": 0, "refused_changes": 0}
        if time >= row["time"]:
            row.update(time=time, time_source=source)
        row.update(sequence=heard.event.sequence, packet_id=heard.packet.id, to=heard.to, gateway=heard.gateway, channel=heard.channel,
                   expire=waypoint.expire, changes=row["changes"] + 1, is_deleted=deletes)
        row["from"] = heard.sender
        if not deletes:
            box = waypoint.bounding_box if waypoint.HasField("bounding_box") else None
            row.update(
                creator=heard.sender if begins else row["creator"], locked_to=waypoint.locked_to,
                latitude_e7=waypoint.latitude_i if placed else None, longitude_e7=waypoint.longitude_i if placed else None,
                name=cut(waypoint.name, 64), details=cut(waypoint.description, 256), icon=waypoint.icon, geofence_radius=waypoint.geofence_radius,
                bounding_box=box and {"west_e7": box.longitude_west_i, "south_e7": box.latitude_south_i, "east_e7": box.longitude_east_i,
                                      "north_e7": box.latitude_north_i},
                notifies_on_enter=waypoint.notify_on_enter, notifies_on_exit=waypoint.notify_on_exit,
                notifies_favorites_only=waypoint.notify_favorites_only)
        self.rows.settle()
        return True

    def out(self):
        for number, row in self.rows.items():
            degrees = {name: None if row[f"{name}_e7"] is None else row[f"{name}_e7"] / 1e7 for name in ("latitude", "longitude")}
            yield {"id": number, **degrees, **row}


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
        key = (packet.to, heard.data.request_id) if answers else (heard.sender, packet.id)
        row = self.rows.get(key)
        if row and row["reply_sequence" if answers else "request_sequence"] != heard.first_sequence and abs(row["time"] - time[0]) > WINDOW:
            if time[0] < row["time"]:
                return
            row = None
        if row is None:
            row = self.rows[key] = {
                "time": time[0], "time_source": time[1], "to": 0, "first_sequence": sequence, "sequence": sequence, "request_sequence": 0,
                "reply_sequence": 0, "reply_id": 0, "reply_time": 0, "channel": "", "there": ([], []), "back": ([], []), "places": {}}
        row["channel"] = row["channel"] or heard.channel
        there, back = ((list(route)[:ROUTE], list(strengths)[:STRENGTHS]) for route, strengths in
                       ((found.route, found.snr_towards), (found.route_back, found.snr_back)))
        was_answered = row["reply_sequence"] != 0
        (self.answer(heard, row, there, back) if answers else self.question(heard, row, there))
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

    @staticmethod
    def answer(heard, row, there, back):
        if not row["reply_sequence"]:
            if row["request_sequence"] and row["to"] not in (heard.sender, BROADCAST):
                return
            row.update(reply_sequence=heard.first_sequence, reply_id=heard.packet.id, reply_time=heard.time()[0], to=heard.sender, there=there,
                       sequence=heard.event.sequence)
        if (row["reply_id"], row["to"]) != (heard.packet.id, heard.sender):
            return
        for name, way in (("there", there), ("back", back)):
            if length(way) > length(row[name]):
                row.update({name: way, "sequence": heard.event.sequence})

    def out(self):
        for (asker, number), row in self.rows.items():
            (route, snr_towards), (route_back, snr_back) = row["there"], row["back"]
            places = [{"node": node, "time": place[0], "latitude_e7": place[1], "longitude_e7": place[2]} for node, place in row["places"].items()]
            kept = {name: value for name, value in row.items() if name not in ("there", "back", "places")}
            yield {"from": asker, "id": number, "is_answered": row["reply_sequence"] != 0, "route": route, "snr_towards": snr_towards,
                   "route_back": route_back, "snr_back": snr_back, "places": places, **kept}


class Links:
    def __init__(self, caps):
        self.rows = Totals(caps["links"])

    def hear(self, heard):
        """A gateway that hears the sender itself."""
        packet = heard.packet
        if heard.gateway and heard.hops == 0 and not packet.via_mqtt and (heard.snr or heard.rssi) \
                and packet.relay_node & 255 in (0, heard.sender & 255 or 255):
            row = self.add(heard, heard.gateway, heard.sender, "direct", heard.time()[0], heard.snr)
            if row is not None and heard.rssi:
                row["rssi"] = heard.rssi

    def report(self, heard, found):
        for neighbor in found.neighbors[:NEIGHBORS]:
            self.add(heard, heard.sender, neighbor.node_id, "reported", heard.time(sent=neighbor.last_rx_time)[0], neighbor.snr)

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
                    self.add(heard, nodes[index + 1], nodes[index], "traced", heard.time()[0], strength / 4)

    def add(self, heard, hearer, other, evidence, time, snr):
        if hearer == other or hearer in NOBODY or other in NOBODY or not math.isfinite(snr):
            return None
        sequence = heard.event.sequence
        row = self.rows.setdefault((hearer, other), {"time": time, "first_time": time, "first_sequence": sequence, "direct": 0, "reported": 0,
                                                     "traced": 0, "rssi": None, "samples": []})
        row[evidence] += 1
        row.update(time=max(row["time"], time), first_time=min(row["first_time"], time), sequence=sequence, snr=snr, evidence=evidence)
        if not row["samples"] or abs(row["samples"][-1]["time"] - time) >= SAMPLE_SECONDS:
            row["samples"] = (row["samples"] + [{"time": time, "snr": snr, "evidence": evidence}])[-SAMPLES:]
        self.rows.settle()
        return row

    def out(self):
        for (hearer, other), row in self.rows.items():
            yield {"hearer": hearer, "heard": other, "count": row["direct"] + row["reported"] + row["traced"], **row}
