"""Events, their times, and which packet each of them is a reception of: the first sections of Sources/MeshViews/FOLD.md."""
import base64, datetime, json, re
import json_form
from opening import BROADCAST, NOBODY, PAYLOADS, TEXTS, WIRE_ONLY
from schema import messages
from wire import Broken, fields, repaired

WINDOW = 3600
OF_THE_LOG = ("gap", "note", "erasure", "retention")
NOTHING = messages.MeshPacket()


def seconds(text):
    return None if text is None else int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() // 1)


def read(message, data):
    """Decoded officially, after the repair of texts that FOLD.md asks for."""
    return message.FromString(repaired(message.DESCRIPTOR, data))


def replay_id(node, time, kind):
    return ((node * 2654435761 + time) * 2654435761 + kind) & BROADCAST or 1


def state_kind(data):
    """Which state of a node this can be: a position, metrics of the device or its environment, a status."""
    if data.portnum != 67:
        return {3: 3, 36: 36}.get(data.portnum)
    try:
        metrics = [number for number, wire, *_ in fields(data.payload) if wire == 2 and number in (2, 3)]
    except Broken:
        return None
    return metrics[-1] if metrics else None


def gateway_of(text):
    return int(text[1:], 16) if re.fullmatch("![0-9a-fA-F]{1,8}", text) else 0


class Event:
    def __init__(self, line):
        record = json.loads(line)
        self.sequence, self.encoding, self.source = record["sequence"], record["encoding"], record["source"]
        self.arrival, self.live = seconds(record["arrival"]), record["reception"] == "live"
        self.reception = self.arrival if self.live else seconds(record["reception"])
        self.payload = base64.b64decode(record["payload_b64"])
        self.is_replayed = False

    def believes(self, stamp):
        if not stamp:
            return False
        if self.is_replayed:
            return True
        if self.reception is not None:
            return self.reception - 86400 <= stamp <= self.reception + 300
        return 1577836800 <= stamp <= self.arrival + 300

    def time(self, packet, fix=0, sent=0):
        """A row's time and where it is from."""
        for stamp, source in ((fix, "sender"), (sent, "sender"), (packet.rx_time, "receiver")):
            if self.believes(stamp):
                return stamp, source
        if self.reception is not None:
            return self.reception, "arrival" if self.live else "recorded"
        return self.arrival, "arrival"


class Heard:
    """One reception: the packet, what could be read of it, and what it is of its packet."""

    def __init__(self, event, packet, gateway=0):
        self.event, self.packet, self.gateway = event, packet, gateway
        self.sender, self.to = getattr(packet, "from"), packet.to
        self.data = self.channel = self.wire_hash = None
        self.mark, self.is_private, self.is_sound = 0, False, True
        self.is_first = self.is_first_readable = False
        self.first_sequence = event.sequence

    @property
    def port(self):
        return None if self.data is None else self.data.portnum

    def time(self, **stamps):
        return self.event.time(self.packet, **stamps)

    @property
    def hops(self):
        packet = self.packet
        known = packet.hop_start > 0 or (self.data is not None and self.data.HasField("bitfield"))
        return packet.hop_start - packet.hop_limit if 7 >= packet.hop_start >= packet.hop_limit and known else None

    @property
    def snr(self):
        return self.packet.rx_snr

    @property
    def rssi(self):
        return self.packet.rx_rssi if self.packet.HasField("rx_rssi") else None

    def payload(self):
        """The payload as its message or bytes; raises where it is not sound."""
        if not self.is_sound:
            raise ValueError("a payload without what its type needs")
        if self.port in TEXTS:
            self.data.payload.decode("utf-8")
        if self.port in WIRE_ONLY:
            list(fields(self.data.payload))
        return read(PAYLOADS[self.port], self.data.payload) if self.port in PAYLOADS else None


class Reader:
    """Turns events into receptions, and remembers packets, channels of radios and announced keys."""

    def __init__(self, keys):
        self.keys, self.seen, self.radio_channels, self.announced = keys, {}, {}, {}

    def reception(self, event):
        """The reception that the event is, or the radio's frame, or none; raises where the bytes are neither."""
        if event.encoding in OF_THE_LOG:
            return None, None
        if event.encoding == "ServiceEnvelope":
            envelope = read(messages.ServiceEnvelope, event.payload)
            if not envelope.HasField("packet"):
                raise ValueError("no packet")
            return self.packet(event, envelope.packet, envelope.channel_id, gateway_of(envelope.gateway_id)), None
        if event.encoding == "MeshPacket":
            return self.packet(event, read(messages.MeshPacket, event.payload)), None
        if event.encoding == "FromRadio":
            frame = read(messages.FromRadio, event.payload)
            if frame.WhichOneof("payload_variant") == "channel" and frame.channel.settings.name:
                self.radio_channels[event.source, frame.channel.index] = frame.channel.settings.name
            return (self.packet(event, frame.packet) if frame.HasField("packet") else None), frame
        if event.encoding == "MQTTJSON":
            packet, channel, gateway, is_sound = json_form.packet(event.payload, event.source)
            heard = self.packet(event, packet, channel, gateway)
            heard.is_sound = is_sound
            return heard, None
        raise ValueError("no packet in it")

    def packet(self, event, packet, name="", gateway=0):
        heard, kind = Heard(event, packet, gateway), packet.WhichOneof("payload_variant")
        if kind == "decoded" or event.encoding == "MQTTJSON":
            local = self.radio_channels.get((event.source, packet.channel))
            heard.channel = name or local or f"index {packet.channel}"
            heard.mark = self.keys.mark(heard.channel) if name or local else 0
            heard.data = packet.decoded if packet.decoded.portnum else None
            told = event.encoding == "FromRadio" and packet.to == BROADCAST and packet.channel == 0
            kind = state_kind(packet.decoded) if told else None
            event.is_replayed = kind is not None and packet.id == replay_id(heard.sender, packet.rx_time, kind)
        elif kind == "encrypted" and packet.encrypted:
            opened = self.keys.open(packet, name, self.announced)
            if opened:
                heard.data, heard.channel, heard.mark = opened.data, opened.channel, opened.mark
                heard.is_private = opened.how == "private"
                heard.wire_hash = None if heard.is_private else packet.channel
        self.place(heard)
        return heard

    def place(self, heard):
        """Which packet it is a reception of."""
        event, packet, readable = heard.event, heard.packet, heard.data is not None
        heard.is_first, heard.is_first_readable = True, readable
        if packet.id == 0:
            return
        key, time = (heard.sender, packet.id), self.heard_at(event, packet)
        known = self.seen.get(key)
        if known and (event.is_replayed or time is None or known[0] is None or abs(time - known[0]) <= WINDOW):
            heard.is_first, heard.is_first_readable, heard.first_sequence = False, readable and not known[2], known[1]
            known[0], known[2] = time if known[0] is None else known[0], known[2] or readable
            return
        self.seen[key] = [time, event.sequence, readable]

    @staticmethod
    def heard_at(event, packet):
        if event.is_replayed:
            return packet.rx_time
        if event.reception is not None:
            return event.reception or None
        return packet.rx_time if event.believes(packet.rx_time) else None

    def announce(self, node, key):
        if len(key) == 32 and node not in NOBODY:
            self.announced.setdefault(node, key)
