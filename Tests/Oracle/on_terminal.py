"""Runs a command on a pseudo-terminal of its own and types an answer when it asks: on_terminal.py ANSWER COMMAND..."""

import os, pty, signal, sys
answer, arguments = sys.argv[1].encode().decode("unicode_escape").encode(), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who is started in the background of a script ignores it
    os.execv(arguments[0], arguments)
output, sent = b"", False
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    output += data
    if not sent and (b"[yes/no] " in output or b"[y/n] " in output):
        os.write(terminal, answer)
        sent = True
sys.stdout.write(output.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
