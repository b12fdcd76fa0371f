"""The common code of a campaign's parts: commands with signals and a time limit, what counts as a finding, and the final checks of a part."""
import ctypes, dataclasses, fcntl, os, pathlib, random, re, shutil, signal, subprocess, tempfile, threading, time

TRAPS = {signal.SIGILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGTRAP, signal.SIGABRT, signal.SIGFPE}
FAULT_OF_THE_PROGRAM = 70
MEMORY = pathlib.Path("/dev/shm")
MARK = "MESHLEDGER_CAMPAIGN"  # in the environment of each process that a campaign starts


@dataclasses.dataclass
class Ended:
    """A command that has ended."""
    line: str
    status: int
    output: bytes
    errors: str
    was_signalled: bool

    @property
    def is_done(self):
        return self.status == 0

    @property
    def last_line(self):
        lines = self.errors.strip().splitlines() or self.output.decode(errors="replace").strip().splitlines()
        return lines[-1][:600] if lines else ""


class Part:
    """One part of a campaign: its folder, its share of the time, its random numbers, and its findings."""

    def __init__(self, name, program, seed, seconds, command_seconds):
        self.name, self.program, self.seed, self.seconds, self.command_seconds = name, program, seed, seconds, command_seconds
        self.random = random.Random(f"{seed} {name}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"meshledger-campaign-{name}-"))
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.end = time.monotonic() + seconds
        self.commands = self.kills = self.acknowledged = 0
        self.findings, self.keys, self.skipped = [], set(), None
        self.pids = set()
        self.lock = threading.Lock()
        self.mark = f"{os.getpid()} {name}"

    def goes_on(self):
        return time.monotonic() < self.end

    # What was found

    def finding(self, text, line=""):
        """Records a finding once, ignoring the numbers in it."""
        text = text.replace(str(self.folder), "FOLDER")
        key = re.sub(r"\b[0-9a-f]*\d[0-9a-f]*\b", "N", text)
        with self.lock:
            if key not in self.keys and len(self.findings) < 100: self.findings.append((text, line))
            self.keys.add(key)

    def see_again(self):
        return f"Tools/prove campaign --part {self.name} --seed {self.seed} --seconds {int(self.seconds)} --program {self.program}"

    # Commands

    def environment(self, **more):
        kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
        return {**kept, MARK: self.mark, "HOME": str(self.folder), "TMPDIR": str(self.temporary), "SWIFT_BACKTRACE": "enable=no", **more}

    def start(self, arguments, environment=None, prefix=(), **pipes):
        """The process of a command, in a separate session."""
        command = [*prefix, str(self.program), *map(str, arguments)]
        process = subprocess.Popen(
            command, env=self.environment(**(environment or {})), cwd=self.folder, start_new_session=True,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes})
        with self.lock:
            self.commands += 1
            self.pids.add(process.pid)
        process.line = " ".join([*(f"{key}={value}" for key, value in (environment or {}).items()), *command])
        return process

    def finish(self, process, limit=None, was_signalled=False, data=None, expects_signal=None):
        """Waits for a command and examines how it ended. One that does not end in time is a finding and is killed."""
        try:
            output, errors = process.communicate(data, timeout=limit or self.command_seconds)
        except subprocess.TimeoutExpired:
            at = where(process.pid)
            self.signal(process, signal.SIGKILL, counts=False)
            output, errors = process.communicate()
            self.finding(f"hangs for {limit or self.command_seconds:.0f} s{at}: {(errors or b'').decode(errors='replace').strip()[-200:]}", process.line)
            was_signalled = True
        ended = Ended(process.line, process.returncode, output or b"", (errors or b"").decode(errors="replace"), was_signalled)
        self.judge(ended)
        return ended

    def judge(self, ended):
        if -ended.status in TRAPS or ended.status - 128 in TRAPS:
            number = -ended.status if ended.status < 0 else ended.status - 128
            self.finding(f"ended by {signal.Signals(number).name}: {ended.last_line}", ended.line)
        elif ended.status < 0 and not ended.was_signalled:
            self.finding(f"ended by {signal.Signals(-ended.status).name}, which was not sent", ended.line)
        elif ended.status == FAULT_OF_THE_PROGRAM:
            self.finding(f"says that it has a fault: {ended.last_line}", ended.line)
        if "Fatal error" in ended.errors:
            self.finding(f"a trap: {ended.last_line}", ended.line)

    def signal(self, process, number, counts=True):
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            return
        if counts:
            with self.lock:
                self.kills += 1

    def command(self, *arguments, environment=None, prefix=(), data=None, limit=None, kill_after=None, kill_with=None):
        """Runs a command to its end, or sends it a signal after a number of seconds."""
        process = self.start(arguments, environment, prefix, **({"stdin": subprocess.PIPE} if data is not None else {}))
        was_signalled = False
        if kill_after is not None:
            try:
                process.wait(kill_after)
            except subprocess.TimeoutExpired:
                self.signal(process, kill_with)
                was_signalled = True
        return self.finish(process, limit, was_signalled, data)

    def must(self, *arguments, **options):
        """Runs a command that has to succeed."""
        ended = self.command(*arguments, **options)
        if not ended.is_done:
            self.finding(f"status {ended.status}: {ended.last_line}", ended.line)
        return ended

    def at_once(self, *tasks):
        """Runs functions in threads until each has returned; an exception is a finding."""
        def guarded(task):
            try:
                task()
            except Exception as error:
                self.finding(f"the campaign itself: {type(error).__name__}: {error}")
        threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
        for thread in threads: thread.start()
        for thread in threads: thread.join()

    # What must not be left

    def processes(self):
        """Processes of this part, including children, that are still running."""
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append((int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")))
            except OSError:
                pass  # it has ended, or is not ours
        return found

    def check_processes(self):
        deadline = time.monotonic() + 5
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        for pid, line in left:
            self.finding(f"a process is left: {line}")
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def folders_in_memory(self):
        """Folders that commands of this part made in /dev/shm and that no process has open."""
        found = []
        for folder in MEMORY.glob("meshledger-*"):
            try:
                with open(folder / "LOCK") as lock:
                    if int(lock.read() or 0) not in self.pids: continue
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    found.append(folder)
            except (OSError, ValueError):
                pass  # in use, another's, or gone
        return found

    def check_memory(self, ledger):
        """A killed command's folder may stay until a later command finds it old enough; then it must be removed."""
        if self.folders_in_memory():
            time.sleep(12)
            self.command("nodes", "--ledger", ledger, "--as-of", "now", "--limit", 1)
        for folder in self.folders_in_memory():
            self.finding(f"{folder.name} is left in {MEMORY}: {', '.join(sorted(path.name for path in folder.rglob('*')))[:200]}")
            shutil.rmtree(folder, ignore_errors=True)
        self.check_temporary()

    def check_temporary(self):
        for path in self.temporary.iterdir():
            if path.name != "lib": self.finding(f"{path.name} is left in the temporary folder")

    def holding(self, needles, *roots):
        """The files below the folders, the temporary one and /dev/shm that contain one of these byte strings, as they are or in a zstd frame."""
        pattern = re.compile(b"|".join(map(re.escape, needles))) if needles else None
        for root in (*roots, self.temporary, *MEMORY.glob("meshledger-*")):
            for path in root.rglob("*") if pattern else ():
                try:
                    if path.is_symlink() or not path.is_file(): continue
                    content = path.read_bytes()
                except OSError:
                    continue  # it went meanwhile
                found = next(filter(None, map(pattern.search, (content, *frames(content)))), None)
                if found: yield path, found[0]

    def close(self):
        self.check_processes()
        if not self.findings: shutil.rmtree(self.folder, ignore_errors=True)


zstd = ctypes.CDLL("libzstd.so.1")
for name in ("ZSTD_findFrameCompressedSize", "ZSTD_decompress"): getattr(zstd, name).restype = ctypes.c_size_t
zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
LARGEST_FRAME = 64 << 20


def frames(content):
    """What the zstd frames decompress to that begin anywhere in these bytes, such as sealed blocks, in use or not."""
    memory = ctypes.create_string_buffer(content, len(content))
    for place in re.finditer(rb"\x28\xb5\x2f\xfd", content):
        start = ctypes.byref(memory, place.start())
        length = ctypes.c_size_t(zstd.ZSTD_findFrameCompressedSize(start, ctypes.c_size_t(len(content) - place.start())))
        if zstd.ZSTD_isError(length): continue
        size = min(zstd.ZSTD_getFrameContentSize(start, length), LARGEST_FRAME)
        room = ctypes.create_string_buffer(size)
        if zstd.ZSTD_decompress(room, ctypes.c_size_t(size), start, length) == size: yield room.raw


def where(pid):
    """The system call in which a process waits, if known."""
    try:
        return f" in {pathlib.Path(f'/proc/{pid}/wchan').read_text()}"
    except OSError:
        return ""
