"""The views of what nodes said of themselves: map reports, node history, hardware."""
from caps import Series, Totals, age
from packets import IMPORT
from traffic_views import begin, cut, shortened

TEXT = 64
CHANGES = ["long_name", "short_name", "hardware", "role", "firmware", "first_key", "other_key", "first_key_again", "shared_key"]


def order(time, clock):
    """For what is the latest: before all others where nobody knows when it was."""
    return 0 if clock == IMPORT else time


class MapReports:
    def __init__(self, caps):
        self.rows = Totals(caps["mapReports"])

    def take(self, heard, report):
        """Each readable report; how many there were is that of packets."""
        (time, source), sequence = heard.time(), heard.event.sequence
        row = self.rows.setdefault(heard.sender, {"time": time, "time_source": source, "first_time": time, "first_sequence": sequence, "reports": 0,
                                                  "most_online_local_nodes": 0})
        row.update(reports=row["reports"] + heard.is_first_readable,
                   most_online_local_nodes=max(row["most_online_local_nodes"], report.num_online_local_nodes))
        if (source == IMPORT) == (row["time_source"] == IMPORT):
            row["first_time"] = min(row["first_time"], time)
        elif source != IMPORT:
            row["first_time"] = time
        if order(time, source) >= age(row):
            latitude, longitude = report.latitude_i, report.longitude_i
            placed = (latitude or longitude) and abs(latitude) <= 900_000_000 and abs(longitude) <= 1_800_000_000
            row.update(
                time=time, time_source=source, sequence=sequence, long_name=cut(report.long_name, TEXT), short_name=cut(report.short_name, TEXT),
                role=report.role, hardware_model=report.hw_model, firmware=cut(report.firmware_version, TEXT), region=report.region,
                modem_preset=report.modem_preset, has_default_channel=report.has_default_channel, altitude=report.altitude,
                latitude_e7=latitude if placed else None, longitude_e7=longitude if placed else None, precision_bits=report.position_precision,
                online_local_nodes=report.num_online_local_nodes, has_opted_report_location=report.has_opted_report_location,
                channel=shortened(heard.channel))
        self.rows.settle()

    def out(self):
        for node, row in self.rows.items():
            degrees = {name: None if row[f"{name}_e7"] is None else row[f"{name}_e7"] / 1e7 for name in ("latitude", "longitude")}
            yield {"node": node, **degrees, **row}


class NodeHistory:
    def __init__(self, caps):
        self.rows, self.hardware, self.cap = Series(lambda _: caps["nodeHistory"]), Totals(caps["hardware"]), caps["nodes"]
        self.known = {}

    def learn(self, event, node, kind, content, time, gateway=0, target=""):
        known = self.known.setdefault(node, {"long_name": "", "short_name": "", "hardware_model": 0, "role": 0, "firmware": "", "first": b"", "last": b"",
                                      "key_since": 0})
        known["introduced"] = max(known.get("introduced", 0), order(*time))
        long_name, short_name = cut(getattr(content, "long_name", ""), TEXT), cut(getattr(content, "short_name", ""), TEXT)
        firmware = cut(getattr(content, "firmware_version", ""), TEXT)
        tells_role = {"nodeInfo": long_name or short_name, "nodeList": long_name or short_name, "mapReport": long_name, "metadata": True}[kind]
        changes = set()
        for name, title, value in (("long_name", "long_name", long_name or None), ("short_name", "short_name", short_name or None),
                                   ("hardware_model", "hardware", content.hw_model or None), ("role", "role", content.role if tells_role else None),
                                   ("firmware", "firmware", firmware or None)):
            if value is not None and value != known[name]:
                known[name] = value
                changes.add(title)
        key, shared = getattr(content, "public_key", b""), 0
        if len(key) == 32 and key != known["last"]:
            changes.add("first_key" if not known["first"] else "first_key_again" if key == known["first"] else "other_key")
            known["last"] = key
            if not known["first"]:
                holders = [(other["key_since"], number) for number, other in self.known.items() if number != node and other["first"] == key]
                if holders:
                    changes.add("shared_key")
                    shared = max(holders)[1]
                known["first"], known["key_since"] = key, event.sequence
        if content.hw_model:
            row = begin(self.hardware, (content.hw_model, node), event.sequence, time, count=0, firmware="", target="", latest={})
            row["count"] += kind in ("nodeInfo", "mapReport")
            for name, value in (("firmware", firmware), ("target", target)):
                if value and order(*time) >= row["latest"].get(name, 0):
                    row[name], row["latest"][name] = value, order(*time)
            self.hardware.settle()
        if changes:
            self.rows.add((node,), time[0], event.sequence, {
                "time_source": time[1], "changes": {"raw_value": sum(1 << CHANGES.index(name) for name in changes)}, "kind": kind,
                "long_name": known["long_name"], "short_name": known["short_name"], "hardware_model": known["hardware_model"],
                "role": known["role"], "firmware": known["firmware"], "public_key": key if len(key) == 32 else b"", "same_key_as": shared,
                "gateway": gateway})

        if len(self.known) > self.cap:
            del self.known[min(self.known, key=lambda number: (self.known[number]["introduced"], number))]

    def out(self):
        for (node,), time, sequence, row in self.rows.items():
            yield {"node": node, "time": time, "sequence": sequence, **row}

    def out_hardware(self):
        for (model, node), row in self.hardware.items():
            yield {"model": model, "node": node, **{name: value for name, value in row.items() if name != "latest"}}
