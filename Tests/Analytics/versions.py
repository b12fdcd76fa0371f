#!/usr/bin/env python3
"""Reads a Delta table of many versions, of which most commits are gone: what checkpoints say.

usage: versions.py TABLE VERSION FILES
"""
import pathlib, sys

import deltalake

path, version, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
table = deltalake.DeltaTable(path)
if table.version() != version:
    sys.exit(f"version {table.version()} is not {version}")
if len(table.file_uris()) != files:
    sys.exit(f"{len(table.file_uris())} files are not {files}")
if table.metadata().partition_columns != ["day"] or table.metadata().name != "things":
    sys.exit(f"{table.metadata()}")
if [field.name for field in table.schema().fields] != ["number", "text", "day"]:
    sys.exit(f"{table.schema()}")
added = table.get_add_actions(flatten=True)
rows, days = ({value.as_py() for value in added.column(name)} for name in ("num_records", "partition.day"))
if rows != {3}:
    sys.exit(f"rows {rows}")
if None not in days or len(days) != files:
    sys.exit(f"days {days}")
commits = sorted(path.name for path in pathlib.Path(path, "_delta_log").glob("*.json"))
older = deltalake.DeltaTable(path, version=version - 1)
if len(older.file_uris()) != files:
    sys.exit("the version before is not to be had")
print(f"version {version} of {files} files is read; {len(commits)} commits are left")
