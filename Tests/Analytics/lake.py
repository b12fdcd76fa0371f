#!/usr/bin/env python3
"""Compares the tables of a lake with JSON lines: every value of every column, by several readers.

usage: lake.py MESHLEDGER LEDGER LAKE [MORE ARGUMENTS OF export ...]
"""
import json, pathlib, subprocess, sys

from compare import of_arrow, of_duckdb, of_polars, plain, rounded, run, wanted

import deltalake, duckdb, polars, pyarrow.dataset

KIND = "telemetry_"


def subject(table):
    return ["telemetry", "--kind", table[len(KIND):]] if table.startswith(KIND) else [table]


def exported(program, ledger, table, extra):
    """The rows of a table as JSON lines, and its schema: of packets and their receptions by SQL, of all others as exports have them."""
    if table not in ("packets", "receptions"):
        lines = [json.loads(line) for line in run(program, ledger, [*subject(table), *extra, "--format", "jsonl"]).splitlines()]
        return lines, pyarrow.ipc.open_stream(run(program, ledger, [*subject(table), *extra, "--format", "arrow"])).schema
    ask = lambda format: subprocess.run(
        [program, "sql", f"SELECT * FROM {table}", "--format", format, "--ledger", ledger], check=True, capture_output=True).stdout
    schema, lines = pyarrow.ipc.open_stream(ask("arrow")).schema, [json.loads(line) for line in ask("jsonl").splitlines()]
    for line in lines:
        for field in schema:
            value = line[field.name]
            if pyarrow.types.is_boolean(field.type):
                line[field.name] = None if value is None else bool(value)
            elif (field.metadata or {}).get(b"content") == b"JSON" and value is not None:
                line[field.name] = json.loads(value)
    return lines, schema


def lists_as_json(columns, schema):
    """SQL has lists as JSON, the lake as lists."""
    for field in schema:
        values = columns[field.name]
        if (field.metadata or {}).get(b"content") == b"JSON" and any(not isinstance(value, (str, type(None))) for value in values):
            columns[field.name] = [None if value is None else json.dumps(list(value)) for value in values]


def check(program, ledger, lake, more):
    total, tables = 0, set()
    for folder in sorted(path.parent for path in pathlib.Path(lake).glob("*/_delta_log")):
        table = folder.name
        extra = [] if table not in ("positions", "waypoints", "traceroutes", "mapreports") else more
        lines, schema = exported(program, ledger, table, extra)
        files = deltalake.DeltaTable(str(folder)).file_uris()
        readers = {"polars": of_polars(polars.read_delta(str(folder)))}
        if files:
            dataset = pyarrow.dataset.dataset(files, partitioning="hive", partition_base_dir=str(folder))
            readers["pyarrow"] = of_arrow(dataset.to_table())
            database = duckdb.connect()
            database.execute("set timezone = 'UTC'")
            readers["duckdb"] = of_duckdb(database.sql(f"select * from read_parquet({files}, hive_partitioning = true)"))
        for reader, columns in readers.items():
            if len(columns["day"]) != len(lines):
                sys.exit(f"{table}, {reader}: {len(columns['day'])} rows, {len(lines)} lines")
        for reader, columns in readers.items():
            lists_as_json(columns, schema)
            total += match(f"{table}, {reader}", schema, columns, lines)
        tables.add(table)
    missing = {"positions", "nodes", "packets", "receptions", *(() if more else ("events",))} - tables
    if missing or (more and "events" in tables):
        sys.exit(f"tables that should not be so: {missing or 'events'}")
    print(f"{total} values of the lake agree")


def match(what, schema, columns, lines):
    """Days have another order than the view, so rows are compared in the order of their texts."""
    fields = list(schema)
    left = sorted(repr([rounded(wanted(line.get(f.name), f)) for f in fields]) for line in lines)
    right = sorted(repr([rounded(plain(columns[f.name][row], f)) for f in fields]) for row in range(len(lines)))
    for want, have in zip(left, right):
        if want != have:
            sys.exit(f"{what}: {have} is not {want}")
    return len(lines) * len(fields)


check(*sys.argv[1:4], sys.argv[4:])
