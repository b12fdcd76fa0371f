"""Runs a command whose standard output is a socket, as Node.js gives its children, and prints what it reads from that.

on_socket.py 1|all|stop COMMAND ARGUMENT...

With `stop` it reads one byte, ends the command by SIGTERM and reads no more.
"""
import socket
import subprocess
import sys

ours, other = socket.socketpair()
child = subprocess.Popen(sys.argv[2:], stdout=other)
other.close()
reader = ours.makefile("rb", buffering=0)
sys.stdout.buffer.write(reader.readall() if sys.argv[1] == "all" else reader.read(1))
if sys.argv[1] == "stop":
    child.terminate()
    sys.exit(child.wait())
reader.close()
ours.close()
sys.exit(child.wait())
