"""What the official decoder does not tell of damaged bytes: which text was broken, and what no encoder would have written.

Works on the wire format itself; which fields a message has comes from the official descriptors.
"""
from google.protobuf.descriptor import FieldDescriptor as F

VARINT, FIXED64, LENGTH, GROUP, FIXED32 = 0, 1, 2, 3, 5
WIRE = {F.TYPE_STRING: LENGTH, F.TYPE_BYTES: LENGTH, F.TYPE_MESSAGE: LENGTH, F.TYPE_FLOAT: FIXED32, F.TYPE_FIXED32: FIXED32,
        F.TYPE_SFIXED32: FIXED32, F.TYPE_DOUBLE: FIXED64, F.TYPE_FIXED64: FIXED64, F.TYPE_SFIXED64: FIXED64}
# A number that the schema has given up.
GIVEN_UP = {"Telemetry": {10: LENGTH}}


class Broken(Exception):
    pass


def varint(data, place):
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise Broken
        value |= (data[place] & 127) << shift
        place += 1
        if data[place - 1] < 128:
            return value & (1 << 64) - 1, place
    raise Broken


def fields(data):
    """(number, wire type, value, start, end) of each field; the value of a length-delimited field is its bytes."""
    place = 0
    while place < len(data):
        start = place
        tag, place = varint(data, place)
        number, kind = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise Broken
        if kind == VARINT:
            value, place = varint(data, place)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
            value, place = int.from_bytes(data[place:place + size], "little"), place + size
        elif kind == LENGTH:
            length, place = varint(data, place)
            value, place = data[place:place + length], place + length
        elif kind == GROUP:
            value, place = None, group_end(data, place, number)
        else:
            raise Broken
        if place > len(data):
            raise Broken
        yield number, kind, value, start, place


def group_end(data, place, number):
    while True:
        tag, after = varint(data, place)
        if tag & 7 == 4:
            if tag >> 3 != number:
                raise Broken
            return after
        kind = tag & 7
        if kind == VARINT:
            _, place = varint(data, after)
        elif kind in (FIXED32, FIXED64):
            place = after + (4 if kind == FIXED32 else 8)
        elif kind == LENGTH:
            length, after = varint(data, after)
            place = after + length
        elif kind == GROUP:
            place = group_end(data, after, tag >> 3)
        else:
            raise Broken
        if place > len(data):
            raise Broken


def repaired(descriptor, data):
    """The message with each ill-formed part of its texts replaced by U+FFFD, so that the official decoder takes it.

    Of a packet's or a frame's contents only the last counts; the official decoder would merge those that come twice.
    """
    parts, last = [], {}
    for number, kind, value, start, end in fields(data):
        field = descriptor.fields_by_number.get(number)
        part = data[start:end]
        if field is not None and kind == LENGTH and field.type == F.TYPE_STRING:
            value = value.decode("utf-8", "replace").encode()
            part = encoded(number << 3 | LENGTH) + encoded(len(value)) + value
        elif field is not None and kind == LENGTH and field.type == F.TYPE_MESSAGE:
            if number in last and descriptor.name in ("MeshPacket", "FromRadio") and field.containing_oneof is not None:
                repaired(*parts[last[number]][1:])
                parts[last[number]] = (b"", None, b"")
            last[number] = len(parts)
            parts.append((encoded(number << 3 | LENGTH), field.message_type, value))
            continue
        parts.append((part, None, b""))
    out = bytearray()
    for head, nested, value in parts:
        if nested is not None:
            value = repaired(nested, value)
            head += encoded(len(value))
        out += head + value
    return bytes(out)


def encoded(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def writes_content(data):
    """Whether an encoder can have written this Data message: each field once, in order, the port first, with its type."""
    last = 0
    kinds = {1: VARINT, 2: LENGTH, 3: VARINT, 4: FIXED32, 5: FIXED32, 6: FIXED32, 7: FIXED32, 8: FIXED32, 9: VARINT, 10: LENGTH}
    for number, kind, value, _, _ in fields(data):
        if number <= last or (last == 0 and number != 1) or number > 31 or kinds.get(number, kind) != kind:
            return False
        if (number == 3 and value > 1) or (number == 9 and value > 255) or (number == 10 and len(value) not in (0, 64)):
            return False
        last = number
    return True


def writes(descriptor, data):
    """Whether an encoder can have written this payload: known fields with their types, or a few above them."""
    known = {number: (WIRE.get(field.type, VARINT), field) for number, field in descriptor.fields_by_number.items()}
    known.update({number: (kind, None) for number, kind in GIVEN_UP.get(descriptor.name, {}).items()})
    highest = max(known)
    for number, kind, value, _, _ in fields(data):
        if number >= 64 or number > highest + 16 or kind not in (VARINT, FIXED32, LENGTH):
            return False
        if number > highest:
            continue
        wanted, field = known[number]
        is_list = field is not None and repeats(field) and wanted != LENGTH
        if kind != wanted and not (is_list and kind == LENGTH):
            return False
        if is_list and kind == LENGTH:
            check_packed(wanted, value)
        elif field is not None and field.type == F.TYPE_MESSAGE and not writes(field.message_type, value):
            return False
    return True


def repeats(field):
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def check_packed(wanted, data):
    place = 0
    if wanted == FIXED32 and len(data) % 4:
        raise Broken
    while wanted == VARINT and place < len(data):
        _, place = varint(data, place)
