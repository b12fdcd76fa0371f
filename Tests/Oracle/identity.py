"""Which events are of one packet, and what each is of it: the first reception, the first readable one, one that supersedes, a repeat."""
import struct
from wire import LENGTH, fields

WINDOW = 3600
LOOKED_AT, COMPARED_PACKETS, COMPARED_RECEPTIONS, UNREAD_RECEPTIONS = 32, 8, 256, 128
GROWING = 70
# Where a packet is in the messages that hold one.
PACKETS = {"ServiceEnvelope": 1, "FromRadio": 2}


class Packet:
    """What is known of a packet: its time, its content, its ciphertext, its receptions, and the row that is made of it."""

    def __init__(self, heard):
        data, packet = heard.data, heard.packet
        self.known_by = packet.id or written(heard)
        self.sequence, self.at, self.is_replayed, self.is_json = heard.event.sequence, heard.at, heard.event.is_replayed, heard.event.encoding == "MQTTJSON"
        self.content = None if data is None else (
            data.portnum, b"" if data.portnum == GROWING else data.payload, data.request_id, data.reply_id, data.emoji)
        is_sealed = heard.channel is None and packet.WhichOneof("payload_variant") == "encrypted"
        self.sealed = (packet.encrypted, packet.channel) if is_sealed else None
        # Of the reception of which there is a row: its time, and whether it came in the JSON form.
        self.row_of = None if data is None else (self.at, self.is_json)
        self.receptions, self.gateways, self.has_conflict, self.row = [], {heard.gateway}, False, None
        # Who heard it, and when, as far as it counts for a message: (gateway, time).
        self.hearings, self.is_read = [], data is not None

    def contradicts(self, new):
        if self.content is not None and new.content is not None:
            return self.content != new.content if self.is_json == new.is_json else self.content[0] != new.content[0]
        if self.sealed is None or new.sealed is None:
            return False
        mine, other = self.sealed[0], new.sealed[0]
        is_grown = (mine + b"\0\0")[:2] == (other + b"\0\0")[:2] and min(len(mine), 254) // 2 != min(len(other), 254) // 2
        return self.sealed != new.sealed and not is_grown

    def is_in_window(self, new):
        return self.is_replayed or not self.at or not new.at or abs(self.at - new.at) <= WINDOW

    def is_superseded(self, new):
        at, is_json = self.row_of
        return (is_json and not new.is_json) or (is_json == new.is_json and 0 < new.at < (at or new.at + 1))

    def learn(self, new):
        """What the first reception that has it tells; returns whether this is anything, so that the packet is remembered once more."""
        before = self.at, self.content, self.is_json, self.sealed, self.row_of
        self.at = self.at or new.at
        if new.content is not None and (self.row_of is None or self.is_superseded(new)):
            self.row_of = new.row_of
        if new.content is not None and (self.content is None or self.is_json and not new.is_json):
            self.content, self.is_json = new.content, new.is_json
        self.sealed = self.sealed or new.sealed
        return before != (self.at, self.content, self.is_json, self.sealed, self.row_of)

    def hear(self, heard):
        """Counts a reception for the message that the packet is or may turn out to be."""
        if heard.data is not None and heard.port not in (1, 11):
            return
        if not heard.is_repeat:
            time, clock = heard.time()
            # Where nobody knows when it was: after all others.
            self.hearings.append((heard.gateway, 1 << 32 if clock == "import" else time))
        self.is_read |= heard.data is not None
        if not self.is_read or heard.is_first_readable:
            self.hearings = self.hearings[-UNREAD_RECEPTIONS:]


def sign(heard):
    """What two events of one reception have in common."""
    packet = heard.packet
    common = heard.gateway, packet.rx_time, struct.pack("<f", packet.rx_snr), packet.rx_rssi
    if heard.gateway:
        return common
    return common + (packet.hop_limit, packet.hop_start, packet.relay_node, packet.next_hop, packet.transport_mechanism, packet.priority, packet.via_mqtt)


def written(heard):
    """What a packet without an id is known by: its form and content as its sender has written them."""
    event, whose = heard.event, (heard.sender, heard.to)
    if event.encoding == "MQTTJSON":
        return *whose, "json", *((0, b"") if heard.data is None else (heard.data.portnum, heard.data.payload))
    parts = [value for number, kind, value, *_ in fields(event.payload) if (number, kind) == (PACKETS.get(event.encoding), LENGTH)]
    parts = {"MeshPacket": [event.payload], "FromRadio": parts[-1:]}.get(event.encoding, parts)
    content = [(number, value) for part in parts for number, kind, value, *_ in fields(part) if number in (4, 5) and kind == LENGTH]
    form, value = content[-1] if content else (0, b"")
    return *whose, form, value, heard.packet.channel if form == 5 else 0


def mark(number):
    """The part of an id that the index of packets keeps."""
    return number * 2654435761 % 2**32 // 256


class Packets:
    """The packets that are remembered. They are as many as a test has: what more than 16,384 packets do is not written here,
    nor whose marks a packet without an id has by chance."""

    def __init__(self):
        self.known = {}

    def place(self, heard):
        new, number = Packet(heard), heard.packet.id
        remembered = self.known.setdefault((heard.sender, mark(number)) if number else new.known_by, [])
        alike = [known for known in remembered[:LOOKED_AT] if known.known_by == new.known_by]
        near = [known for known in alike[:COMPARED_PACKETS] if known.is_replayed == new.is_replayed and known.is_in_window(new)]
        fitting = [known for known in near if not known.contradicts(new)]
        if fitting:
            same = [known for known in fitting if not new.is_replayed and sign(heard) in known.receptions]
            self.again(heard, (same + fitting)[0], new, remembered)
            return
        conflict = next((known for known in near if known.at), None)
        heard.of, heard.is_first, heard.is_first_readable = new, True, heard.data is not None
        new.receptions.append(sign(heard))
        remembered.insert(0, new)
        if conflict and new.at and conflict.at:
            new.has_conflict = conflict.has_conflict = True

    @staticmethod
    def again(heard, known, new, remembered):
        heard.of, mark = known, sign(heard)
        heard.is_first_readable = new.content is not None and known.row_of is None
        heard.supersedes = new.content is not None and known.row_of is not None and known.is_superseded(new)
        heard.is_repeat = not new.is_replayed and mark in known.receptions
        heard.is_first_of_gateway = heard.gateway not in known.gateways
        known.gateways.add(heard.gateway)
        if not heard.is_repeat:
            known.receptions = (known.receptions + [mark])[-COMPARED_RECEPTIONS:]
        if known.learn(new):
            remembered.remove(known)
            remembered.insert(0, known)
