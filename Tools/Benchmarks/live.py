"""The figures of live sources: a broker's burst, a radio's stream, the delay until a packet can be read, the proxy, an idle process. `Tools/bench --live` runs them."""
import json, os, pathlib, re, selectors, shutil, signal, socket, statistics, struct, subprocess, sys, threading, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "proofs" / "campaign.d"))
import mqtt
from trust import Figures
from walltime import WallClock

STREAM_A_SECOND = 200_000
READABLE_MS, READABLE_RATE = 30.0, 5_000
PROXY_MS, PROXY_CLIENTS = 5.0, 20
IDLE_MB, IDLE_PERCENT = 40.0, 1.0
BURST_RATE, BURST_SECONDS = 50_000, 10
MEMORY_BACK = 1.2  # of the memory after a first, small burst
IMPORT_OF_C = 0.5
LATE_S = 120.0  # what has not come by then never does
LOOK_S = 0.2  # each look is a process: looked without a pause, it would take one of two cores from what is measured


def little(number):
    return struct.pack("<I", number)


def text_packet(number):
    data = b"\x08\x01\x12\x10" + b"number %09d" % number
    return b"\x0d\x05\0\0\x22\x15\xff\xff\xff\xff\x22" + bytes([len(data)]) + data + b"\x35" + little(number + 1)


def envelope(number):
    packet = text_packet(number)
    return b"\x0a" + bytes([len(packet)]) + packet + b"\x12\x08LongFast\x1a\x09!22000005"


def from_radio(number):
    packet = text_packet(number)
    message = b"\x12" + bytes([len(packet)]) + packet
    return b"\x94\xc3" + struct.pack(">H", len(message)) + message


def varint(number):
    found = bytearray()
    while number > 127: found.append(number & 127 | 128); number >>= 7
    return bytes(found + bytes([number]))


class Radio:
    """A radio on loopback that has one client, and answers what it asks."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port, self.client, self.is_greeted = self.server.getsockname()[1], None, threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            self.client, _ = self.server.accept()
            self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            rest = b""
            while data := self.client.recv(4096):
                rest += data
                for nonce in (69420, 69421):
                    asked = b"\x18" + varint(nonce)
                    if asked not in rest: continue
                    rest = rest.split(asked, 1)[1]
                    known = b"\x1a\x06\x08" + varint(0x22000005) if nonce == 69420 else b"\x22\x06\x08" + varint(0x22000005)
                    for message in (known, b"\x38" + varint(nonce)): self.client.sendall(b"\x94\xc3" + struct.pack(">H", len(message)) + message)
                    if nonce == 69421: self.is_greeted.set()
                if b"\x3a\x00" in rest:  # a heartbeat
                    self.client.sendall(b"\x94\xc3\x00\x04\x5a\x02\x10\x10")
                    rest = rest.replace(b"\x3a\x00", b"")

    def close(self):
        self.server.close()
        if self.client: self.client.close()


class Run:
    """`meshledger run` with some sources, in a folder of its own."""

    def __init__(self, program, folder, sources, environment={}):
        self.program, self.folder = str(program), folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "mesh.yaml").write_text("sources:\n" + sources)
        self.environment = {**os.environ, "MESHLEDGER": str(folder / "mesh.ledger"), "HOME": str(folder), **environment}
        self.errors = open(folder / "errors", "wb")
        self.process = subprocess.Popen([self.program, "run", folder / "mesh.yaml"], env=self.environment, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors)

    def command(self, *arguments):
        return subprocess.run([self.program, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout

    def statuses(self):
        said = self.command("status", "--format", "json")
        return json.loads(said) if said.startswith("[") else []

    def until(self, condition, what):
        end = time.monotonic() + LATE_S
        while time.monotonic() < end:
            if self.process.poll() is not None: break
            if condition(self.statuses()): return
            time.sleep(LOOK_S)
        raise SystemExit(f"{what} did not happen: {self.statuses()}; {(self.folder / 'errors').read_text()[-500:]}")

    def until_live(self, count):
        self.until(lambda all: sum(one["state"] == "live" for one in all) >= count, f"{count} live sources")

    def until_in_views(self):
        """All that is stored can be read; a view that it does not concern says so later."""
        end = time.monotonic() + LATE_S
        while time.monotonic() < end:
            views = json.loads(self.command("view", "--format", "json"))
            if {view["checkpoint"] for view in views if view["view"] in ("nodes", "messages", "packets")} == {self.head()}: return
            time.sleep(LOOK_S)
        raise SystemExit("the views do not catch up")

    def head(self):
        return int(re.search(r"^events,(\d+)", self.command("stats", "--format", "csv"), re.M)[1])

    def memory(self):
        """Bytes beside mapped files."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", text)[1]) * 1024

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.errors.close()


class Broker(mqtt.Mosquitto):
    def __init__(self, folder):
        self.folder = folder
        super().__init__(self)

    def environment(self):
        return dict(os.environ)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("inf")


def publish(port, first, count, rate, begin=lambda: None):
    """Publishes at quality 1, at most `rate` a second. Everything is built before it begins: real publishers are other machines."""
    publisher, turns = mqtt.Publisher(port, f"bench-{first}"), []
    for start in range(first, first + count, 5_000):
        numbers = range(start, min(start + 5_000, first + count))
        turns.append((len(numbers), b"".join(mqtt.publish("msh/EU_868/2/e/LongFast/!22000005", envelope(number), place) for place, number in enumerate(numbers, 1))))
    begin()
    began, sent = time.monotonic(), 0
    for messages, data in turns:
        publisher.connection.sendall(data)
        left = 4 * messages
        while left:  # four bytes acknowledge a message
            found = publisher.connection.recv(min(left, 1 << 16))
            if not found: raise EOFError("the broker has closed the connection")
            left -= len(found)
        sent += messages
        time.sleep(max(0.0, began + sent / rate - time.monotonic()))
    publisher.close()


def wait_for_word():
    print("ready", flush=True)
    sys.stdin.readline()


def burst(figures, program, folder, options):
    """A broker's burst."""
    if not mqtt.Mosquitto.program(): return print("MQTT burst: not measured, mosquitto is not installed")
    seconds = 1 if options.quick else BURST_SECONDS
    publishers, rate = 4, 2_000 if options.quick else BURST_RATE
    count = rate * seconds // publishers
    place = folder / "broker"
    place.mkdir(exist_ok=True)
    broker = Broker(place)
    clock = WallClock(place) if WallClock.can_be_made() else None
    run = Run(program, folder / "burst", f"  - mqtt: mqtt://127.0.0.1:{broker.port}\n    qos: 1\n    client-id: bench\n    keep-session: true\n",
              clock.environment if clock else {})
    try:
        run.until_live(1)
        publish(broker.port, 0, 1_000, 1e9)
        run.until(lambda all: all[0]["stored"] >= 1_000, "1,000 messages")
        run.until_in_views()
        time.sleep(2)
        parts = [subprocess.Popen([sys.executable, __file__, "publish", str(broker.port), str(1_000 + part * count), str(count), str(rate / publishers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for part in range(publishers)]
        for part in parts: part.stdout.readline()
        before, began, most = run.memory(), time.monotonic(), 0
        for part in parts:
            part.stdin.write("\n")
            part.stdin.flush()
        while any(part.poll() is None for part in parts):
            most = max(most, run.memory())
            time.sleep(0.05)
        sent_s = time.monotonic() - began
        wanted = 1_000 + publishers * count
        run.until(lambda all: all[0]["stored"] >= wanted, f"{wanted} messages")
        stored_s = time.monotonic() - began
        run.until_in_views()
        readable_s = time.monotonic() - began
        stored = run.head()
        time.sleep(2 if options.quick else 15)
        after = later = run.memory()
        if clock:
            # Repeats are recognised for an hour; then the packets are forgotten, as others come.
            clock.move(3_700)
            for number in range(2 if options.quick else 4):
                publish(broker.port, wanted + 10 * number, 10, 1e9)
                time.sleep(2 if options.quick else 15)
            later = run.memory()
    finally:
        run.end()
        broker.close()
    figures.say("MQTT messages lost of a burst", wanted - min(stored, wanted), 0, False,
                f"{publishers * count:,} at quality 1: published in {sent_s:.1f} s ({publishers * count / sent_s:,.0f}/s), stored in {stored_s:.1f} s, in all views in {readable_s:.1f} s, {max(0, stored - wanted)} delivered twice")
    figures.say("MQTT messages a second, in all views", publishers * count / readable_s, rate * 0.95, True, "beside the broker and its publishers on the same machine")
    figures.say("memory after the burst, of before", after / before, MEMORY_BACK, False, f"{before / 1e6:.1f} MB before, {most / 1e6:.1f} MB at most, {after / 1e6:.1f} MB after")
    if clock: figures.say("memory when an hour has passed, of before", later / before, MEMORY_BACK, False, f"{later / 1e6:.1f} MB; the program's clock is moved")


def simulated(program, folder, count):
    """The frames of a simulated mesh of 2,000 nodes: positions, telemetry, node info, routes, texts."""
    made = folder / "simulated"
    subprocess.run([program, "simulate", "--seed", "1", "--nodes", "2000", "--packets", str(count), "--as", "stream", "--to", made], check=True, capture_output=True)
    data, frames, place = made.read_bytes(), [], 0
    while place < len(data):
        end = place + 4 + int.from_bytes(data[place + 2:place + 4], "big")
        if data[place + 4] == 0x12: frames.append(data[place:end])  # a packet; the others greet a client
        place = end
    return frames


def stream(figures, program, folder, options):
    """A radio that sends as fast as it is read, for so long that the two seconds of quiet before the last positions are committed count little."""
    count = 20_000 if options.quick else 3_000_000
    flow(figures, "of a mesh's mixed traffic", simulated(program, folder, count), program, folder)
    flow(figures, "of texts of one channel only", [from_radio(number) for number in range(count)], program, folder)


def flow(figures, what, frames, program, folder):
    radio, data, count = Radio(), b"".join(frames), len(frames)
    run = Run(program, folder / "stream", f"  - tcp: 127.0.0.1:{radio.port}\n")
    try:
        run.until_live(1)
        first, began = run.head(), time.monotonic()
        radio.client.sendall(data)
        sent_s = time.monotonic() - began
        run.until(lambda all: all[0]["stored"] >= count, f"{count} frames")
        stored_s = time.monotonic() - began
        run.until_in_views()
        all_s = time.monotonic() - began
        lost = count - (run.head() - first)
    finally:
        run.end()
        radio.close()
    figures.say(f"TCP frames a second, {what}, in all views", count / all_s, STREAM_A_SECOND, True,
                f"{count:,} frames: sent in {sent_s:.1f} s, durable in {stored_s:.1f} s, in all views in {all_s:.1f} s; {lost} lost")
    if lost: figures.missed.append(f"{lost} frames are lost")


def steadily(send, count, rate):
    """Sends numbered packets at an even rate; returns when each was sent."""
    times, began = [0.0] * count, time.monotonic()
    for number in range(count):
        due = began + number / rate
        if due > time.monotonic(): time.sleep(max(0.0, due - time.monotonic()))
        times[number] = time.monotonic()
        send(number)
    return times


def readable(figures, program, folder, options):
    """From a packet's arrival until another process has read its row."""
    rate, count = (500, 1_000) if options.quick else (READABLE_RATE, READABLE_RATE * 20)
    radio = Radio()
    run = Run(program, folder / "readable", f"  - tcp: 127.0.0.1:{radio.port}\n")
    try:
        run.until_live(1)
        reader = subprocess.Popen([run.program, "follow", "--consumer", "bench", "--view", "messages"], env=run.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        seen, is_ready = {}, threading.Event()

        def read():
            for line in reader.stdout:
                now = time.monotonic()
                for number in re.findall(rb"number (\d{9})", line): seen.setdefault(int(number), now)
                is_ready.set()

        threading.Thread(target=read, daemon=True).start()
        radio.client.sendall(from_radio(99_999_999))
        if not is_ready.wait(LATE_S): raise SystemExit("the reader sees no message")
        times = steadily(lambda number: radio.client.sendall(from_radio(number)), count, rate)
        end = time.monotonic() + 30
        while time.monotonic() < end and len(seen) < count + 1: time.sleep(0.05)
        reader.send_signal(signal.SIGTERM)
        reader.wait(30)
    finally:
        run.end()
        radio.close()
    delays = [(seen[number] - sent) * 1e3 for number, sent in enumerate(times) if number in seen]
    figures.say("ms from arrival to readable, p99", percentile(delays, 0.99), READABLE_MS, False,
                f"{len(delays):,} of {count:,} messages at {rate:,}/s, read by another process: median {percentile(delays, 0.5):.1f}, the slowest {max(delays, default=0):.1f}")
    if len(delays) < count: figures.missed.append(f"{count - len(delays)} messages were not seen")


def durable_ms(folder):
    """What the disk takes for a small durable write, p99."""
    with open(folder / "disk", "wb") as file:
        found = []
        for _ in range(300):
            began = time.monotonic()
            file.write(bytes(4096))
            file.flush()
            os.fdatasync(file.fileno())
            found.append((time.monotonic() - began) * 1e3)
    return percentile(found, 0.5), percentile(found, 0.99)


def proxy(figures, program, folder, options):
    """What a packet takes from the radio to each of many clients."""
    clients, rate, count = (4, 50, 100) if options.quick else (PROXY_CLIENTS, 200, 4_000)
    median_disk, slow_disk = durable_ms(folder)
    radio, port = Radio(), mqtt.free_port()
    run = Run(program, folder / "proxy", f"  - tcp: 127.0.0.1:{radio.port}\n    share: {port}\n")
    try:
        run.until_live(1)
        connections, selector, found = [], selectors.DefaultSelector(), []
        for _ in range(clients):
            end = time.monotonic() + 30
            while True:
                try:
                    connection = socket.create_connection(("127.0.0.1", port))
                    break
                except OSError:
                    if time.monotonic() > end: raise
                    time.sleep(0.1)
            asked = b"\x18" + varint(7)
            connection.sendall(b"\x94\xc3" + struct.pack(">H", len(asked)) + asked)
            rest = b""
            while b"\x38\x07" not in rest: rest += connection.recv(4096)
            selector.register(connection, selectors.EVENT_READ, bytearray())
            connections.append(connection)
        got = [dict() for _ in connections]

        def read():
            while True:
                for key, _ in selector.select(1):
                    now, number = time.monotonic(), connections.index(key.fileobj)
                    data = key.fileobj.recv(1 << 16)
                    if not data: return
                    key.data.extend(data)
                    for match in re.finditer(rb"number (\d{9})", key.data): got[number].setdefault(int(match[1]), now)
                    del key.data[:-16]

        threading.Thread(target=read, daemon=True).start()
        times = steadily(lambda number: radio.client.sendall(from_radio(number)), count, rate)
        end = time.monotonic() + 30
        while time.monotonic() < end and any(len(one) < count for one in got): time.sleep(0.05)
    finally:
        run.end()
        radio.close()
    delays = [(one[number] - sent) * 1e3 for one in got for number, sent in enumerate(times) if number in one]
    added = percentile(delays, 0.99) - slow_disk
    figures.say("ms that the proxy adds, p99", max(0.0, added), PROXY_MS, False,
                f"{clients} clients, {rate} packets/s: median {percentile(delays, 0.5):.2f}, p99 {percentile(delays, 0.99):.2f}; of it a durable write of 4 KiB median {median_disk:.2f}, p99 {slow_disk:.2f}")
    if len(delays) < clients * count: figures.missed.append(f"{clients * count - len(delays)} packets did not reach a client")


def idle(figures, program, folder, options):
    """A process whose four sources have nothing to say."""
    seconds = 5 if options.quick else 120
    radio = Radio()
    place = folder / "broker-idle"
    place.mkdir(exist_ok=True)
    broker = Broker(place) if mqtt.Mosquitto.program() else None
    (folder / "growing.jsonl").write_text("")
    sources = f"  - tcp: 127.0.0.1:{radio.port}\n  - udp: all\n    port: {mqtt.free_port()}\n  - file: {folder}/growing.jsonl\n    format: jsonl\n"
    if broker: sources += f"  - mqtt: mqtt://127.0.0.1:{broker.port}\n"
    run = Run(program, folder / "idle", sources)
    try:
        run.until_live(3)
        time.sleep(5)
        before = run.cpu()
        time.sleep(seconds)
        used, memory = run.cpu() - before, run.memory()
    finally:
        run.end()
        radio.close()
        if broker: broker.close()
    figures.say("MB of an idle run beside mapped files", memory / 1e6, IDLE_MB, False, f"{4 if broker else 3} sources")
    figures.say("percent of a core of an idle run", used / seconds * 100, IDLE_PERCENT, False, f"{used:.2f} s in {seconds} s")


def file_import(figures, run, c, program, folder, options):
    """The import of a file, beside C's append and replay of the same records."""
    records = 10_000 if options.quick else 1_000_000
    packets, framed, ratios, shown = folder / "packets", folder / "packets.lp", [], []
    run(c, "generate", packets, records, 2000, 1)
    for turn in range(1 if options.quick else 3):
        for path in (folder / "a.log", folder / "a.rows"):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        began = time.monotonic()
        run(c, "append", packets, folder / "a.log", 10_000)
        run(c, "replay", folder / "a.log", folder / "a.rows", 2)
        theirs = time.monotonic() - began
        ledger = folder / "imported"
        shutil.rmtree(ledger, ignore_errors=True)
        environment = {**os.environ, "MESHLEDGER": str(ledger)}
        subprocess.run([program, "init"], env=environment, check=True, capture_output=True)
        began = time.monotonic()
        subprocess.run([program, "import", "--format", "length-prefixed", packets], env=environment, check=True, capture_output=True)
        ours = time.monotonic() - began
        ratios.append(theirs / ours)
        shown.append(f"{ours:.1f} s to C's {theirs:.1f}")
    figures.say("file import, of C's append and replay", statistics.median(ratios), IMPORT_OF_C, True, f"{records:,} envelopes: " + ", ".join(shown))


def measure(run, c, program, folder, options):
    """Returns what was missed."""
    figures = Figures(judged=not options.quick)
    for work in (burst, stream, readable, proxy, idle): work(figures, program, folder, options)
    file_import(figures, run, c, program, folder, options)
    print("not measured: what malla stores on the same disk")
    return figures.missed


if __name__ == "__main__" and sys.argv[1:2] == ["publish"]:
    publish(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), wait_for_word)
