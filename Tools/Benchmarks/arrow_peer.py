#!/usr/bin/env python3
"""What pyarrow does with the same rows. Prints a line of JSON.

usage: arrow_peer.py stream STREAM FILE    writes the batches of an Arrow stream to a file, from memory
       arrow_peer.py zstd TABLE            the bytes of a lake's table, and of the same files as pyarrow writes them with zstd
"""
import json, os, pathlib, sys, tempfile, time

import pyarrow as pa, pyarrow.ipc, pyarrow.parquet as pq


def stream(source, target):
    with pa.memory_map(source) as file:
        reader = pa.ipc.open_stream(file)
        schema, batches = reader.schema, [batch for batch in reader]
    batches = pa.ipc.open_stream(pa.py_buffer(pathlib.Path(source).read_bytes()))
    batches = [batch for batch in batches]
    started = time.perf_counter()
    with pa.OSFile(target, "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    seconds = time.perf_counter() - started
    rows = sum(batch.num_rows for batch in batches)
    return {"rows": rows, "seconds": seconds, "per_second": rows / seconds}


def zstd(table):
    ours = theirs = rows = 0
    with tempfile.TemporaryDirectory(dir=os.path.dirname(table)) as folder:
        target = os.path.join(folder, "peer.parquet")
        for path in pathlib.Path(table).rglob("*.parquet"):
            if "_delta_log" in path.parts:
                continue
            content = pq.ParquetFile(path).read()
            pq.write_table(content, target, compression="zstd")
            ours, theirs, rows = ours + path.stat().st_size, theirs + os.path.getsize(target), rows + len(content)
    return {"rows": rows, "ours_bytes": ours, "pyarrow_bytes": theirs, "ratio": ours / theirs}


print(json.dumps({"stream": stream, "zstd": zstd}[sys.argv[1]](*sys.argv[2:])))
