"""The view of messages: threads, receptions, acknowledgements, signatures."""
import struct
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from caps import Series, age, vacated
from opening import BROADCAST, signing_key

SENT, FAILED, IMPLICIT, DELIVERED = 1, 2, 3, 4
STATES = {SENT: "sent", FAILED: "failed", IMPLICIT: "implicitlyAcknowledged", DELIVERED: "delivered"}
WAITING_PACKETS, WAITING_RECEIPTS, WAITING_SECONDS, GATEWAYS = 4096, 4, 3600, 32
REACH_SECONDS = 3600  # of a decision about a message
CHANNELS, OTHERS = 4096, ("(others)", 0)


def signature(heard, announced):
    data, packet = heard.data, heard.packet
    if len(data.xeddsa_signature) != 64:
        return "none"
    if announced is None:
        return "unchecked"
    flags = data.want_response | data.HasField("bitfield") << 1
    whole = struct.pack("<BIIIIIIIIB", 1, heard.sender, packet.id, heard.to, data.portnum, data.request_id, data.reply_id, data.emoji, data.bitfield, flags)
    for name, head in (("valid", whole), ("valid280", struct.pack("<III", heard.sender, packet.id, data.portnum))):
        try:
            Ed25519PublicKey.from_public_bytes(signing_key(announced[0])).verify(data.xeddsa_signature, head + data.payload)
            return name
        except Exception:
            continue
    return "invalid"


class Messages:
    def __init__(self, caps):
        self.rows, self.channels, self.waiting, self.by_packet = Series(lambda _: caps["messages"]), {}, {}, {}

    def thread(self, heard):
        if heard.to != BROADCAST:
            return "direct", min(heard.sender, heard.to), max(heard.sender, heard.to)
        channel = heard.channel, heard.mark
        if channel not in self.channels and len(self.channels) >= CHANNELS:
            channel = OTHERS
        return "channel", self.channels.setdefault(channel, len(self.channels))

    def take(self, heard, announced):
        before, thread = vacated(heard), self.thread(heard)
        if heard.supersedes and before is None:
            return
        packet, data, (time, source), key = heard.packet, heard.data, heard.time(), (heard.sender, heard.packet.id)
        row = {"time_source": source, "first_sequence": heard.first_sequence, "from": heard.sender, "to": heard.to, "id": packet.id,
               "port": data.portnum, "text": data.payload.decode("utf-8", "replace"), "reply_id": data.reply_id,
               "is_reaction": bool(data.emoji and data.reply_id), "state": SENT, "failure_reason": 0, "channel": heard.channel,
               "is_via_mqtt": packet.via_mqtt, "is_privately_encrypted": heard.is_private or packet.pki_encrypted,
               "signature": signature(heard, announced.get(heard.sender)), "is_read": False, "archived_at": 0, "time": time, "of": heard.of}
        if heard.supersedes:
            row.update({name: before[name] for name in ("state", "failure_reason", "is_read", "archived_at")})
        self.rows.take(heard, thread, time, row)
        if heard.supersedes or not packet.id or row_of(heard.of) is None:
            return
        self.by_packet.setdefault(key, []).append(heard.of)
        for at, sender, reason in self.waiting.pop(key, []):
            if abs(at - time) <= WAITING_SECONDS:
                self.raise_state(row, sender, reason)

    def known(self, sender, number):
        """The rows of a packet that are still there."""
        return [row for packet in self.by_packet.get((sender, number), []) if (row := row_of(packet)) is not None]

    def receipt(self, heard, routing):
        key = heard.to, heard.data.request_id
        rows = self.known(*key)
        if rows:
            newest = max(rows, key=lambda row: (age(row), row["first_sequence"]))
            self.raise_state(newest, heard.sender, routing.error_reason)
            return
        waiting = self.waiting.setdefault(key, [])
        if len(waiting) < WAITING_RECEIPTS:
            waiting.append((heard.time()[0], heard.sender, routing.error_reason))
        while len(self.waiting) > WAITING_PACKETS:
            del self.waiting[next(iter(self.waiting))]

    @staticmethod
    def raise_state(row, sender, reason):
        """A state only rises; of several reasons the lowest stays."""
        state = FAILED if reason else DELIVERED if sender == row["to"] else IMPLICIT
        if state > row["state"]:
            row["state"], row["failure_reason"] = state, reason if state == FAILED else 0
        elif state == row["state"] == FAILED:
            row["failure_reason"] = min(row["failure_reason"], reason)

    def annotate(self, sender, number, time, changes):
        """What a person decided about the message of this packet that is nearest to a time."""
        near = [row for row in self.known(sender, number) if abs(row["time"] - time) <= REACH_SECONDS]
        if near:
            min(near, key=lambda row: (abs(row["time"] - time), row["first_sequence"])).update(changes)

    def out(self):
        for thread, time, sequence, row in self.rows.items():
            packet, earliest = row["of"], {}
            for gateway, at in packet.hearings:
                earliest[gateway] = min(earliest.get(gateway, at), at)
            gateways = sorted((gateway for gateway in earliest if gateway), key=lambda gateway: (earliest[gateway], gateway))
            yield {"thread": thread, "time": time, "sequence": sequence, "is_archived": row["archived_at"] != 0, "receptions": len(packet.hearings),
                   "gateways": gateways[:GATEWAYS], "has_conflict": packet.has_conflict,
                   **{name: value for name, value in row.items() if name != "of"}, "state": STATES[row["state"]]}


def row_of(packet):
    """The row that is made of a packet, if it is still there."""
    series, group, place = packet.row or (None, None, None)
    return series and series.groups.get(group, {}).get(place)
