#!/usr/bin/env python3
"""ADBC, Datasette and Spark read what SQL says: the examples of the articles, on a ledger with a lake.

usage: engines.py MESHLEDGER LIBRARY FOLDER
FOLDER has mesh.ledger and a lake of it. The Python needs adbc-driver-sqlite, pyarrow, datasette, deltalake and pyspark, and must load extensions into SQLite
(Debian's does), Spark a Java 17.
"""
import json, os, pathlib, subprocess, sys

program, library, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
ledger, lake = str(folder / "mesh.ledger"), folder / "lake"
question = "SELECT node, count(*) AS positions, max(altitude) AS highest FROM positions GROUP BY node ORDER BY node"
done = subprocess.run([program, "sql", question, "--format", "jsonl", "--ledger", ledger], check=True, capture_output=True, text=True)
wanted = [json.loads(line) for line in done.stdout.splitlines()]
if len(wanted) < 3:
    sys.exit("there are too few nodes")


def check(engine, rows):
    if rows != wanted:
        sys.exit(f"{engine}: {rows} is not {wanted}")
    print(f"{engine}: {len(rows)} rows agree")


def adbc():
    import adbc_driver_sqlite.dbapi

    with adbc_driver_sqlite.dbapi.connect() as connection:
        options = {"enabled": "true", "path": library, "entrypoint": "sqlite3_meshledger_init"}
        for name, value in options.items():
            connection.adbc_connection.set_options(**{f"adbc.sqlite.load_extension.{name}": value})
        with connection.cursor() as cursor:
            cursor.execute(question)
            return cursor.fetch_arrow_table().to_pylist()


def datasette():
    database = folder / "mesh.db"
    database.unlink(missing_ok=True)
    subprocess.run(["sqlite3", database, "-cmd", f".load {library.removesuffix('.so')}",
                    f"CREATE VIRTUAL TABLE positions USING meshledger('{ledger}', 'positions')"], check=True)
    page = "/mesh.json?_shape=array&sql=" + question.replace(" ", "+")
    named = {name: value for name, value in os.environ.items() if name != "MESHLEDGER"}
    said = subprocess.run([sys.executable, "-m", "datasette", database, f"--load-extension={library}", "--get", page],
                          check=True, capture_output=True, text=True, env=named)
    return json.loads(said.stdout)


def spark(master):
    from deltalake import DeltaTable
    from pyspark.sql import SparkSession

    settings = {"spark.sql.session.timeZone": "UTC", "spark.ui.enabled": "false"}
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    files = DeltaTable(f"{lake}/positions").file_uris()
    session.read.option("basePath", f"{lake}/positions").parquet(*files).createOrReplaceTempView("positions")
    rows = [row.asDict() for row in session.sql(question).collect()]
    session.stop()
    return rows


os.environ["MESHLEDGER"] = ledger
check("ADBC's SQLite driver", adbc())
check("Datasette", datasette())
check("Spark, two workers", spark("local-cluster[2,1,1024]"))
