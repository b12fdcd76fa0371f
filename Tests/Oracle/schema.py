"""The official package's messages, with the fields that firmware has added since: numbers and types only, as facts of the wire.

`messages.Position`, `messages.Telemetry` and so on are classes of the official decoder over the widened schema.
"""
import types
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from meshtastic.protobuf import admin_pb2, mesh_pb2, mqtt_pb2, paxcount_pb2, remote_hardware_pb2, storeforward_pb2

F = descriptor_pb2.FieldDescriptorProto
VARINT, BYTES, TEXT, FIXED, SIGNED, FLOAT, FLAG = (F.TYPE_UINT32, F.TYPE_BYTES, F.TYPE_STRING, F.TYPE_FIXED32, F.TYPE_SFIXED32, F.TYPE_FLOAT,
                                                   F.TYPE_BOOL)
# message: name, number, type, whether its presence counts or the union that it is of, the message type
ADDED = {
    "MeshPacket": [("xeddsa_signed", 22, FLAG)],
    "Data": [("xeddsa_signature", 10, BYTES)],
    "Waypoint": [("geofence_radius", 9, VARINT), ("bounding_box", 10, F.TYPE_MESSAGE, False, "BoundingBox"), ("notify_on_enter", 11, FLAG),
                 ("notify_on_exit", 12, FLAG), ("notify_favorites_only", 13, FLAG)],
    "AirQualityMetrics": [("pm_status_flags", 26, VARINT, True)],
    "EnvironmentMetrics": [(f"adc_voltage_ch{place}", 24 + place, FLOAT, True) for place in range(8)]
    + [(f"one_wire_temperature_ch{place}", 32 + place, FLOAT, True) for place in range(8)]
    + [("lightning_strike_count_1h", 40, VARINT, True), ("lightning_distance_km", 41, FLOAT, True)],
    "Routing": [("ack_proof", 4, BYTES)],
    "StoreAndForward": [("original_id", 6, VARINT)],
    "Telemetry": [("soil_water_metrics", 11, F.TYPE_MESSAGE, "variant", "SoilWaterMetrics")],
    "FromRadio": [("region_presets", 19, BYTES)],
    "NodeInfo": [("has_xeddsa_signed", 14, FLAG)],
    "DeviceMetadata": [("has_xeddsa", 14, FLAG)],
}
SOIL = ["soil_ph", "ph", "electrical_conductivity", "salinity", "nitrogen", "phosphorus", "potassium", "dissolved_oxygen", "orp", "chemical_oxygen_demand",
        "turbidity", "nitrate", "ammonium", "biochemical_oxygen_demand", "solar_irradiance"]
# file: messages
NEW_MESSAGES = {
    "mesh": {"BoundingBox": [("longitude_west_i", 1, SIGNED), ("latitude_south_i", 2, SIGNED), ("longitude_east_i", 3, SIGNED),
                             ("latitude_north_i", 4, SIGNED)],
             "MeshBeacon": [("message", 1, TEXT), ("offer_channel", 2, F.TYPE_MESSAGE, False, "ChannelSettings"), ("offer_region", 3, VARINT),
                            ("offer_preset", 4, VARINT, True), ("offer_frequency_slot", 5, VARINT, True)]},
    "telemetry": {"SoilWaterMetrics": [(name, number, FLOAT, True) for number, name in enumerate(SOIL, 1)]},
}


def add(message, package, name, number, kind, has_presence=False, of=None):
    if any(field.number == number for field in message.field):
        return
    field = message.field.add(name=name, number=number, type=kind, label=F.LABEL_OPTIONAL)
    if of:
        field.type_name = f".{package}.{of}"
    union = "payload_variant" if message.name == "FromRadio" else has_presence if isinstance(has_presence, str) else None
    if union:
        field.oneof_index = next(index for index, entry in enumerate(message.oneof_decl) if entry.name == union)
    elif has_presence:
        field.proto3_optional, field.oneof_index = True, len(message.oneof_decl)
        message.oneof_decl.add(name="_" + name)


def widened():
    pool, taken = descriptor_pool.DescriptorPool(), set()

    def take(file):
        if file.name in taken:
            return
        taken.add(file.name)
        for other in file.dependencies:
            take(other)
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        for name, fields in NEW_MESSAGES.get(file.name.split("/")[-1].removesuffix(".proto"), {}).items():
            if name not in {message.name for message in proto.message_type}:
                message = proto.message_type.add(name=name)
                for field in fields:
                    add(message, file.package, *field)
        for message in proto.message_type:
            for field in ADDED.get(message.name, ()):
                add(message, file.package, *field)
            if message.name == "MeshPacket":
                make_optional(message, "rx_time", "rx_rssi")
        pool.Add(proto)

    for module in (admin_pb2, mesh_pb2, mqtt_pb2, paxcount_pb2, remote_hardware_pb2, storeforward_pb2):
        take(module.DESCRIPTOR)
    found = types.SimpleNamespace()
    for name in taken:
        for title, descriptor in pool.FindFileByName(name).message_types_by_name.items():
            setattr(found, title, message_factory.GetMessageClass(descriptor))
    return found


def make_optional(message, *names):
    """Since 2.8 the absence of these is another thing than 0."""
    for field in message.field:
        if field.name in names and not field.HasField("oneof_index"):
            field.proto3_optional, field.oneof_index = True, len(message.oneof_decl)
            message.oneof_decl.add(name="_" + field.name)


messages = widened()
