#!/usr/bin/env python3
"""Reads a Delta table of messages, and says if a reader of Delta finds as many rows as there are, with their texts, under the day of their time.

usage: rows.py TABLE ROWS
"""
import os, sys

import deltalake

table = deltalake.DeltaTable(sys.argv[1]).to_pyarrow_table().to_pylist()
if len(table) != int(sys.argv[2]):
    sys.exit(f"{len(table)} rows are not {sys.argv[2]}")
for row in table:
    if not row["text"] or row["time"].date() != row["day"]:
        sys.exit(f"{row['text']!r} of {row['time']} is under {row['day']}")
print(f"{len(table)} rows are read", flush=True)
os._exit(0)  # a thread of the reader that still ends sometimes aborts the interpreter's own end
