"""Brokers that speak garbage, half packets, impossible lengths, endless CONNACKs and floods; what `ingest` acknowledges is stored nevertheless."""
import pathlib, signal, socket, struct, threading, time

SHARE = 2
MOST_MEMORY = 700_000_000  # bytes: bounded, however much a broker sends


def hello(server):
    """Accepts the client as a proper broker does."""
    import mqtt
    server.reader.next()
    server.send(mqtt.packet(mqtt.CONNACK, 0, b"\0\0"))
    while True:
        kind, _, body = server.reader.next()
        if kind == mqtt.SUBSCRIBE: break
    server.send(mqtt.packet(mqtt.SUBACK, 0, body[:2] + b"\1"))


def silence(server): server.wait()
def hang_up(server): pass
def reset(server): server.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
def garbage(server): server.forever(lambda random: random.randbytes(random.randint(1, 4096)))
def half_connack(server): server.send(b"\x20\x02\0"), server.wait()
def endless_connack(server): server.forever(lambda random: b"\x20\x02\0\0" * 500)
def long_connack(server): server.send(b"\x20\xff\xff\xff\x7f"), server.forever(lambda random: bytes(65536))
def refused(server): server.send(bytes([0x20, 2, 0, server.random.choice((1, 2, 3, 4, 5, 6, 127, 255))])), server.wait()
def length_of_five_bytes(server): hello(server), server.send(b"\x30" + b"\xff" * 8), server.wait()
def giant_length(server): hello(server), server.send(b"\x30\xff\xff\xff\x7f\0\4msh/"), server.forever(lambda random: bytes(1 << 20))
def half_packet(server): hello(server), server.send(b"\x30\x40\0\5msh/a{"), server.wait()
def topic_beyond_packet(server): hello(server), server.send(b"\x30\4\xff\xffab"), server.forever(lambda random: b"\x30\4\xff\xffab")
def bytes_one_by_one(server): hello(server), server.drip()
def garbage_later(server): hello(server), server.forever(lambda random: random.randbytes(random.randint(1, 512)))


def subscription_refused(server):
    import mqtt
    server.reader.next()
    server.send(mqtt.packet(mqtt.CONNACK, 0, b"\0\0"))
    _, _, body = server.reader.next()
    server.send(mqtt.packet(mqtt.SUBACK, 0, body[:2] + b"\x80"))
    server.wait()


def answers_nobody_asked_for(server):
    hello(server)
    answers = (
        b"\x40\2\0\7", b"\xd0\0", b"\x90\3\0\1\x80", b"\xb0\2\0\1", b"\x50\2\0\1", b"\x20\2\0\0", b"\x62\2\0\1", b"\xe0\0", b"\xf0\0", b"\0\0")
    server.forever(lambda random: random.choice(answers))


def odd_topics(server):
    import mqtt
    hello(server)
    topics = (b"", b"\0", b"msh/\xff\xfe", b"msh/#", b"msh/+", b"/" * 65535, "msh/\u202e\u0301".encode(), b"msh/" + b"a" * 60000, b"$SYS/x")
    server.forever(lambda random: mqtt.publish(random.choice(topics), random.randbytes(random.choice((0, 1, 50)))))


def impossible_flags(server):
    import mqtt
    hello(server)
    server.forever(lambda random: mqtt.packet(3, random.choice((6, 7, 14, 15, 2, 10)), mqtt.text("msh/a") + b"\0\0" + b"{}"))


def flood_of_megabytes(server):
    import mqtt
    hello(server)
    server.forever(lambda random: mqtt.publish("msh/big", random.randbytes(1 << 20)))


def flood_of_topics(server):
    import mqtt
    hello(server)
    server.forever(lambda random: b"".join(mqtt.publish(f"msh/t{random.getrandbits(40):x}", b"x") for _ in range(100)))


def one_number_for_all(server):
    import mqtt
    hello(server)
    server.forever(lambda random: mqtt.publish("msh/same", random.randbytes(20), 1) * 50)


def honest(server):
    """Messages at QoS 1, and occasionally something that ends the connection. What the client acknowledges must be stored."""
    import mqtt
    hello(server)
    messages = [server.ledger.message() for _ in range(server.random.choice((5, 50, 500)))]
    server.send(b"".join(mqtt.publish("msh/h/2/json/c/!5a000001", line.encode(), place) for place, (_, _, line) in enumerate(messages, 1)))
    left = set(range(1, len(messages) + 1))
    while left and not server.is_over():
        kind, _, body = server.reader.next()
        place = int.from_bytes(body[:2], "big")
        if kind == mqtt.PUBACK and place in left:
            left.discard(place)
            server.ledger.acknowledge([messages[place - 1][0]])
            if server.random.random() < 0.002: return server.send(server.random.randbytes(100))
    server.wait()


MANNERS = [
    silence, hang_up, reset, garbage, half_connack, endless_connack, long_connack, refused, length_of_five_bytes, giant_length, half_packet,
    topic_beyond_packet, bytes_one_by_one, garbage_later, subscription_refused, answers_nobody_asked_for, odd_topics, impossible_flags,
    flood_of_megabytes, flood_of_topics, one_number_for_all]


class Server:
    """One connection, treated in one way until the client disconnects or the time is over."""

    def __init__(self, connection, random, ledger, is_over):
        import mqtt
        self.connection, self.random, self.ledger, self.is_over = connection, random, ledger, is_over
        connection.settimeout(0.5)
        self.reader = mqtt.Reader(connection)

    def send(self, data):
        while data and not self.is_over():
            try:
                data = data[self.connection.send(data):]
            except TimeoutError:
                continue

    def forever(self, make):
        while not self.is_over(): self.send(make(self.random))

    def drip(self):
        import mqtt
        for byte in mqtt.publish("msh/slow", b'{"slow": true}', 1) * 1000:
            if self.is_over(): return
            self.send(bytes([byte]))
            time.sleep(0.02)

    def wait(self):
        while not self.is_over(): time.sleep(0.1)


def visit(part, ledger, manner, seconds, number):
    """Runs `ingest` against a broker that behaves in this way, then stops it: it must end, whatever it is doing."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.2)
    over = threading.Event()

    def serve():
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with connection:
                try:
                    manner(Server(connection, part.random, ledger, over.is_set))
                except (OSError, EOFError, IndexError):
                    pass  # the client has hung up

    thread = threading.Thread(target=serve)
    thread.start()
    log = part.folder / f"{manner.__name__}.log"
    with open(log, "wb") as file:
        port = listener.getsockname()[1]
        client = part.start(
            ["ingest", "mqtt", f"mqtt://127.0.0.1:{port}/msh/#", "--qos", 1, "--client-id", "campaign", "--keep-session", "--ledger", ledger.path],
            stdout=file, stderr=file)
    deadline, most = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and client.poll() is None:
        most = max(most, memory(client.pid))
        time.sleep(0.05)
    if most > MOST_MEMORY: part.finding(f"{manner.__name__}: ingest takes {most >> 20} MB in {seconds:.0f} s", client.line)
    if client.poll() is None: part.signal(client, number)
    ended = part.finish(client, was_signalled=True)
    over.set()
    thread.join()
    listener.close()
    errors = log.read_text(errors="replace")
    if "Fatal error" in errors: part.finding(f"{manner.__name__}: a trap: {errors[-200:]}", client.line)
    if number != signal.SIGKILL and ended.status < 0: part.finding(f"{manner.__name__}: ended by signal {-ended.status}, not by itself", client.line)


def memory(pid):
    """The anonymous memory in bytes; 0 once it has ended."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"): return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def run(part):
    from ledgers import Ledger
    ledger = Ledger(part)
    manners = MANNERS[:]
    part.random.shuffle(manners)
    seconds = min(max(part.seconds / (len(manners) * 1.6), 0.7), 20)
    while part.goes_on():
        for manner in manners:
            if not part.goes_on(): break
            visit(part, ledger, honest, seconds / 2, signal.SIGKILL if part.random.random() < 0.5 else signal.SIGTERM)
            visit(part, ledger, manner, seconds, part.random.choice((signal.SIGTERM, signal.SIGINT)))
    ledger.check(may_be_twice=True)
