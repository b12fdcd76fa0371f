#!/usr/bin/env python3
"""Compares answers of SQL as Arrow and Parquet with the same as JSON lines, as pyarrow, polars, DuckDB and pandas read them.

usage: answers.py MESHLEDGER LEDGER FOLDER
"""
import io, json, math, pathlib, subprocess, sys

import duckdb, pandas, polars, pyarrow as pa, pyarrow.ipc, pyarrow.parquet as pq

from compare import instant

program, ledger, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])

# A statement, and the types that its columns are to have; None for those of the table's export.
ANSWERS = [
    ("SELECT * FROM positions", None),
    ("SELECT * FROM packets", None),
    ("SELECT * FROM nodes", None),
    ("SELECT * FROM events", None),
    ("SELECT * FROM traceroutes", None),
    ("SELECT * FROM telemetry_device", None),
    ("SELECT node AS n, time AS t, snr FROM positions WHERE altitude > 0 ORDER BY time", {"n": "dictionary", "t": "timestamp", "snr": "float"}),
    ("SELECT node, count(*) AS c, avg(latitude) AS a, max(time) AS m FROM positions GROUP BY node",
     {"node": "dictionary", "c": "int64", "a": "double", "m": "int64"}),
    ("SELECT 1 AS i, 1.5 AS f, 'x' AS s, NULL AS n, x'00ff' AS b UNION ALL SELECT 2, 2, 'ü', NULL, x''",
     {"i": "int64", "f": "double", "s": "string", "n": "string", "b": "binary"}),
    ("SELECT 1 AS mixed UNION ALL SELECT 'two' UNION ALL SELECT 2.5 UNION ALL SELECT NULL UNION ALL SELECT x'0a'", {"mixed": "string"}),
    ("SELECT 9007199254740993 AS exact, 9007199254740992 AS real UNION ALL SELECT 1.5, 1.5", {"exact": "string", "real": "double"}),
    ("SELECT a.node, b.node, a.node AS Node FROM nodes a JOIN nodes b ON a.node < b.node", {"node": "dictionary", "node_2": "dictionary", "Node_3": "dictionary"}),
    ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000) SELECT i, CASE WHEN i < 69999 THEN i ELSE i + 0.5 END AS late FROM n",
     {"i": "int64", "late": "double"}),
    ("SELECT node, altitude FROM positions WHERE 0", {"node": "dictionary", "altitude": "int32"}),
    ("SELECT count(*) AS c FROM positions WHERE 0", {"c": "int64"}),
]


def run(*arguments, status=0):
    done = subprocess.run([program, "sql", *arguments, "--ledger", ledger], capture_output=True)
    if done.returncode != status:
        sys.exit(f"{arguments}: {done.returncode} {done.stderr.decode()}")
    return done.stderr.decode() if status else done.stdout


def plain(value, field):
    """A value of a table in the form in which JSON lines have it."""
    if value is None:
        return None
    if pa.types.is_timestamp(field.type):
        return instant(value) / 1e6
    if pa.types.is_boolean(field.type):
        return int(value)
    if pa.types.is_binary(field.type) or isinstance(value, bytes):
        return value.hex()
    if pa.types.is_float32(field.type):
        return float(str(pa.scalar(value, pa.float32()).as_py())) if not math.isfinite(value) else float(f"{value:.9g}")
    return value


def same(want, have, field):
    if isinstance(want, (int, float)) and isinstance(have, (int, float)):
        return want == have or math.isclose(want, have, rel_tol=1e-6 if pa.types.is_float32(field.type) else 1e-15)
    return (str(want) if isinstance(have, str) and want is not None else want) == have


total = 0
for number, (statement, types) in enumerate(ANSWERS):
    lines = [json.loads(line, object_pairs_hook=list) for line in run(statement, "--format", "jsonl").splitlines()]
    arrow, parquet = folder / f"{number}.arrow", folder / f"{number}.parquet"
    run(statement, "--format", "arrow", "--output", arrow)
    run(statement, "--format", "parquet", "--output", parquet)
    stream = pa.ipc.open_stream(run(statement, "--format", "arrow")).read_all()
    read = {"stream": stream, "file": pa.ipc.open_file(arrow).read_all(), "parquet": pq.read_table(parquet),
            "parquet by a pipe": pq.read_table(io.BytesIO(run(statement, "--format", "parquet"))), "polars": polars.read_parquet(parquet).to_arrow(),
            "DuckDB": duckdb.sql(f"SET TimeZone = 'UTC'; SELECT * FROM '{parquet}'").to_arrow_table(),
            "pandas": pa.Table.from_pandas(pandas.read_parquet(parquet, dtype_backend="pyarrow"), preserve_index=False)}
    for name, type in (types or {}).items():
        if not str(stream.schema.field(name).type).startswith(type):
            sys.exit(f"{statement}: {name} is {stream.schema.field(name).type}, not {type}")
    if types is None and "*" in statement and any(not (field.metadata or {}) for field in stream.schema if field.name in ("snr", "altitude")):
        sys.exit(f"{statement}: units are lost")
    for reader, table in read.items():
        if "geometry" in table.column_names and "geometry" not in stream.column_names:
            table = table.drop_columns(["geometry"])
        if len(table) != len(lines) or table.num_columns != stream.num_columns:
            sys.exit(f"{statement}, {reader}: {table.num_columns} columns and {len(table)} rows, {stream.num_columns} and {len(lines)}")
        for place, field in enumerate(stream.schema):
            for row, value in enumerate(table.column(place).to_pylist()):
                want, have = lines[row][place][1], plain(value, field)
                if isinstance(have, str) and not isinstance(want, str) and want is not None:
                    have = json.loads(have)
                if not same(want, have, field):
                    sys.exit(f"{statement}, {reader}: row {row}, {field.name}: {have!r} is not {want!r}")
                total += 1

for statements in ("SELECT 1 AS a; SELECT 2 AS b",):
    said = run(statements, "--format", "parquet", "--output", folder / "two.parquet", status=64)
    if "one statement" not in said:
        sys.exit(said)
for statement in ("SELECT snr FROM positions UNION ALL SELECT 0.12345678901", "SELECT latitude FROM positions UNION ALL SELECT 9007199254740993"):
    said = run(statement, "--format", "arrow", "--output", folder / "digits.arrow", status=64)
    if "write it as an expression" not in said:
        sys.exit(said)
untouched = folder / "kept.parquet"
untouched.write_text("kept")
run("SELEC", "--format", "parquet", "--output", untouched, status=64)
if untouched.read_text() != "kept":
    sys.exit("a wrong statement has emptied a file")
run("SELECT 1 AS a; SELECT 2 AS b", "--format", "jsonl", "--output", folder / "two.jsonl")
if (folder / "two.jsonl").read_text() != '{"a":1}\n{"b":2}\n':
    sys.exit("two answers are not in one file")
print(f"{total} values of answers agree")
