"""Links, FIFOs, sockets, folders, empty files, junk and single bits in place of each file: no command hangs, writes elsewhere or loses an event."""
import base64, json, os, re, shutil, socket

SHARE = 2
KINDS = ("link", "dangling link", "hard link", "FIFO", "socket", "folder", "empty", "junk", "a bit", "a half")
# Files that do not exist now, but whose place something can take.
ABSENT = (
    "log/current.new", "control.sock", "limit", "limit.new", "retention.new", "consumers/other.lock", "consumers/other", "keys.json", "keys.json.new",
    "checkpoints", "views/nodes/current.new", "views/nodes/kept", "views/nodes/pinned", "baselines/building", "log/99", "views/erased.new")
SECONDS_OF_A_COMMAND = 40


def commands(part):
    place = part.folder / "made"
    return [
        ("nodes",), ("messages", "--limit", 3), ("events", "--limit", 3), ("verify",), ("stats",), ("seal",), ("compact",), ("node", "favorite", "!5a000001"),
        ("consumers",), ("follow", "--consumer", "other", "--no-follow"), ("limit", "5GB"), ("retain", "--policy", "--older-than", "900d"), ("rebuild", "nodes"),
        ("nodes", "--as-of", 100), ("export", "--format", "ledger", place), ("backup", part.folder / "backup"), ("keys",), ("erase", "--sequence", 3, "--yes"),
        ("checkpoint",), ("salvage", part.folder / "odd", part.folder / "salvaged"), ("import", "--format", "mqtt-json", part.folder / "more.jsonl"), ("retain", "--larger-than", "20KB", "--yes")]


def run(part):
    from ledgers import Ledger
    model = Ledger(part, "model")
    model.add(600)
    for arguments in (
            ("seal",), ("nodes", "--as-of", 300), ("follow", "--consumer", "reader", "--no-follow"), ("retain", "--policy", "--older-than", "900d"),
            ("checkpoint",), ("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), ("retain", "--larger-than", "40KB", "--yes")):
        model.command(*arguments)
    model.add(50)
    (part.folder / "more.jsonl").write_text("".join(model.message()[2] + "\n" for _ in range(3)))
    held = {payload for _, payload in model.events() or []}
    files = sorted(str(path.relative_to(model.path)) for path in model.path.rglob("*") if path.is_file())
    views = [name for name in files if name.startswith(("views/", "baselines/")) and "/nodes/" not in name and "/messages/" not in name]
    files = [name for name in files if name not in views] + views[:2]
    chances = [(name, kind) for name in (*files, *ABSENT) for kind in KINDS]
    part.random.shuffle(chances)
    while part.goes_on():
        for name, kind in chances:
            if not part.goes_on(): break
            try_one(part, model, name, kind, held)


def put(part, place, kind, outside):
    """Puts something of that kind at the place; false if the file is missing or too small to be damaged."""
    old = place.read_bytes() if place.is_file() else None
    if kind in ("a bit", "a half") and not old: return False
    place.parent.mkdir(parents=True, exist_ok=True)
    if old is not None: place.unlink()
    if kind == "link": place.symlink_to(outside / "canary")
    elif kind == "hard link": os.link(outside / "canary", place)
    elif kind == "dangling link": place.symlink_to(outside / "made-by-nobody")
    elif kind == "FIFO": os.mkfifo(place)
    elif kind == "folder":
        (place / "inner").mkdir(parents=True)
        (place / "inner" / "kept").write_text("of somebody else")
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(place.parent)  # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as made: made.bind(place.name)
        os.chdir(here)
    elif kind == "empty": place.touch()
    elif kind == "junk": place.write_bytes(part.random.randbytes(part.random.choice((1, 100, 4096, 70_000))))
    elif kind == "a half": place.write_bytes(old[:len(old) // 2])
    else:
        damaged = bytearray(old)
        damaged[part.random.randrange(min(len(old), 1 << 14))] ^= 1 << part.random.randrange(8)
        place.write_bytes(damaged)
    return True


def try_one(part, model, name, kind, held):
    ledger, outside, old = part.folder / "odd", part.folder / "outside", part.folder / "old"
    for folder in (ledger, outside, part.folder / "backup", part.folder / "salvaged"): shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(model.path, ledger)
    outside.mkdir()
    (outside / "canary").write_text("not of this ledger")
    place = ledger / name
    if place.is_file(): shutil.copy2(place, old)
    was_there = place.is_file()
    if not put(part, place, kind, outside): return
    what, may_be_less = f"with {kind} as {general(name)}", False
    for arguments in part.random.sample(commands(part), 3):
        of_ledger = () if arguments[0] == "salvage" else ("--ledger", ledger)
        ended = part.command(*arguments, *of_ledger, limit=SECONDS_OF_A_COMMAND)
        if arguments[0] == "salvage" and ended.status == 64: part.finding(f"the campaign itself: {ended.last_line}", ended.line)
        where = f"{what}: {ended.line}"
        if (outside / "canary").read_text() != "not of this ledger":
            part.finding(f"{what}, {arguments[0]} writes through it", where)
            (outside / "canary").write_text("not of this ledger")
        others = [path.name for path in outside.iterdir() if path.name != "canary"]
        if others:
            part.finding(f"{what}, {arguments[0]} makes {', '.join(others)} outside of the ledger", where)
            for other in others: (outside / other).unlink()
        if kind == "folder" and place.parent.exists() and name != "baselines/building" and not (place / "inner" / "kept").exists():
            part.finding(f"{what}, {arguments[0]} deletes a folder of somebody else", where)
        if arguments[0] == "erase" or "20KB" in arguments: may_be_less = may_be_less or ended.is_done
    put_back(place, old if was_there else None)
    ended = part.command("export", "events", "--format", "jsonl", "--ledger", ledger, limit=SECONDS_OF_A_COMMAND)
    last = f"{what}, and the file put back: {ended.line}"
    if not ended.is_done:
        return part.finding(f"{what}, then put back, the events cannot be read: {ended.last_line}", last)
    left = held - {base64.b64decode(json.loads(line).get("payload_b64") or "") for line in ended.output.splitlines()}
    if left and not may_be_less: part.finding(f"{what}, then put back, {len(left)} of {len(held)} events are missing", last)


def put_back(place, old):
    """Restores the file if its folder still exists: a generation that was written since then has its own."""
    if place.is_dir() and not place.is_symlink(): shutil.rmtree(place)
    elif place.is_symlink() or place.exists(): place.unlink()
    if old and place.parent.is_dir(): shutil.copy2(old, place)


def general(name):
    """Without the recipe, so that one fault is one finding."""
    return re.sub(r"v\d+-[0-9a-f]+", "RECIPE", name)
