#!/usr/bin/env python3
"""Makes up the traffic of a mesh with the official package's encoder: captures for tests, in which nobody's traffic is.

usage: generate.py FORM FILE [seed=1] [packets=300] [nodes=12, at least 1] [hostile=10] [live=0] [mixed=0]
FORM is envelopes, jsonl, stream, length-prefixed, mqtt-json, or events: all of these and annotations together, with times of arrival and
reception, as `meshledger export events` writes them. `hostile` is how many of a hundred packets are damaged, forged or sent again. `live` is how
many of a hundred events arrived live. With `mixed` some of the events come twice or much later, and the second half of those that are recorded
comes before the first one. The same seed gives the same bytes. Prints the channel keys that the mesh has beside the presets, and the
private keys of its third and fourth node, as arguments of fold.py.
"""
import base64, datetime, json, pathlib, struct, sys
from made_mesh import KNOWN, KNOWN_SEALED, START, Mesh
from made_records import annotation, envelope, frame, frames_of_a_radio, json_form

ENCODINGS = {"envelopes": "ServiceEnvelope", "jsonl": "MeshPacket", "stream": "FromRadio", "length-prefixed": "ServiceEnvelope", "mqtt-json": "MQTTJSON"}



class Recorder:
    """Records of one form, in the order in which they came: (time, bytes, encoding, source)."""

    def __init__(self, mesh, form, live):
        self.mesh, self.form, self.live, self.records = mesh, form, live, []
        self.radio = mesh.nodes[0]
        if form in ("stream", "events"):
            self.add_frames()

    def add_frames(self):
        for content in frames_of_a_radio(self.mesh, self.radio):
            self.records.append((self.mesh.now, content, "FromRadio", "radio"))

    def step(self):
        random = self.mesh.random
        for reception in self.mesh.receptions():
            self.add(*reception)
            # The gateway tells it in another form as well.
            if self.form == "events" and random.random() < 0.1:
                self.add(*reception)
        if self.form in ("stream", "events") and random.random() < 0.03:
            self.add_frames()
        if self.form == "events" and random.random() < 0.04:
            self.records.append((self.mesh.now, annotation(self.mesh), "annotation", "person"))

    def add(self, at, packet, gateway, name):
        random = self.mesh.random
        form = random.choice(list(ENCODINGS)) if self.form == "events" else self.form
        if form in ("envelopes", "length-prefixed"):
            record = envelope(self.mesh, packet, gateway, name), "ServiceEnvelope", random.choice(["mqtt", "hill"])
        elif form == "jsonl":
            record = packet.SerializeToString(), "MeshPacket", "udp"
        elif form == "stream":
            record = frame(self.mesh, packet), "FromRadio", "radio"
        else:
            record = json_form(self.mesh, packet, gateway, name), "MQTTJSON", f"msh/EU/2/json/{name or 'LongFast'}/!{gateway:08x}"
        if record[0] is not None:
            self.records.append((at, *record))

    def mix(self):
        """As if recordings had been imported twice, or an old one after a newer one."""
        random, out = self.mesh.random, []
        for record in self.records:
            out.append(record)
            if random.random() < 0.08:
                out.insert(random.randrange(len(out)), random.choice(out))
        middle = random.randrange(len(out) + 1)
        self.records = out[middle:] + out[:middle]

    def lines(self):
        """As `export events` writes them; the export's own times are those of a collector that is seconds late."""
        random, arrival = self.mesh.random, START
        for sequence, (at, content, encoding, source) in enumerate(self.records, 1):
            arrival = max(arrival + 1, at + random.choice([0, 1, 5]))
            reception = time_text(at + random.choice([0, 0, 1, -3, 400_000])) if random.random() < 0.5 else None
            if random.random() * 100 < self.live or encoding == "annotation":
                reception = "live"
            yield {"sequence": sequence, "arrival": time_text(arrival), "reception": reception, "source": source, "encoding": encoding,
                   "payload_b64": base64.b64encode(content).decode()}


def time_text(seconds):
    days, rest = divmod(seconds, 86_400)
    return f"{date(days)}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}.000000Z"


def date(days):
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=days)).isoformat()


def write(recorder, form, path):
    out = bytearray()
    if form == "events":
        for line in recorder.lines():
            out += json.dumps(line, ensure_ascii=False).encode() + b"\n"
    for at, content, _, _ in recorder.records if form != "events" else []:
        text = base64.b64encode(content)
        if form == "envelopes":
            out += text + b"\n"
        elif form == "jsonl":
            recorded = {"rx_time": at} if recorder.mesh.random.random() < 0.8 else {}
            out += json.dumps({**recorded, "raw_b64": text.decode()}).encode() + b"\n"
        elif form == "stream":
            out += b"\x94\xc3" + struct.pack(">H", len(content)) + content
        elif form == "length-prefixed":
            out += struct.pack("<I", len(content)) + content
        else:
            out += content + b"\n"
    pathlib.Path(path).write_bytes(out)


STANDARD = {"seed": 1, "packets": 300, "nodes": 12, "hostile": 10, "live": 0, "mixed": 0}


def make(form, path, options):
    """Writes a capture; returns the keys of its mesh as arguments of fold.py."""
    options = {**STANDARD, **options}
    if options["nodes"] < 1:
        sys.exit(f"a mesh has at least one node, not {options['nodes']}")
    mesh = Mesh(options["seed"], options["nodes"], options["hostile"])
    recorder = Recorder(mesh, form, options["live"])
    for _ in range(options["packets"]):
        recorder.step()
    if options["mixed"]:
        recorder.mix()
    write(recorder, form, path)
    arguments = [part for name, key in KNOWN for part in ("--psk", f"{name}={base64.b64encode(key).decode()}")]
    arguments += [part for name, key in KNOWN_SEALED for part in ("--aead", f"{name}={base64.b64encode(key).decode()}")]
    for node in mesh.nodes[2:4]:
        arguments += ["--private-key", f"0x{node.number:08x}={base64.b64encode(node.private).decode()}"]
    return arguments


def main():
    form, path, *rest = sys.argv[1:]
    print("\n".join(make(form, path, {name: int(value) for name, value in (entry.split("=") for entry in rest)})))


if __name__ == "__main__":
    main()
