#!/usr/bin/env python3
"""A lake through a late key, an erasure, kills at random moments and a run that follows the ledger, as Delta readers see it.

usage: life.py MESHLEDGER FOLDER KILLS SEED
"""
import json, pathlib, random, signal, subprocess, sys, time

import deltalake, polars

program, folder, kills, seed = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
print("seed", seed)
choose = random.Random(seed)
ledger, lake = str(folder / "life.ledger"), folder / "lake"


def run(*arguments, status=0):
    done = subprocess.run([program, *arguments, "--ledger", ledger], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{arguments}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stdout


def tables():
    return sorted(path.parent.name for path in lake.glob("*/_delta_log") if list(path.glob("*.json")))


def rows(table, at=lake, version=None):
    frame = polars.read_delta(str(at / table), version=version)
    return sorted(repr(row) for row in frame.iter_rows())


def by_day(table):
    """The rows and the files of each day."""
    frame, found = polars.read_delta(str(lake / table)), {}
    for row in frame.iter_rows(named=True):
        found.setdefault(str(row["day"]), []).append(repr(row))
    files = {}
    for uri in deltalake.DeltaTable(str(lake / table)).file_uris():
        day, name = uri.split("/")[-2:]
        files.setdefault(day.removeprefix("day=").replace("__HIVE_DEFAULT_PARTITION__", "None"), set()).add(name)
    return {day: (sorted(rows), files.get(day)) for day, rows in found.items()}


def bytes_of(name):
    return [str(path) for path in lake.rglob("*") if path.is_file() and name in path.read_bytes()]


def plain(value):
    """Whether any Parquet file of the lake has the text: read by a reader, for pages are compressed."""
    found = []
    for path in lake.rglob("*.parquet"):
        frame = polars.read_parquet(path)
        if any(value in repr(row) for row in frame.iter_rows()):
            found.append(str(path))
    return found


subprocess.run([program, "init", ledger], check=True, capture_output=True)
for day in range(4):
    run("simulate", "--seed", str(seed % 1000 + day), "--nodes", "12", "--packets", "250", "--start", f"2026-03-0{day + 1}T10:00:00Z")

# A first run, and one that has nothing to do.
run("lake", "write", str(lake))
first = {table: rows(table) for table in tables()}
before = {table: deltalake.DeltaTable(str(lake / table)).version() for table in tables()}
run("lake", "write", str(lake))
for table in tables():
    if deltalake.DeltaTable(str(lake / table)).version() != before[table] and table != "waypoints":
        sys.exit(f"{table} has a new version of nothing new")
run("lake", "verify", str(lake))

# A later day touches no earlier one of a table that only grows.
run("simulate", "--seed", "77", "--nodes", "12", "--packets", "200", "--start", "2026-03-07T10:00:00Z")
days = set(deltalake.DeltaTable(str(lake / "positions")).file_uris())
run("lake", "write", str(lake))
after = set(deltalake.DeltaTable(str(lake / "positions")).file_uris())
if not days < after:
    sys.exit(f"days of positions were written again: {sorted(days - after)}")
print("a later day left", len(days), "files of positions as they were")

# A key that comes late: exactly the days whose rows it changes are written again, and listed.
old = {table: by_day(table) for table in tables()}
run("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
said = run("lake", "write", str(lake)).splitlines()
touched = {}
for table in tables():
    new = by_day(table)
    for day in new.keys() | old[table].keys():
        (before_rows, before_files), (after_rows, after_files) = old[table].get(day, ([], None)), new.get(day, ([], None))
        if (before_rows != after_rows) != (before_files != after_files):
            sys.exit(f"{table}, {day}: rows and files did not change together")
        if before_rows != after_rows:
            touched.setdefault(table, set()).add(day)
for table, days in touched.items():
    line = next((line for line in said if line.startswith(table + ":")), "")
    if len(days) <= 5 and not all(day in line.replace("__HIVE_DEFAULT_PARTITION__", "None") for day in days):
        sys.exit(f"{table}: {sorted(days)} are not in {line!r}")
if "packets" not in touched or "events" in touched:
    sys.exit(f"a key opens packets, and leaves events as they are: {touched}")
print("after a late key:", {table: len(days) for table, days in sorted(touched.items())})
run("lake", "verify", str(lake))
if rows("positions", version=0) != first["positions"]:
    sys.exit("the history of positions is not as it was")

# An erasure: nothing of the node's own is left, in any file of any version.
nodes = [json.loads(line) for line in run("nodes", "--format", "jsonl", "--where", "state=introduced").splitlines()]
node = next(node for node in nodes if sum(node["long_name"] in other["long_name"] for other in nodes) == 1)
name = node["long_name"]
if not plain(name):
    sys.exit(f"{name} is in no file")
payloads = {row["sequence"]: row["payload_b64"] for row in polars.read_delta(str(lake / "events")).iter_rows(named=True)}
run("erase", "--node", node["node"], "--reason", "a test", "--yes")
run("lake", "write", str(lake))
if left := plain(name):
    sys.exit(f"{name} is left in {left}")
if left := bytes_of(name.encode()):
    sys.exit(f"{name} is left in {left}")
erased = [row["sequence"] for row in polars.read_delta(str(lake / "events")).iter_rows(named=True) if row["erased"]]
gone = {payloads[sequence] for sequence in erased}
for path in lake.rglob("*.parquet"):
    frame = polars.read_parquet(path)
    if "payload_b64" in frame.columns and gone & set(frame["payload_b64"]):
        sys.exit(f"the payload of an erased event is left in {path}")
if not erased:
    sys.exit("no event is erased")
run("lake", "verify", str(lake))
print("erased:", name, "in", len(erased), "events")

# What is there, but cannot be read, is not taken for missing.
manifest, aside = lake / "manifest.json", folder / "aside"
manifest.rename(aside)
manifest.mkdir()
for command in ("write", "verify"):
    done = subprocess.run([program, "lake", command, str(lake), "--ledger", ledger], capture_output=True, text=True)
    if done.returncode == 0 or "manifest.json" not in done.stderr:
        sys.exit(f"lake {command} with an unreadable manifest: {done}")
manifest.rmdir()
aside.rename(manifest)
part = pathlib.Path(deltalake.DeltaTable(str(lake / "positions")).file_uris()[0].removeprefix("file://"))
part.rename(aside)
part.mkdir()
done = subprocess.run([program, "lake", "verify", str(lake), "--ledger", ledger], capture_output=True, text=True)
if done.returncode == 0 or f"{part.name} cannot be read" not in done.stdout:
    sys.exit(f"lake verify with an unreadable file: {done}")
part.rmdir()
aside.rename(part)
run("lake", "verify", str(lake))

# Kills: each reader sees a whole old or a whole new version.
started = time.monotonic()
run("lake", "write", str(folder / "timed"))
length = time.monotonic() - started
seen = 0
for turn in range(kills):
    if turn % 2 == 0:
        run("simulate", "--seed", str(seed % 1000 + 100 + turn), "--nodes", "12", "--packets", "60", "--start", f"2026-03-{10 + turn % 15:02}T10:00:00Z")
    old = {table: rows(table) for table in tables()}
    process = subprocess.Popen([program, "lake", "write", str(lake), "--ledger", ledger], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(choose.random() * length)
    process.kill()
    process.wait()
    killed = {table: rows(table) for table in tables()}
    new = folder / f"new-{turn}"
    run("lake", "write", str(new))
    for table, found in killed.items():
        if found != old.get(table) and found != rows(table, new):
            sys.exit(f"turn {turn}: {table} is neither old nor new")
        seen += found != old.get(table)
    subprocess.run(["rm", "-r", str(new)], check=True)
run("lake", "write", str(lake))
run("lake", "verify", str(lake))
at_once = folder / "at-once"
run("lake", "write", str(at_once))
for table in tables():
    if rows(table) != rows(table, at_once):
        sys.exit(f"{table} is not as one made at once")
if left := [str(path) for path in lake.rglob("*.tmp")]:
    sys.exit(f"left over: {left}")

# A run that follows the ledger writes what comes, and ends whole.
process = subprocess.Popen([program, "lake", "write", str(lake), "--follow", "--every", "1", "--ledger", ledger], stdout=subprocess.PIPE, text=True)
run("simulate", "--seed", "99", "--nodes", "12", "--packets", "60", "--start", "2026-04-20T10:00:00Z")
head = int(run("sql", "SELECT count(*) FROM events", "--format", "csv").splitlines()[1])
deadline = time.monotonic() + 120
while len(polars.read_delta(str(lake / "events"))) < head or len(rows("packets")) < len(rows("packets", at_once)) + 1:
    if time.monotonic() > deadline or process.poll() is not None:
        process.kill()
        sys.exit(f"the lake does not follow the ledger: {process.stdout.read()}")
    time.sleep(0.2)
process.send_signal(signal.SIGTERM)
if process.wait(60) != 0:
    sys.exit(f"SIGTERM ended it with {process.returncode}")
run("lake", "write", str(lake))
run("lake", "verify", str(lake))
print("followed to event", head)
print(f"{kills} kills, after which {seen} tables were new already")
