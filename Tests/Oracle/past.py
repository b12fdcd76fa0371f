"""Which events count as of a time of the mesh: that section of Sources/MeshViews/FOLD.md."""
import datetime, json
import json_form
from packets import Event, read
from schema import messages
from wire import FIXED32, LENGTH, fields

SECOND = 1_000_000
START = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
PACKET_OF_ENVELOPE, PACKET_OF_FRAME = 1, 2
RX_TIME, DECODED, ENCRYPTED = 7, 4, 5


def microseconds(text):
    """Since 1970, exactly."""
    return (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) - START) // datetime.timedelta(microseconds=1)


def text_of(time):
    return (START + datetime.timedelta(microseconds=time)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def when_heard(line):
    """When an event of the log was heard, in microseconds since 1970; when it arrived where nobody knows."""
    record = json.loads(line)
    event = Event(line)
    if event.live:
        return microseconds(record["arrival"])
    if event.reception is not None:
        return microseconds(record["reception"])
    clock = receivers_clock(event)
    return clock * SECOND if event.is_plausible(clock) else microseconds(record["arrival"])


def receivers_clock(event):
    """`rx_time` of the packet in an event; 0 where there is none, or its header cannot be read."""
    try:
        if event.encoding == "MQTTJSON":
            return json_form.packet(event.payload, event.source)[0].rx_time
        if event.encoding == "ServiceEnvelope":
            packets = [value for number, wire, value, *_ in fields(event.payload) if (number, wire) == (PACKET_OF_ENVELOPE, LENGTH)]
            return rx_time(b"".join(packets))
        if event.encoding == "MeshPacket":
            return rx_time(event.payload)
        if event.encoding == "FromRadio":
            return rx_time_of_frame(event.payload)
    except Exception:
        pass
    return 0


def rx_time(packet):
    """Of a packet whose fields are whole. Only the content that counts may be damaged within."""
    found, contents = 0, []
    for number, wire, value, *_ in fields(packet):
        if (number, wire) == (RX_TIME, FIXED32):
            found = value
        elif wire == LENGTH and number in (DECODED, ENCRYPTED):
            contents.append((number, value))
    for number, value in contents[:-1]:
        if number == DECODED:
            list(fields(value))
    return found


def rx_time_of_frame(frame):
    """Of a frame whose last member is a packet."""
    packets = [place for place in fields(frame) if place[:2] == (PACKET_OF_FRAME, LENGTH)]
    if not packets:
        return 0
    _, _, packet, start, end = packets[-1]
    if read(messages.FromRadio, frame[end:]).WhichOneof("payload_variant") is not None:
        return 0
    read(messages.FromRadio, frame[:start])
    return rx_time(packet)


def heard_by(lines, time):
    """The lines of the events that had been heard by then, in the order of the log."""
    return [line for line in lines if when_heard(line) <= time]


def newest_first(lines):
    """The sequences of events by when they were heard, of equals the later event first."""
    places = [(when_heard(line), json.loads(line)["sequence"]) for line in lines]
    return [sequence for _, sequence in sorted(places, reverse=True)]


def chosen(draw, lines):
    """A time by which any number of a history's events had been heard: as often at the edge of one as between two."""
    times = sorted(when_heard(line) for line in lines)
    place = draw.randrange(len(times))
    if draw.random() < 0.5:
        return times[place] + draw.choice([-1, 0, 1, SECOND // 2])
    return draw.randint(times[place], times[min(place + 1, len(times) - 1)])
