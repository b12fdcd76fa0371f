#!/usr/bin/env python3
"""The official Python client at a radio, or at what stands for one: says as JSON lines what it sees.

usage: stream_client.py HOST PORT [--send TEXT] [--seconds S]
First {"nodes": [numbers], "channels": [names]}, when it is connected; then {"packet": id, "from": node} for each packet. With --send, it sends a text, asks for its
acknowledgement, and says {"sent": id} and {"acknowledged": id, "error": reason}. It ends after S seconds, at the end of standard input, or when the radio goes: then it says
{"lost": true}.
"""
import argparse, json, sys, threading, time

import meshtastic.tcp_interface
from pubsub import pub

lock = threading.Lock()


def say(**what):
    with lock: print(json.dumps(what), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--send")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    end = threading.Event()

    def heard(packet, interface):
        say(packet=packet.get("id", 0), **{"from": packet.get("from", 0)})

    def lost(interface):
        say(lost=True)
        end.set()

    pub.subscribe(heard, "meshtastic.receive")
    pub.subscribe(lost, "meshtastic.connection.lost")
    client = meshtastic.tcp_interface.TCPInterface(options.host, portNumber=options.port)
    names = [channel.settings.name for channel in client.localNode.channels or [] if channel.role]
    say(nodes=sorted(client.nodesByNum), channels=names)
    if options.send:
        def acknowledged(packet):
            say(acknowledged=packet["decoded"]["requestId"], error=packet["decoded"]["routing"]["errorReason"])
        sent = client.sendData(options.send.encode(), portNum=1, wantAck=True, onResponse=acknowledged, onResponseAckPermitted=True)
        say(sent=sent.id)

    def watch():
        sys.stdin.read()
        end.set()

    threading.Thread(target=watch, daemon=True).start()
    end.wait(options.seconds)


try:
    main()
finally:
    sys.stdout.flush()
    import os
    os._exit(0)  # the client's threads do not all end
