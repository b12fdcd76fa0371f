#!/usr/bin/env python3
"""Compares hostile values that a test wrote with what readers make of them.

usage: hostile.py FOLDER    with NAME.arrows, NAME.arrow, NAME.parquet and NAME.jsonl for each table
"""
import json, pathlib, struct, sys

import duckdb, pandas, polars, pyarrow as pa, pyarrow.ipc, pyarrow.parquet as pq


def exact(value):
    """Numbers by their bits, so that NaN and the two zeros are distinguished."""
    if isinstance(value, float):
        return "nan" if value != value else struct.pack(">d", value).hex()
    if isinstance(value, list):
        return [exact(each) for each in value]
    return value


def wanted(value, type):
    if value is None:
        return None
    if pa.types.is_floating(type):
        return exact(float(value))  # texts, for JSON has no NaN
    return value


count = 0
for lines in sorted(pathlib.Path(sys.argv[1]).glob("*.jsonl")):
    base = str(lines)[: -len(".jsonl")]
    rows = [json.loads(line) for line in lines.read_text().split("\n") if line]
    stream = pa.ipc.open_stream(pathlib.Path(base + ".arrows").read_bytes()).read_all()
    filed = pa.ipc.open_file(base + ".arrow").read_all()
    parquet = pq.read_table(base + ".parquet")
    for table in (stream, filed, parquet):
        table.validate(full=True)
    database = duckdb.connect()
    database.execute("set timezone = 'UTC'")
    relation = database.sql(f"select * from read_parquet('{base}.parquet')")
    found = relation.fetchall()
    readers = {
        "pyarrow stream": {name: stream.column(name).to_pylist() for name in stream.column_names},
        "pyarrow file": {name: filed.column(name).to_pylist() for name in filed.column_names},
        "pyarrow parquet": {name: parquet.column(name).to_pylist() for name in parquet.column_names},
        "duckdb": {column[0]: [row[place] for row in found] for place, column in enumerate(relation.description)},
    }
    for what, frame in (
        ("polars stream", polars.read_ipc_stream(base + ".arrows")), ("polars file", polars.read_ipc(base + ".arrow")),
        ("polars parquet", polars.read_parquet(base + ".parquet")),
    ):
        readers[what] = {name: frame[name].to_list() for name in frame.columns}
    frame = pandas.read_parquet(base + ".parquet", dtype_backend="pyarrow")
    if list(frame.columns) != stream.column_names or len(frame) != len(rows):
        sys.exit(f"{base}: pandas has {len(frame)} rows of {len(frame.columns)} columns")
    for what, columns in readers.items():
        for field in stream.schema:
            if len(columns[field.name]) != len(rows):
                sys.exit(f"{base}, {what}: {field.name} has {len(columns[field.name])} values, not {len(rows)}")
            for row, value in zip(rows, columns[field.name]):
                want = wanted(row.get(field.name), field.type)
                if exact(value) != want:
                    sys.exit(f"{base}, {what}: {field.name}: {value!r:.200} is not {row.get(field.name)!r:.200}")
                count += 1
    # Bounds hold for every value that can be compared.
    file = pq.ParquetFile(base + ".parquet")
    metadata = file.metadata
    for group in range(metadata.num_row_groups):
        rows_of_group = file.read_row_group(group)
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            bounds = column.statistics
            if bounds is not None and bounds.has_min_max and column.path_in_schema in parquet.column_names:
                values = [v for v in rows_of_group.column(column.path_in_schema).to_pylist() if v is not None and v == v]
                if values and (min(values) < bounds.min or max(values) > bounds.max):
                    sys.exit(f"{base}: {column.path_in_schema} is outside of its bounds")
print(f"{count} hostile values agree")
