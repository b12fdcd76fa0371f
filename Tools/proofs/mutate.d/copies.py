"""A copy of the package in which breaks are made, never in the files themselves.

Where the system lets a process have mounts of its own, the copy is put in the place of the package for this process and its children only: then the
build folder, which is copied along, is still valid, and only what a break changes is compiled. Elsewhere the copy has a build of its own.
"""
import os, pathlib, shutil, subprocess, sys

MARK = ".copy-for-breaks"
INSIDE = "MESHLEDGER_MUTATE_INSIDE"


def is_inside(root):
    return os.environ.get(INSIDE) == "1" and (root / MARK).exists()


def refresh(root, copy, kept=()):
    """Updates the copy's files from the package, except kept ones: tracked files and those that git does not ignore."""
    is_new = not copy.exists()
    copy.mkdir(exist_ok=True)
    (copy / MARK).touch()
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, check=True, capture_output=True).stdout
    wanted = {name for name in listed.decode().split("\0") if name and (root / name).is_file()} | {"Package.resolved"}
    for name in wanted:
        if name in kept:
            continue
        source, target = root / name, copy / name
        if not source.exists() or target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        if not is_new:
            target.touch()  # later than the objects that were made of what stood there
    for folder in ["Sources", "Tests"]:
        for path in (copy / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(copy)) not in wanted and str(path.relative_to(copy)) not in kept:
                path.unlink()


MOUNTS = """
mount --make-rprivate / 2>/dev/null
unshare -m mount -t tmpfs tmpfs /dev/shm 2>/dev/null && export MESHLEDGER_MUTATE_MEMORY=1
if [ -d "$ROOT/.tools" ]; then mkdir -p "$COPY/.tools" && mount --rbind "$ROOT/.tools" "$COPY/.tools" || exit 111; fi
mount --rbind "$COPY" "$ROOT" || exit 111
cd "$ROOT" && exec "$@"
"""


def enter(root, copy):
    """Restarts this program with the copy in the place of the package. Returns if that is not possible."""
    environment = {**os.environ, INSIDE: "1", "ROOT": str(root), "COPY": str(copy)}
    command = [sys.executable, str(pathlib.Path(sys.argv[0]).resolve()), *sys.argv[1:]]
    for form in [["unshare", "-m"], ["unshare", "-rm"]]:
        if shutil.which("unshare") is None or subprocess.run([*form, "true"], capture_output=True).returncode != 0:
            continue
        if (root / ".build").exists() and not (copy / ".build").exists():
            subprocess.run(["cp", "-a", "--reflink=auto", str(root / ".build"), str(copy / ".build")], check=True)
        code = subprocess.run([*form, "bash", "-c", MOUNTS, "mounts", *command], env=environment).returncode
        if code != 111:
            sys.exit(code)
