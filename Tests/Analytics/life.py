#!/usr/bin/env python3
"""A lake through a late key, an erasure and kills at random moments, as Delta readers see it.

usage: life.py MESHLEDGER FOLDER KILLS SEED
"""
import json, pathlib, random, subprocess, sys, time

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

# A key that comes late: only days with packets of its channel change.
said = run("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
said = run("lake", "write", str(lake))
print("after a late key:", [line for line in said.splitlines() if "version" in line])
run("lake", "verify", str(lake))
if rows("positions", version=0) != first["positions"]:
    sys.exit("the history of positions is not as it was")

# An erasure: nothing of the node's own is left, in any file of any version.
node = json.loads(run("nodes", "--format", "jsonl", "--where", "state=introduced", "--limit", "1").splitlines()[0])
name = node["long_name"]
if not plain(name):
    sys.exit(f"{name} is in no file")
run("erase", "--node", node["node"], "--reason", "a test", "--yes")
run("lake", "write", str(lake))
if left := plain(name):
    sys.exit(f"{name} is left in {left}")
if left := bytes_of(name.encode()):
    sys.exit(f"{name} is left in {left}")
run("lake", "verify", str(lake))
print("erased:", name)

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
print(f"{kills} kills, after which {seen} tables were new already")
