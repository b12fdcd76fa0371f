#!/usr/bin/env python3
"""Random histories, folded by meshledger and by fold.py: see Tools/prove folds.

usage: histories.py [count=1000] [seed=…] [jobs=2] [keep=FOLDER]     with $MESHLEDGER_DAMAGELAB and $MESHLEDGER_PROGRAM
A history without chosen caps is also folded as of one of its events, and as of a time of the mesh.
"""
import concurrent.futures, json, os, pathlib, random, shutil, subprocess, sys, tempfile
from random import Random
from typing import NamedTuple
import compare, fold, generate, past
from columns import VIEWS

SMALL = {"nodes": 40, "positions": 12, "telemetry": 6, "messages": 20, "waypoints": 6, "traceRoutes": 12, "links": 30, "gateways": 4,
         "gatewayNodes": 20, "mapReports": 6, "sensors": 4, "nodeHistory": 4, "radios": 3, "favorites": 20}


def plan(seed):
    """What is generated, and under which caps it is folded."""
    draw = Random(seed)
    options = {"seed": seed, "packets": draw.randint(20, 260), "nodes": draw.randint(5, 25), "hostile": draw.choice([0, 5, 15, 40]),
               "live": draw.choice([0, 30, 100]), "mixed": draw.choice([0, 1])}
    chosen = {}
    if draw.random() < 0.6:
        chosen = {name: draw.randint(1, most) for name, most in SMALL.items() if draw.random() < 0.7}
        chosen["nodes"] = max(5, chosen.get("nodes", 40))
        # That of hardware follows.
        chosen["hardware"] = 2 * chosen["nodes"]
    if draw.random() < 0.2:
        chosen["within"] = 700
    if draw.random() < 0.2:
        chosen["reducedLatest"] = 1
    return options, chosen, draw.random() < 0.8


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)[:200]}: {done.returncode} {done.stderr[-800:]}")
    return done.stdout


def dump(folder, ledger, *moment):
    """What compare.py reads of a ledger, as of a moment if one is given."""
    program = os.environ["MESHLEDGER_PROGRAM"]
    folder.mkdir(exist_ok=True)
    for view in VIEWS:
        words = {"packets": ["export", "packet_events"], "quarantine": ["quarantine"]}.get(view, ["view", view, "--archived", "--raw"])
        (folder / f"{view}.jsonl").write_text(run(program, *words, "--ledger", str(ledger), "--format", "jsonl", *moment))
    (folder / "events.jsonl").write_text(run(program, "export", "events", "--ledger", str(ledger), "--format", "jsonl", *moment))
    (folder / "listed.csv").write_text(run(program, "events", "--columns", "sequence", "--ledger", str(ledger), "--format", "csv", *moment))


def history(seed, folder):
    """The differences of one history, and how many rows it had."""
    options, chosen, has_keys = plan(seed)
    folder = pathlib.Path(folder)
    events, ledger = folder / "made.jsonl", folder / "mesh.ledger"
    keys = generate.make("events", events, options) if has_keys else generate.make("events", events, options)[:0]
    (folder / "keys").write_text("\n".join(keys))
    words = [os.environ["MESHLEDGER_DAMAGELAB"], "folded-ledger", f"events={events}", f"ledger={ledger}", f"keys={folder / 'keys'}",
             *(f"{name}={number}" for name, number in chosen.items())]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        if writer.stdout.readline() != "ready\n":
            raise RuntimeError(f"{' '.join(words)[:200]}: {writer.stderr.read()[-800:]}")
        dump(folder, ledger)
        earlier = [] if chosen else moments(seed, events_of(folder))
        for moment in earlier:
            dump(folder / moment.name, ledger, "--as-of", moment.text)  # with the caps that the program has
        writer.communicate()
    if writer.returncode:
        raise RuntimeError(f"{' '.join(words)[:200]}: {writer.returncode}")
    found, count = differences(folder, folder / "events.jsonl", keys, chosen)
    for moment in earlier:
        more, compared = differences_then(folder, moment, keys)
        found, count = found + more, count + compared
    return found + misplaced(events_of(folder), folder), count


class Moment(NamedTuple):
    """As of what a ledger is asked, and the events that count then."""
    name: str
    text: str
    events: list


def moments(seed, events):
    draw = Random(seed)
    last = draw.randint(1, len(events))
    time = past.chosen(draw, events)
    return [Moment("event", str(last), events[:last]), Moment("time", past.text_of(time), past.heard_by(events, time))]


def events_of(folder):
    return [line for line in (folder / "events.jsonl").read_text(encoding="utf-8").split("\n") if line]


def differences(folder, events, keys, chosen):
    found, counts = compare.problems(fold.rows_of(events, keys, chosen), compare.Ours(folder))
    return found, counts.total()


def differences_then(folder, moment, keys):
    """As of a moment: the fold has the events of the whole log that count, not those that the program says."""
    then = folder / moment.name
    whole = [json.loads(line) for line in events_of(folder)]
    (then / "sources.json").write_text(json.dumps(list(dict.fromkeys(event["source"] for event in whole))))
    (then / "counting.jsonl").write_text("".join(line + "\n" for line in moment.events), encoding="utf-8")
    found, count = differences(then, then / "counting.jsonl", keys, {})
    found = events_apart(moment.events, events_of(then)) + misplaced(moment.events, then) + found
    return [f"as of {moment.name} {moment.text}: {difference}" for difference in found], count


def events_apart(counting, exported):
    if counting == exported:
        return []
    fold, program = ([json.loads(line)["sequence"] for line in lines] for lines in (counting, exported))
    return [f"events: only meshledger exports {sorted({*program} - {*fold})}, only fold.py counts {sorted({*fold} - {*program})}"]


def misplaced(counting, folder):
    """Where the list of events, the newest first, is not in the order in which they were heard."""
    listed = [int(line) for line in (folder / "listed.csv").read_text().split()[1:]]
    expected = past.newest_first(counting)
    return [] if listed == expected else [f"list of events: meshledger {listed}, fold.py {expected}"]


def tried(seed, keep):
    with tempfile.TemporaryDirectory() as folder:
        try:
            found, count = history(seed, folder)
        except Exception as error:
            found, count = [f"{type(error).__name__}: {error}"], 0
        if found and keep:
            shutil.copytree(folder, pathlib.Path(keep) / str(seed), dirs_exist_ok=True)
        return seed, found, count


def main():
    options = {"count": "1000", "seed": str(random.SystemRandom().randrange(1 << 32)), "jobs": "2", "keep": ""}
    options |= dict(entry.split("=", 1) for entry in sys.argv[1:])
    first, count = int(options["seed"]), int(options["count"])
    differing, rows = [], 0
    with concurrent.futures.ProcessPoolExecutor(int(options["jobs"])) as pool:
        for seed, found, compared in pool.map(tried, range(first, first + count), [options["keep"]] * count):
            rows += compared
            if found:
                differing.append(seed)
                print(f"seed={seed}: {len(found)} differences\n  " + "\n  ".join(found[:6]), flush=True)
    print(f"{count} histories from seed={first}, {rows} rows compared in every column, {len(differing)} histories differ"
          + "".join(f"; seed={seed} count=1 repeats it" for seed in differing[:3]))
    sys.exit(bool(differing) or not rows)


if __name__ == "__main__":
    main()
