"""The view of messages: threads, receptions, acknowledgements, signatures."""
import struct
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from caps import Series
from opening import BROADCAST, signing_key
from packets import WINDOW

SENT, FAILED, IMPLICIT, DELIVERED = 1, 2, 3, 4
STATES = {SENT: "sent", FAILED: "failed", IMPLICIT: "implicitlyAcknowledged", DELIVERED: "delivered"}
WAITING_PACKETS, WAITING_RECEIPTS, GATEWAYS = 4096, 4, 32


def signature(heard, public):
    data = heard.data
    if len(data.xeddsa_signature) != 64:
        return "none"
    if public is None:
        return "unchecked"
    signed = struct.pack("<III", heard.sender, heard.packet.id, data.portnum) + data.payload
    try:
        Ed25519PublicKey.from_public_bytes(signing_key(public)).verify(data.xeddsa_signature, signed)
        return "valid"
    except Exception:
        return "invalid"


class Messages:
    def __init__(self, caps):
        self.rows, self.channels, self.waiting = Series(lambda _: caps["messages"]), {}, {}
        self.by_packet, self.by_sequence = {}, {}

    def thread(self, heard):
        if heard.to != BROADCAST:
            return "direct", min(heard.sender, heard.to), max(heard.sender, heard.to)
        return "channel", self.channels.setdefault((heard.channel, heard.mark), len(self.channels))

    def take(self, heard, announced):
        packet, data, (time, source) = heard.packet, heard.data, heard.time()
        row = {"time_source": source, "first_sequence": heard.first_sequence, "from": heard.sender, "to": heard.to, "id": packet.id,
               "port": data.portnum, "text": data.payload.decode("utf-8", "replace"), "reply_id": data.reply_id,
               "is_reaction": bool(data.emoji and data.reply_id), "state": SENT, "failure_reason": 0, "receptions": 1,
               "gateways": [heard.gateway] if heard.gateway else [], "channel": heard.channel, "is_via_mqtt": packet.via_mqtt,
               "is_privately_encrypted": heard.is_private or packet.pki_encrypted, "signature": signature(heard, announced.get(heard.sender)),
               "is_read": False, "archived_at": 0, "time": time}
        thread = self.thread(heard)
        self.rows.add(thread, time, heard.event.sequence, row)
        if (time, heard.event.sequence) not in self.rows.groups[thread] or not packet.id:
            return
        self.by_packet.setdefault((heard.sender, packet.id), []).append((thread, time, heard.event.sequence))
        for at, sender, reason in self.waiting.pop((heard.sender, packet.id), []):
            if abs(at - time) <= WINDOW:
                self.raise_state(row, sender, reason)

    def known(self, sender, number):
        """The rows of a packet that are still there, the one of the newest packet last."""
        places = self.by_packet.get((sender, number), [])
        found = [row for thread, *place in places if (row := self.rows.groups[thread].get(tuple(place))) is not None]
        return sorted(found, key=lambda row: row["first_sequence"])

    def again(self, heard):
        """A later reception of a message."""
        for row in self.known(heard.sender, heard.packet.id):
            if row["first_sequence"] == heard.first_sequence:
                row["receptions"] += 1
                if heard.gateway and heard.gateway not in row["gateways"] and len(row["gateways"]) < GATEWAYS:
                    row["gateways"].append(heard.gateway)

    def receipt(self, heard, routing):
        key = heard.to, heard.data.request_id
        rows = self.known(*key)
        if rows:
            self.raise_state(rows[-1], heard.sender, routing.error_reason)
            return
        waiting = self.waiting.setdefault(key, [])
        if len(waiting) < WAITING_RECEIPTS:
            waiting.append((heard.time()[0], heard.sender, routing.error_reason))
        while len(self.waiting) > WAITING_PACKETS:
            del self.waiting[next(iter(self.waiting))]

    @staticmethod
    def raise_state(row, sender, reason):
        state = FAILED if reason else DELIVERED if sender == row["to"] else IMPLICIT
        if state > row["state"]:
            row["state"], row["failure_reason"] = state, reason if state == FAILED else 0

    def annotate(self, sender, number, time, changes):
        """What a person decided about the message of this packet that is nearest to a time."""
        near = [row for row in self.known(sender, number) if abs(row["time"] - time) <= WINDOW]
        if near:
            min(near, key=lambda row: (abs(row["time"] - time), row["first_sequence"])).update(changes)

    def out(self):
        for thread, time, sequence, row in self.rows.items():
            yield {"thread": thread, "time": time, "sequence": sequence, "is_archived": row["archived_at"] != 0, **row,
                   "state": STATES[row["state"]]}
