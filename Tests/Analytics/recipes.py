#!/usr/bin/env python3
"""Runs each recipe of an article as SQL, with DuckDB and with polars, and compares the answers.

usage: recipes.py MESHLEDGER FOLDER ARTICLE
A recipe is a section with a block of sql, and two of python, which leave their rows in `answer`. FOLDER has mesh.ledger and a lake of it.
"""
import json, math, os, re, subprocess, sys

program, folder, article = sys.argv[1:]
os.chdir(folder)


def rows(answer):
    """Of a relation of DuckDB or a frame of polars."""
    if hasattr(answer, "fetchall"):
        return answer.columns, [tuple(row) for row in answer.fetchall()]
    return answer.columns, answer.rows()


def plain(value):
    if isinstance(value, bool):
        return int(value)
    return value if value is None or isinstance(value, (int, float, str)) else str(value)


def same(left, right):
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
    return left == right


count = 0
for section in re.split(r"^## ", open(article).read(), flags=re.M)[1:]:
    title = section.splitlines()[0]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", section, flags=re.M | re.S)
    sql = [text for kind, text in blocks if kind == "sql"]
    if not sql:
        continue
    done = subprocess.run([program, "sql", sql[0], "--format", "jsonl", "--ledger", "mesh.ledger"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{title}: {done.stderr}")
    wanted = [json.loads(line) for line in done.stdout.splitlines()]
    if len(wanted) < 2:
        sys.exit(f"{title}: only {len(wanted)} rows")
    pythons = [text for kind, text in blocks if kind == "python"]
    if len(pythons) != 2:
        sys.exit(f"{title}: {len(pythons)} blocks of python")
    for text in pythons:
        library = "DuckDB" if "duckdb" in text else "polars"
        names = {}
        exec(compile(text, f"{title}, {library}", "exec"), names)
        columns, found = rows(names["answer"])
        if columns != list(wanted[0]) or len(found) != len(wanted):
            sys.exit(f"{title}, {library}: {columns} and {len(found)} rows, not {list(wanted[0])} and {len(wanted)}")
        for number, (row, line) in enumerate(zip(found, wanted)):
            for value, want in zip(map(plain, row), line.values()):
                if not same(value, want):
                    sys.exit(f"{title}, {library}: row {number} is {row}, not {line}")
    count += 1
    print(f"{title}: {len(wanted)} rows")
print(f"{count} recipes agree")
