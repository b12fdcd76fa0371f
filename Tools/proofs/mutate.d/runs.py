"""Builds the copy and runs its tests with one break made."""
import os, pathlib, re, shutil, signal, subprocess, tempfile, time, typing

BUILD_SECONDS = 3600


def environment(root, number, folder, reached):
    return {
        "MESHLEDGER_SHARED": str(root.parent / "shared"), "MESHLEDGER_PYTHON": str(root / ".tools" / "venv" / "bin" / "python"),
        **os.environ, "MESHLEDGER_BREAK": str(number), "TMPDIR": folder, "NO_COLOR": "1",
        **({"MESHLEDGER_REACHED": reached} if reached else {}),
    }


def build(root, what=("--build-tests",), modules=()):
    """Whether it builds, and the compiler's output. Only these test modules are built, or all."""
    chosen = {"MESHLEDGER_TESTS": ",".join(sorted(modules))} if modules else {}
    # With other flags than those of Tools/test, everything would be compiled again.
    form = ["-debug-info-format", os.environ["MESHLEDGER_DEBUG_INFO"]] if "MESHLEDGER_DEBUG_INFO" in os.environ else []
    # SwiftPM's lock is a file in the temporary folder that is named after the path, which the copy has in common with the package.
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        done = subprocess.run(
            ["swift", "build", *what, *form, "-j", "2"], cwd=root, env={**os.environ, **chosen, "TMPDIR": folder}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=BUILD_SECONDS)
    return done.returncode == 0, done.stdout


def bundle(root):
    return next((root / ".build" / "debug").resolve().glob("*PackageTests.xctest"))


def listed(root):
    """All tests with their modules, suites and files, as filters see them."""
    command = [str(bundle(root)), "--testing-library", "swift-testing", "--list-tests", "-v"]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.splitlines()


# A separate folder in memory, which disappears with the tests: a concurrent run neither sees nor fills it.
OWN_MEMORY = ["unshare", "-m", "bash", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "tests"]


class Outcome(typing.NamedTuple):
    passed: bool | None  # None where no test ran
    why: str
    seconds: float
    silence: float  # the longest time without a word
    work: float  # the most seconds of the processors that passed without a word


# The share of a processor: a process that sleeps forever takes less, and one that waits on a busy machine takes more.
ASLEEP = 0.01
# A mutant that writes without end must not fill the disk of everyone else.
MOST_WRITTEN = 8 << 30


def used(process):
    """Seconds of the processors that the process has used, with those of its children that have ended."""
    try:
        with open(f"/proc/{process.pid}/stat") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def end(leader):
    """Kills a session's processes. Programs that tests start have groups of their own, and would go on."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rsplit(")", 1)[1].split()[3]) == leader:
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            continue  # it has ended


def test(root, number, wanted, skipped, seconds, silence=None, work=None, reached=None):
    """Runs tests until one fails, or take too long, or print nothing for too long while they sleep or work, which also counts as a failure."""
    folder = tempfile.mkdtemp(prefix="mutate-", dir="/tmp")
    os.chmod(folder, 0o755)  # a test reads as another user
    command = [str(bundle(root)), "--testing-library", "swift-testing", "--filter", wanted]
    if os.environ.get("MESHLEDGER_MUTATE_MEMORY") == "1":  # see copies.py
        command = OWN_MEMORY + command
    if skipped:
        command += ["--skip", skipped]
    process = subprocess.Popen(
        command, cwd=root, env=environment(root, number, folder, reached), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    os.set_blocking(process.stdout.fileno(), False)
    text, why, begun, longest, hardest = b"", None, time.monotonic(), 0, 0
    heard, used_then, free = begun, 0.0, shutil.disk_usage(folder).free
    try:
        while why is None:
            more, now = process.stdout.read(), time.monotonic()
            longest = max(longest, now - heard)
            if more:
                used_now = used(process)
                hardest = max(hardest, used_now - used_then)
                text, heard, used_then = text + more, now, used_now
                failed = re.search(rb"^.*\xe2\x9c\x98.*(?:recorded an issue|failed after).*$", text, re.MULTILINE)
                if failed:
                    why = failed[0].decode(errors="replace")
            elif process.poll() is not None:
                break
            elif now - begun > seconds:
                why = f"ended after {seconds:.0f} s"
            elif silence is not None and now - heard > silence and used(process) - used_then < ASLEEP * (now - heard):
                why = f"ended after {now - heard:.0f} s asleep"
            elif work is not None and used(process) - used_then > work:
                why = f"ended after {work:.0f} s of work without a word"
            elif free - shutil.disk_usage(folder).free > MOST_WRITTEN:
                why = f"ended after {MOST_WRITTEN >> 30} GB"
            else:
                time.sleep(0.02)
    finally:
        end(process.pid)
        process.wait()
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)
    took = time.monotonic() - begun
    if why is not None:
        return Outcome(False, why, took, longest, hardest)
    if process.returncode != 0:
        return Outcome(False, f"ended with {process.returncode}", took, longest, hardest)
    ran = re.search(rb"Test run with ([1-9]\d*) test", text)
    return Outcome(True, "", took, longest, hardest) if ran else Outcome(None, "no test ran", took, longest, hardest)
