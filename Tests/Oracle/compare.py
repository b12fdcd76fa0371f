#!/usr/bin/env python3
"""Compares the rows of fold.py with those that meshledger has, every column of every view.

usage: compare.py ROWS FOLDER     FOLDER holds for each view what `view NAME --archived --raw --format jsonl` writes, as nodes.jsonl; for packets what
`export packet_events` writes, for the quarantine what `quarantine` writes, and what `export events` writes as events.jsonl
Prints each difference (the first twenty) and the number of rows compared; exit status 1 when there is a difference, or a column that is not
compared.
"""
import collections, datetime, json, pathlib, re, struct, sys
from columns import KEYS, VIEWS
from exported import EXPORTS, IDENTITY, PORTS as PORT_NAMES

PORTS = {name: number for number, name in PORT_NAMES.items()}
NODE = {None: 0, "^all": 0xFFFFFFFF}


def node(cell):
    return NODE[cell] if cell in NODE else int(cell[1:], 16)


def seconds(cell):
    return int(datetime.datetime.fromisoformat(cell.replace("Z", "+00:00")).timestamp()) if cell else 0


def single(cell):
    """A number as four bytes hold it; none and what is no number are distinguished."""
    return cell if cell is None or isinstance(cell, str) else struct.unpack("<f", struct.pack("<f", cell))[0]


def thread(cell):
    numbers = [int(number, 16) if part == "!" else int(number) for part, number in re.findall("(!?)([0-9a-f]+)(?=[,)])", cell)]
    return [cell.split("(")[0], *numbers]


def samples(cell):
    return [{**entry, "snr": single(entry["snr"])} for entry in cell or []]


READ = {
    "node": node, "everyone": node, "time": seconds, "float": single, "thread": thread, "nodes": lambda cell: [node(entry) for entry in cell or []],
    "text": lambda cell: cell or "", "bytes": lambda cell: cell or "", "list": lambda cell: cell or [],
    "port": lambda cell: None if cell == "unreadable" else PORTS.get(cell, int(cell) if cell.isdigit() else cell),
    "degrees": lambda cell: cell if cell is None else round(cell * 1e7), "samples": samples,
}
WROTE = {"float": single, "samples": samples, "degrees": lambda value: value if value is None else round(value * 1e7)}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def key(view, row):
    return json.dumps([row[name] for name in KEYS[view]])


class Ours:
    """The rows that meshledger has, by view and key."""

    def __init__(self, folder):
        # Sources are numbered in the order in which they came, unless several came at once: then sources.json has their names by number.
        named = folder / "sources.json"
        names = json.loads(named.read_text()) if named.exists() else list(dict.fromkeys(line["source"] for line in lines(folder / "events.jsonl")))
        self.readers = {**READ, "source": lambda cell: names[cell - 1], "sources": lambda cell: [names[number - 1] for number in cell or []]}
        self.rows, self.problems = {}, []
        for view, columns in VIEWS.items():
            self.rows[view] = {}
            for row in lines(folder / f"{view}.jsonl"):
                if view == "quarantine":
                    row = {"sequence": row["sequence"]}
                elif row.keys() != columns.keys():
                    self.problems.append(f"{view}: columns that are on one side only: {sorted(row.keys() ^ columns.keys())}")
                    break
                row = {name: self.readers.get(kind, lambda cell: cell)(row[name]) for name, kind in columns.items()}
                self.rows[view][key(view, row)] = row


def problems(rows, ours, views=VIEWS):
    """The differences, and how many rows of each view were compared."""
    theirs, found, counts = {view: {} for view in VIEWS}, list(ours.problems), collections.Counter()
    for row in rows:
        kinds = VIEWS[row["view"]]
        read = {name: WROTE[kind](row[name]) if kind in WROTE else row[name] for name, kind in kinds.items()}
        theirs[row["view"]][key(row["view"], read)] = read
    for view in views:
        mine, other = ours.rows[view], theirs[view]
        for place in sorted(mine.keys() ^ other.keys()):
            found.append(f"{view} {place}: only {'meshledger' if place in mine else 'fold.py'} has this row")
        for place in sorted(mine.keys() & other.keys()):
            counts[view] += 1
            for name in VIEWS[view]:
                if mine[place][name] != other[place][name]:
                    found.append(f"{view} {place} {name}: meshledger {mine[place][name]!r}, fold.py {other[place][name]!r}")
    return found, counts


def numbers_alike(mine, other):
    """Whether two values are the same, floats of four bytes as far as these tell them apart; times as seconds or as text."""
    if isinstance(mine, dict) and isinstance(other, dict):
        # What the dissector adds: unknown fields, bytes read as text, numbers that are written though they are 0.
        mine = {name: value for name, value in mine.items() if name in other or "@" not in name and value not in (0, "")}
        return mine.keys() == other.keys() and all(numbers_alike(mine[name], other[name]) for name in mine)
    if isinstance(mine, list) and isinstance(other, list):
        return len(mine) == len(other) and all(map(numbers_alike, mine, other))
    if isinstance(mine, (int, float)) and isinstance(other, (int, float)) and not isinstance(mine, bool):
        return mine == other or single(mine) == single(other)
    if isinstance(mine, str) and isinstance(other, int) and not isinstance(other, bool):
        return mine == str(other) or mine.endswith("Z") and seconds(mine) == other
    if isinstance(other, str) and isinstance(mine, int):
        return other == str(mine)
    return mine == other or (mine is None and other in (0, "NaN", "Infinity", "-Infinity"))


def export_problems(rows, folder):
    """The differences of what `export` writes, where the folder has it as nodes.export.jsonl and so on."""
    found, count = [], 0
    nodes = {row["number"]: row for row in rows if row["view"] == "nodes"}
    for view, made in EXPORTS.items():
        path = folder / f"{view}.export.jsonl"
        if not path.exists():
            continue
        theirs = [made({name: value for name, value in row.items() if name != "view"}, {"nodes": nodes}) for row in rows if row["view"] == view]
        ours = lines(path)
        if len(ours) != len(theirs):
            found.append(f"export of {view}: meshledger has {len(ours)} rows, fold.py {len(theirs)}")
        known = {}
        for row in theirs:
            known.setdefault(identity(row, IDENTITY[view]), []).append(row)
        for row in ours:
            others = known.get(identity(row, IDENTITY[view]), [])
            if not others:
                found.append(f"export of {view}: only meshledger has {row}")
                continue
            other = others.pop()
            count += 1
            if row.keys() != other.keys():
                found.append(f"export of {view}: columns that are on one side only: {sorted(row.keys() ^ other.keys())}")
                break
            found += [f"export of {view} {identity(row, IDENTITY[view])} {name}: meshledger {row[name]!r}, fold.py {other[name]!r}"
                      for name in row if not numbers_alike(row[name], other[name])]
    return found, count


def identity(row, names):
    return tuple(str(row[name]) for name in names)


def main():
    rows, folder = lines(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2])
    found, counts = problems(rows, Ours(folder))
    exports, exported = export_problems(rows, folder)
    found += exports
    print("\n".join(found[:20]))
    indexed = counts.pop("packets", 0)
    print(f"{counts.total()} rows compared, {len(found)} differences; {indexed} events of the index and {exported} exported rows compared")
    sys.exit(bool(found) or counts.total() == 0)


if __name__ == "__main__":
    main()
