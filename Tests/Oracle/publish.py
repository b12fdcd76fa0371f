#!/usr/bin/env python3
"""Publishes captured ServiceEnvelopes to a broker, each under the topic that its gateway would use.

usage: publish.py FILE.base64 HOST PORT
"""
import base64, sys
import paho.mqtt.client as mqtt
from meshtastic.protobuf import mqtt_pb2


def topic(content):
    try:
        envelope = mqtt_pb2.ServiceEnvelope.FromString(content)
    except Exception:
        return "msh/TEST/2/e/LongFast/!00000000"
    if envelope.packet.decoded.portnum == 73:
        return "msh/TEST/2/map/"
    return f"msh/TEST/2/e/{envelope.channel_id or 'LongFast'}/{envelope.gateway_id or '!00000000'}"


def main():
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.connect(sys.argv[2], int(sys.argv[3]))
    client.loop_start()
    for line in filter(None, map(str.strip, open(sys.argv[1]))):
        content = base64.b64decode(line)
        client.publish(topic(content), content, qos=0).wait_for_publish(5)
    client.loop_stop()


main()
