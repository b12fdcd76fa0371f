"""Runs a command on a pseudo-terminal of its own and prints what it shows: terminal.py COLUMNS LINES UNTIL COMMAND...

When the text UNTIL has been shown, it presses Control-C; empty for never. It ends with the command's status.
"""

import fcntl, os, pty, signal, struct, sys, termios

columns, lines, until = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
go, ready = os.pipe()
child, terminal = pty.fork()
if child == 0:
    os.close(ready)
    os.read(go, 1)  # the terminal has its size
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who is started in the background of a script ignores it
    os.execv(sys.argv[4], sys.argv[4:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
os.write(ready, b"1")
output, pressed = b"", False
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    output += data
    if until and not pressed and until in output:
        os.write(terminal, b"\x03")
        pressed = True
sys.stdout.write(output.decode(errors="replace").replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
