"""Events, their times and what is in them: the first sections of Sources/MeshViews/FOLD.md. Which packet an event is of: identity.py."""
import base64, datetime, json, re
import json_form
from identity import Packets
from opening import BROADCAST, NOBODY, PAYLOADS, TEXTS, WIRE_ONLY
from schema import messages
from wire import fields, repaired

OLDEST, LATEST = 1_577_836_800, 0xFFFFFFFF
DAY, AHEAD = 86_400, 300
OF_THE_LOG = ("gap", "note", "erasure", "retention")
NOTHING = messages.MeshPacket()
# What tells the time of an event of which nobody knows when it was heard.
IMPORT = "import"


def seconds(text):
    return None if text is None else int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() // 1)


def read(message, data):
    """Decoded officially, after the repair of texts that FOLD.md asks for."""
    return message.FromString(repaired(message.DESCRIPTOR, data))


def replay_id(node, time, kind):
    return ((node * 2654435761 + time) * 2654435761 + kind) & BROADCAST or 1


def state_kind(data):
    """Which state of a node this can be: a position, metrics of the device or its environment, a status."""
    if data.portnum not in (3, 36, 67):
        return None
    try:
        read(PAYLOADS[data.portnum], data.payload)
        if data.portnum != 67:
            return data.portnum
        metrics = [number for number, wire, *_ in fields(data.payload) if wire == 2 and number in (*range(2, 10), 11)]
    except Exception:
        return None
    return metrics[-1] if metrics and metrics[-1] in (2, 3) else None


def is_replayed(packet):
    """Whether this is state that a node of 2.8 replays: its id is made of the node, the time and the kind."""
    if (packet.to, packet.channel, packet.priority, packet.transport_mechanism) != (BROADCAST, 0, 10, 1):
        return False
    kind = state_kind(packet.decoded)
    return kind is not None and packet.id == replay_id(getattr(packet, "from"), packet.rx_time, kind)


def gateway_of(text):
    return int(text[1:], 16) if re.fullmatch("![0-9a-fA-F]{1,8}", text) else 0


class Event:
    def __init__(self, line):
        record = json.loads(line)
        self.sequence, self.encoding, self.source = record["sequence"], record["encoding"], record["source"]
        self.arrival, self.live = seconds(record["arrival"]), record["reception"] == "live"
        self.reception, self.clock = (self.arrival, "arrival") if self.live else (seconds(record["reception"]), "recorded")
        if not self.live and not self.is_plausible(self.reception):
            self.reception = None
        self.payload = base64.b64decode(record["payload_b64"])
        self.is_replayed = False

    def is_plausible(self, time):
        return time is not None and OLDEST <= time <= self.arrival + AHEAD

    def learn_reception(self, packet):
        """Where no time of reception is known, the receiver's clock tells it."""
        if not self.live and self.reception is None and not self.is_replayed and self.is_plausible(packet.rx_time):
            self.reception, self.clock = packet.rx_time, "receiver"

    def believes(self, stamp):
        if not stamp or stamp > max(self.reception or 0, self.arrival) + AHEAD:
            return False
        if self.is_replayed:
            return True
        if self.reception is not None:
            return self.reception - DAY <= stamp <= self.reception + AHEAD
        return stamp >= OLDEST

    def time(self, packet, fix=0, sent=0):
        """A row's time and where it is from."""
        for stamp, source in ((fix, "sender"), (sent, "sender"), (packet.rx_time, "receiver")):
            if self.believes(stamp):
                return stamp, source
        return (self.arrival, IMPORT) if self.reception is None else (self.reception, self.clock)

    def heard(self, packet):
        """What orders events, in whatever order they come; 0 where nobody knows."""
        if self.is_replayed:
            return packet.rx_time if self.believes(packet.rx_time) else 0
        return self.reception or 0


class Heard:
    """A packet as an event has it, what could be read of it, and what the event is of its packet."""

    def __init__(self, event, packet, gateway=0):
        self.event, self.packet, self.gateway = event, packet, gateway
        self.sender, self.to = getattr(packet, "from"), packet.to
        self.data = self.channel = self.wire_hash = None
        self.mark, self.is_private, self.is_sound, self.is_refused = 0, False, True, False
        self.is_first = self.is_first_readable = self.supersedes = self.is_repeat = False
        self.is_first_of_gateway, self.of = True, None

    @property
    def port(self):
        return None if self.data is None else self.data.portnum

    @property
    def at(self):
        return self.event.heard(self.packet)

    @property
    def counts(self):
        """Whether it is a hearing of its own: no repeat, and not what a node tells of its state once more."""
        return not self.is_repeat and not self.event.is_replayed

    @property
    def first_sequence(self):
        return self.of.sequence

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
    """Turns events into packets as they were heard, and remembers packets, channels of radios and announced keys."""

    def __init__(self, keys):
        self.keys, self.packets, self.radio_channels, self.announced = keys, Packets(), {}, {}

    def reception(self, event):
        """The packet that the event holds, and the radio's frame, or none; raises where the bytes are neither."""
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
        if kind == "decoded":
            local = self.radio_channels.get((event.source, packet.channel))
            if local is None and "/client " in event.source:
                local = self.radio_channels.get((event.source.rpartition("/client ")[0], packet.channel))
            heard.channel = name or local or f"index {packet.channel}"
            heard.mark = self.keys.mark(heard.channel) if name or local else 0
            heard.data = packet.decoded if packet.decoded.portnum else None
            heard.is_refused = heard.data is None
            event.is_replayed = heard.data is not None and is_replayed(packet)
        elif event.encoding == "MQTTJSON" and name:
            heard.channel, heard.mark = name, self.keys.mark(name)
        elif kind == "encrypted" and packet.encrypted:
            self.open(heard, name)
        event.learn_reception(packet)
        self.packets.place(heard)
        return heard

    def open(self, heard, name):
        opened = self.keys.open(heard.packet, name, self.announced)
        if opened is None:
            return
        heard.is_refused = opened.data is None
        heard.data, heard.channel, heard.mark = opened.data, opened.channel, opened.mark
        heard.is_private = opened.how == "private"
        heard.wire_hash = None if heard.is_private else heard.packet.channel

    def announce(self, node, key, at):
        """Of several keys the one that was heard first, of equals the first in the log."""
        at = at or LATEST
        if len(key) == 32 and node not in NOBODY and (node not in self.announced or at < self.announced[node][1]):
            self.announced[node] = key, at
