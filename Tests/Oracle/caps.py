"""How many rows each view keeps; `fold.py --cap NAME=NUMBER` changes one. And which rows go."""
import heapq

STANDARD = {"nodes": 10_000, "positions": 5_000, "telemetry": 5_000, "messages": 50_000, "waypoints": 5_000, "traceRoutes": 20_000,
            "links": 20_000, "gateways": 5_000, "gatewayNodes": 100_000, "mapReports": 10_000, "sensors": 5_000, "nodeHistory": 256,
            "radios": 64, "hardware": 20_000, "favorites": 50_000, "within": 0, "reducedLatest": 0}


def age(row):
    """By which a row goes: first those of which nothing but imports tells the time."""
    return 0 if row.get("is_time_of_import") or row.get("time_source") == "import" else row["time"]


class Totals(dict):
    """Rows of which the one with the lowest age goes, then the lowest key; it may be the new one."""

    def __init__(self, cap):
        super().__init__()
        self.cap = cap

    def settle(self):
        while len(self) > self.cap:
            del self[min(self, key=lambda key: (age(self[key]), key))]


def vacated(heard):
    """Takes away the row that a packet had, for that of an event that supersedes; returns it if it was there."""
    series, group, place = heard.of.row or (None, None, None)
    heard.of.row = None
    return series and series.groups.get(group, {}).pop(place, None)


class Series:
    """Rows in groups, of which the newest stay: by time, then sequence."""

    def __init__(self, cap_of):
        self.groups, self.cap_of = {}, cap_of
        # By group, a heap of the places of all rows that came in, also of those that have gone since.
        self.places = {}

    def add(self, group, time, sequence, row):
        self.groups.setdefault(group, {})[time, sequence] = row
        heapq.heappush(self.places.setdefault(group, []), (time, sequence))
        self.settle(group)

    def settle(self, group):
        rows, places = self.groups.get(group, {}), self.places.get(group, [])
        while len(rows) > self.cap_of(group):
            rows.pop(heapq.heappop(places), None)

    def take(self, heard, group, time, row):
        """The row that is made of a packet. That of an event that supersedes takes the place of the one before, unless that has gone."""
        heard.of.row = self, group, (time, heard.event.sequence)
        self.add(group, time, heard.event.sequence, row)

    def items(self):
        for group, rows in self.groups.items():
            for (time, sequence), row in rows.items():
                yield group, time, sequence, row
