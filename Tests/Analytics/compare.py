#!/usr/bin/env python3
"""Compares exports in formats for columns with JSON lines: every value of every column, by several readers.

usage: compare.py MESHLEDGER LEDGER FOLDER [SUBJECT ...]
"""
import base64, datetime, json, math, pathlib, subprocess, sys

import duckdb, geopandas, pandas, polars, pyarrow as pa, pyarrow.feather, pyarrow.ipc, pyarrow.parquet as pq

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
SECOND = datetime.timedelta(seconds=1)


def run(program, ledger, arguments):
    done = subprocess.run([program, "export", *arguments, "--ledger", ledger], capture_output=True)
    if done.returncode:
        sys.exit(f"export {arguments}: {done.stderr.decode()}")
    return done.stdout


def is_float(type):
    return pa.types.is_floating(type)


def instant(value):
    """Microseconds since 1970 of a time as any reader or JSON has it."""
    if isinstance(value, (int, float)):  # SQL's seconds
        return round(value * 1_000_000)
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.timezone.utc)
    return (value - EPOCH) // datetime.timedelta(microseconds=1)


def wanted(value, field):
    """A value of JSON lines in the column's type."""
    if value is None:
        return None
    if pa.types.is_timestamp(field.type):
        return instant(value)
    if pa.types.is_float32(field.type):
        return float(pa.scalar(value, pa.float32()).as_py())
    if (field.metadata or {}).get(b"content") == b"JSON":
        return value
    if pa.types.is_string(field.type) or pa.types.is_dictionary(field.type):
        return value if isinstance(value, str) else str(value)
    return value


def rounded(value):
    """Numbers within JSON texts are written in the shortest form of their type."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, list):
        return [rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return value


def plain(value, field):
    """A value that a reader gave, in the form of `wanted`."""
    if value is None or value is pandas.NaT or value is pandas.NA:
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    if pa.types.is_timestamp(field.type):
        return instant(value.to_pydatetime() if isinstance(value, pandas.Timestamp) else value)
    if is_float(field.type):
        value = float(value)
        return None if not math.isfinite(value) else value
    if (field.metadata or {}).get(b"content") == b"JSON":
        return json.loads(value)
    if pa.types.is_list(field.type):
        return [v if isinstance(v, str) else int(v) for v in value]
    if pa.types.is_boolean(field.type):
        return bool(value)
    if pa.types.is_integer(field.type):
        return int(value)
    return value


def compare(what, schema, columns, lines):
    """columns: values by name, as a reader gave them."""
    count = 0
    for field in schema:
        got = columns[field.name]
        if len(got) != len(lines):
            sys.exit(f"{what}: {field.name} has {len(got)} values, {len(lines)} lines")
        for row, (value, line) in enumerate(zip(got, lines)):
            want, have = wanted(line.get(field.name), field), plain(value, field)
            if want != have and rounded(want) != rounded(have):
                sys.exit(f"{what}: row {row}, {field.name}: {have!r} is not {want!r}")
            count += 1
    names = {name for line in lines for name in line}
    if extra := names - set(schema.names):
        sys.exit(f"{what}: no columns {extra}")
    return count


def of_arrow(table):
    return {name: table.column(name).to_pylist() for name in table.column_names}


def of_pandas(frame):
    return {name: [None if value is None else value for value in frame[name].astype(object)] for name in frame.columns}


def of_places(frame):
    """Of rows with a place, the latitude and longitude are those of the point."""
    columns = of_pandas(frame)
    for point, latitude, longitude in zip(frame.geometry, columns["latitude"], columns["longitude"]):
        if point is not None and (point.y, point.x) != (latitude, longitude):
            sys.exit(f"the point {point} is not {latitude}, {longitude}")
    return columns


def of_polars(frame):
    return {name: frame[name].to_list() for name in frame.columns}


def of_duckdb(relation):
    rows = relation.fetchall()
    return {column[0]: [row[place] for row in rows] for place, column in enumerate(relation.description)}


def arrow_readers(stream, file):
    table = pa.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    filed = pa.ipc.open_file(file).read_all()
    filed.validate(full=True)
    yield "pyarrow stream", table.schema, of_arrow(table)
    yield "pyarrow file", filed.schema, of_arrow(filed)
    yield "pandas", table.schema, of_pandas(pa.feather.read_feather(file))
    yield "polars stream", table.schema, of_polars(polars.read_ipc_stream(stream))
    yield "polars file", table.schema, of_polars(polars.read_ipc(file))
    database = duckdb.connect()
    database.execute("set timezone = 'UTC'")
    database.register("streamed", table)
    yield "duckdb", table.schema, of_duckdb(database.sql("select * from streamed"))


def parquet_readers(path, geometry=False):
    table = pq.ParquetFile(path).read()
    table.validate(full=True)
    schema = table.schema
    if "geometry" in schema.names:
        schema = schema.remove(schema.get_field_index("geometry"))
    yield "pyarrow", schema, of_arrow(table)
    yield "pandas", schema, of_pandas(pandas.read_parquet(path, dtype_backend="pyarrow"))
    yield "polars", schema, of_polars(polars.read_parquet(path))
    database = duckdb.connect()
    database.execute("set timezone = 'UTC'")
    yield "duckdb", schema, of_duckdb(database.sql(f"select * exclude geometry from read_parquet('{path}')" if "geometry" in table.schema.names else f"select * from read_parquet('{path}')"))
    if "geometry" in table.schema.names and table.num_rows:
        yield "geopandas", schema, of_places(geopandas.read_parquet(path))


def main():
    program, ledger, folder = sys.argv[1:4]
    subjects = sys.argv[4:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for subject in subjects:
        arguments = subject.split()
        name = subject.replace(" ", "_").replace("-", "")
        lines = [json.loads(line) for line in run(program, ledger, [*arguments, "--format", "jsonl"]).splitlines()]
        stream = run(program, ledger, [*arguments, "--format", "arrow"])
        file, parquet = folder / f"{name}.arrow", folder / f"{name}.parquet"
        run(program, ledger, [*arguments, "--format", "arrow", "--to", str(file)])
        run(program, ledger, [*arguments, "--format", "parquet", "--to", str(parquet)])
        count = 0
        for reader, schema, columns in [*arrow_readers(stream, file), *parquet_readers(str(parquet))]:
            count += compare(f"{subject}, {reader}", schema, columns, lines)
        total += count
        print(f"{subject}: {len(lines)} rows, {count} values agree")
    print(f"{total} values agree")


if __name__ == "__main__":
    main()
