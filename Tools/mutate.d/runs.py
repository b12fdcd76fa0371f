"""Builds the copy and runs its tests with one break made."""
import os, pathlib, re, shutil, signal, subprocess, tempfile, time

BUILD_SECONDS = 3600


def environment(root, number, folder):
    return {
        "MESHLEDGER_SHARED": str(root.parent / "shared"), "MESHLEDGER_PYTHON": str(root / ".tools" / "venv" / "bin" / "python"),
        **os.environ, "MESHLEDGER_BREAK": str(number), "TMPDIR": folder, "NO_COLOR": "1",
    }


def build(root, what=("--build-tests",)):
    """Whether it builds, and what the compiler says."""
    # SwiftPM's lock is a file in the temporary folder that is named after the path, which the copy has in common with the package.
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        done = subprocess.run(
            ["swift", "build", *what, "-j", "2"], cwd=root, env={**os.environ, "TMPDIR": folder}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=BUILD_SECONDS)
    return done.returncode == 0, done.stdout


def bundle(root):
    return next((root / ".build" / "debug").resolve().glob("*PackageTests.xctest"))


def test(root, number, wanted, skipped, seconds):
    """Runs tests until one fails. True where all pass, False where one does not or they take too long, None where none ran; and the reason."""
    folder = tempfile.mkdtemp(prefix="mutate-", dir="/tmp")
    command = [str(bundle(root)), "--testing-library", "swift-testing", "--filter", wanted]
    if skipped:
        command += ["--skip", skipped]
    process = subprocess.Popen(
        command, cwd=root, env=environment(root, number, folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    os.set_blocking(process.stdout.fileno(), False)
    text, deadline, why = b"", time.monotonic() + seconds, None
    try:
        while why is None:
            more = process.stdout.read()
            if more:
                text += more
                failed = re.search(rb"^.*\xe2\x9c\x98.*(?:recorded an issue|failed after).*$", text, re.MULTILINE)
                if failed:
                    why = failed[0].decode(errors="replace")
            elif process.poll() is not None:
                break
            elif time.monotonic() > deadline:
                why = f"ended after {seconds:.0f} s"
            else:
                time.sleep(0.02)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("MESHLEDGER_MUTATE_MEMORY") == "1":  # this process's own: see copies.py
            for left in pathlib.Path("/dev/shm").glob("*"):
                shutil.rmtree(left, ignore_errors=True)
    if why is not None:
        return False, why
    if process.returncode != 0:
        return False, f"ended with {process.returncode}"
    ran = re.search(rb"Test run with ([1-9]\d*) test", text)
    return (True, "") if ran else (None, "no test ran")
