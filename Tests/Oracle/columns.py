"""Every column of every view, as `meshledger view NAME --raw --format jsonl` writes them, and what it holds.

node: !hex or null for none; everyone: the same, where everybody is a node, too; time: ISO 8601, null for 0; text, bytes (hex), list: null where
empty; number: as it is, null where absent; float: of four bytes; degrees; flag; word.
"""
T = "time"
VIEWS = {
    "nodes": dict(
        number="node", long_name="text", short_name="text", hardware_model="number", state="word", first_sequence="number", last_sequence="number",
        role="number", is_licensed="flag", is_unmessagable="flag", public_key="bytes", has_key_conflict="flag", firmware="text", first_heard=T,
        last_heard=T, is_time_of_import="flag", snr="float", rssi="number", hops_away="number", is_via_mqtt="flag", channel="text",
        receptions="number", packets="number", unreadable="number", is_favorite="flag", is_ignored="flag", is_archived="flag",
        archived_at=T, note="text", alias="text"),
    "positions": dict(
        node="node", time=T, sequence="number", time_source="word", packet_id="number", latitude_e7="number", longitude_e7="number",
        latitude="degrees", longitude="degrees", altitude="number", ground_speed="number", ground_track="number", satellites="number",
        precision_bits="number", sent_time=T, fix_time=T, pdop="number", hdop="number", vdop="number", gateway="node", snr="float", rssi="number",
        since=T),
    "telemetry": dict(
        node="node", kind="word", time=T, sequence="number", time_source="word", packet_id="number", sent_time=T, gateway="node", metrics="bytes"),
    "unknown_telemetry": dict(
        node="node", kind="number", time=T, sequence="number", time_source="word", packet_id="number", sent_time=T, gateway="node",
        metrics="bytes"),
    "messages": dict(
        thread="thread", time=T, sequence="number", time_source="word", first_sequence="number", to="node", id="number", port="number",
        text="text", reply_id="number", is_reaction="flag", state="word", failure_reason="number", receptions="number", gateways="nodes",
        channel="text", is_via_mqtt="flag", is_privately_encrypted="flag", signature="word", has_conflict="flag", is_read="flag",
        is_archived="flag", archived_at=T,
        **{"from": "node"}),
    "waypoints": dict(
        id="number", time=T, time_source="word", sequence="number", first_sequence="number", packet_id="number", creator="node", to="node",
        channel="text", gateway="node", latitude_e7="number", longitude_e7="number", latitude="degrees", longitude="degrees", expire=T,
        locked_to="node", name="text", details="text", icon="number", geofence_radius="number", bounding_box="object", notifies_on_enter="flag",
        notifies_on_exit="flag", notifies_favorites_only="flag", is_deleted="flag", changes="number", refused_changes="number",
        **{"from": "node"}),
    "traceroutes": dict(
        id="number", to="node", time=T, time_source="word", first_sequence="number", sequence="number", request_sequence="number",
        reply_sequence="number", reply_id="number", reply_time=T, is_answered="flag", channel="text", route="nodes", snr_towards="list",
        route_back="nodes", snr_back="list", places="list", **{"from": "node"}),
    "links": dict(
        hearer="node", heard="node", time=T, first_time=T, is_time_of_import="flag", first_sequence="number", sequence="number", direct="number",
        reported="number", traced="number", count="number", snr="float", evidence="word", rssi="number", samples="samples"),
    "channels": dict(
        channel="object", name="text", key_fingerprint="number", is_readable="flag", hash="number", packets="number", receptions="number",
        first_heard=T, last_heard=T, is_time_of_import="flag", first_sequence="number", last_sequence="number"),
    "gateways": dict(
        gateway="node", time=T, first_time=T, is_time_of_import="flag", first_sequence="number", sequence="number", receptions="number",
        packets="number", unreadable="number", via_mqtt="number", own="number", nodes="number", lowest_snr="float", highest_snr="float", lowest_rssi="number",
        highest_rssi="number", sources="sources"),
    "gateway_nodes": dict(
        gateway="node", node="node", time=T, first_time=T, is_time_of_import="flag", first_sequence="number", sequence="number",
        receptions="number", highest_snr="float"),
    "mapreports": dict(
        node="node", time=T, time_source="word", first_time=T, first_sequence="number", sequence="number", reports="number", long_name="text",
        short_name="text", role="number", hardware_model="number", firmware="text", region="number", modem_preset="number",
        has_default_channel="flag", latitude_e7="number", longitude_e7="number", latitude="degrees", longitude="degrees", altitude="number",
        precision_bits="number", online_local_nodes="number", most_online_local_nodes="number", has_opted_report_location="flag",
        channel="text"),
    "sensors": dict(
        node="node", kind="word", time=T, sequence="number", time_source="word", packet_id="number", to="node", channel="text", gateway="node",
        snr="float", rssi="number", hops_away="number", text="text", payload="bytes"),
    "nodehistory": dict(
        node="node", time=T, sequence="number", time_source="word", changes="object", kind="word", long_name="text", short_name="text",
        hardware_model="number", role="number", firmware="text", public_key="bytes", same_key_as="node", gateway="node"),
    "hardware": dict(
        model="number", node="node", time=T, first_time=T, is_time_of_import="flag", first_sequence="number", sequence="number", count="number",
        firmware="text", target="text"),
    "radios": dict(
        source="source", part="word", section="number", slot="number", time=T, sequence="number", time_source="word", node="node",
        content="bytes"),
    "packets": dict(
        sequence="number", to="everyone", gateway="node", channel="text", port="port", named="nodes", is_first_reception="flag",
        is_first_readable="flag", is_repeat="flag", **{"from": "node"}),
    "quarantine": dict(sequence="number"),
}
KEYS = {
    "nodes": ["number"], "positions": ["node", "time", "sequence"], "telemetry": ["node", "kind", "time", "sequence"],
    "unknown_telemetry": ["node", "kind", "time", "sequence"], "messages": ["thread", "time", "sequence"], "waypoints": ["id"],
    "traceroutes": ["from", "id"], "links": ["hearer", "heard"], "channels": ["channel"], "gateways": ["gateway"],
    "gateway_nodes": ["gateway", "node"], "mapreports": ["node"], "sensors": ["node", "kind", "time", "sequence"],
    "nodehistory": ["node", "time", "sequence"], "hardware": ["model", "node"],
    "radios": ["source", "part", "section", "slot", "time", "sequence"], "packets": ["sequence"], "quarantine": ["sequence"],
}
