"""A wall clock of programs that can be moved while they run."""
import pathlib, shutil, struct, subprocess


class WallClock:
    """Programs with its environment see the machine's time and as many seconds as `move` says; steady clocks stay."""

    def __init__(self, folder):
        shim, self.offset = folder / "clock.so", folder / "clock-offset"
        source = pathlib.Path(__file__).with_name("clock.c")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
        self.environment = {"LD_PRELOAD": str(shim), "CLOCK_OFFSET": str(self.offset)}
        self.offset.write_bytes(struct.pack("q", 0))

    @staticmethod
    def can_be_made():
        return bool(shutil.which("gcc"))

    def move(self, seconds):
        with open(self.offset, "r+b") as file: file.write(struct.pack("q", seconds))  # in place: programs have mapped it
