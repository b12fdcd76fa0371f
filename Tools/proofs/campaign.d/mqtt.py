"""The part of MQTT 3.1.1 that a campaign needs: packets, a publisher that knows what was acknowledged, and a separate mosquitto."""
import os, pathlib, shutil, signal, socket, subprocess, time

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP = 1, 2, 3, 4, 8, 9, 12, 13


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return len(data).to_bytes(2, "big") + data


def length(count):
    found = bytearray()
    while True:
        count, digit = divmod(count, 128)
        found.append(digit | (0x80 if count else 0))
        if not count: return bytes(found)


def packet(kind, flags, body):
    return bytes([kind << 4 | flags]) + length(len(body)) + body


def publish(topic, payload, number=None):
    """At QoS 1 if it has a number, else at QoS 0."""
    return packet(PUBLISH, 2 if number else 0, text(topic) + (number.to_bytes(2, "big") if number else b"") + payload)


class Reader:
    """Packets of a socket, one after the other."""

    def __init__(self, connection):
        self.connection, self.rest = connection, b""

    def take(self, count):
        while len(self.rest) < count:
            more = self.connection.recv(1 << 16)
            if not more: raise EOFError
            self.rest += more
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def next(self):
        first, size, shift = self.take(1)[0], 0, 0
        while True:
            digit = self.take(1)[0]
            size |= (digit & 127) << shift
            shift += 7
            if digit < 128: return first >> 4, first & 15, self.take(size)


class Publisher:
    """Publishes at QoS 1 and knows what the broker has acknowledged."""

    def __init__(self, port, name):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.connection.sendall(packet(CONNECT, 0, text("MQTT") + bytes([4, 2, 0, 0]) + text(name)))
        self.reader = Reader(self.connection)
        kind, _, body = self.reader.next()
        if kind != CONNACK or body[1]: raise OSError(f"the broker refused: {body!r}")

    def publish(self, messages):
        """At most 60,000 (topic, payload); returns when each is acknowledged."""
        left = set(range(1, len(messages) + 1))
        self.connection.sendall(b"".join(publish(topic, payload, number) for number, (topic, payload) in enumerate(messages, 1)))
        while left:
            kind, _, body = self.reader.next()
            if kind == PUBACK: left.discard(int.from_bytes(body, "big"))

    def close(self):
        self.connection.close()


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Mosquitto:
    """A broker on loopback that queues without limit for sessions that are away."""

    @staticmethod
    def program():
        return shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")

    def __init__(self, part):
        self.port = free_port()
        settings = part.folder / "mosquitto.conf"
        settings.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nlog_type none\npersistence false\nmax_queued_messages 0\n"
            "max_inflight_messages 200\nmax_queued_bytes 0\n")
        self.process = subprocess.Popen([self.program(), "-c", settings], env=part.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise OSError("mosquitto does not answer")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
