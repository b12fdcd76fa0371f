"""The figures of analytics: a lake, an Arrow stream, and SQL through virtual tables. `Tools/bench --tables` runs them."""
import os, pathlib, shutil, statistics, subprocess, threading, time

from trust import Figures

LAKE_ROWS = 2_000_000  # a second
LAKE_SIZE = 1.1  # of what pyarrow writes with zstd
LAKE_MEMORY = 300_000_000  # bytes beside mapped files
STREAM_ROWS = 3_000_000
STREAM_OF_PYARROW = 0.5
SCAN_OF_LIBRARY = 1.5
SCAN_OF_SQLITE = 2.0
NEWEST_US = 60.0
SHORT_TURNS = 5  # more rounds of what takes a second: within one, the same work of SQLite took 44 or 79 µs


def timed(*command, output=None, watches=False):
    """Seconds, and the most memory beside mapped files, in bytes; 0 if it is not watched, which takes some of what is measured."""
    started, most = time.perf_counter(), 0
    with open(output or os.devnull, "wb") as target:
        process = subprocess.Popen([str(part) for part in command], stdout=target, stderr=subprocess.PIPE)

    def watch():
        nonlocal most
        while process.poll() is None:
            try:
                lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
            except OSError:
                return
            most = max([most] + [int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon")])
            time.sleep(0.005)

    watcher = threading.Thread(target=watch if watches else lambda: None)
    watcher.start()
    errors = process.stderr.read()
    process.wait()
    seconds = time.perf_counter() - started
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {errors.decode().strip()}")
    return seconds, most


def ledger_of_positions(run, c, swift, program, folder, name, count, nodes):
    """No node has as many as its cap of 5,000, so that all are kept. Views are built once, by the program itself."""
    packets, ledger = folder / "packets", folder / name
    run(c, "generate", packets, count, nodes, 1, "positions")
    run(swift, "append", packets, ledger, 10000)
    packets.unlink()
    timed(program, "stats", "--ledger", ledger)
    subprocess.run(["sync"], check=True)  # or the system would write it while something is measured
    return ledger


def measure_lake(run, c, swift, program, python, folder, options, figures):
    count, nodes = (100_000, 200) if options.quick else (10_000_000, 5_000)
    ledger = ledger_of_positions(run, c, swift, program, folder, "large", count, nodes)
    rates, lake = [], folder / "lake"
    for _ in range(1 if options.quick else min(options.rounds, 3)):
        shutil.rmtree(lake, ignore_errors=True)
        subprocess.run(["sync"], check=True)
        seconds, _ = timed(program, "lake", "write", lake, "--table", "positions", "--ledger", ledger)
        rates.append(count / seconds)
    sizes = run(python, pathlib.Path(__file__).parent / "arrow_peer.py", "zstd", lake / "positions")[0]
    if sizes["rows"] != count:
        figures.missed.append(f"a lake of {sizes['rows']:,} positions, not {count:,}")
    figures.say("a lake of positions, rows a second", statistics.median(rates), LAKE_ROWS, True, f"{count:,} rows")
    figures.say("  its size, of pyarrow's with zstd", sizes["ratio"], LAKE_SIZE, False,
                f"{sizes['ours_bytes']:,} and {sizes['pyarrow_bytes']:,} bytes")
    shutil.rmtree(lake)
    seconds, most = timed(program, "lake", "write", lake, "--ledger", ledger, watches=True)
    figures.say("memory of a lake of all tables, MB", most / 1e6, LAKE_MEMORY / 1e6, False, f"{count:,} events in {seconds:.1f} s")
    shutil.rmtree(lake)
    shutil.rmtree(ledger)


def measure(run, c, swift, program, extension, python, folder, options):
    """Returns what was missed."""
    figures = Figures(judged=not options.quick)
    count, nodes = (20_000, 100) if options.quick else (1_000_000, 2_000)
    ledger = ledger_of_positions(run, c, swift, program, folder, "ledger", count, nodes)
    ours, theirs, peer = [], [], pathlib.Path(__file__).parent / "arrow_peer.py"
    stream = folder / "positions.arrows"
    for turn in range(options.rounds):
        def write():
            ours.append(count / timed(program, "export", "positions", "--format", "arrow", "--ledger", ledger, output=stream)[0])
        if turn % 2 == 0 or not stream.exists():
            write()
        theirs.append(run(python, peer, "stream", stream, folder / "peer.arrows")[0]["per_second"])
        if turn % 2:
            write()
    ratio = statistics.median(mine / other for mine, other in zip(ours, theirs))
    figures.say("an Arrow stream of positions, rows a second", statistics.median(ours), STREAM_ROWS, True, f"{count:,} rows, the program's start included")
    figures.say("  of pyarrow writing the same batches", ratio, STREAM_OF_PYARROW, True, f"{statistics.median(theirs):,.0f} a second")
    rounds = options.rounds * SHORT_TURNS
    own = statistics.median(run(swift, "scan-positions", ledger, 1)[0]["us"] for _ in range(rounds))
    sql = run(c, "tables", extension, ledger, rounds)[0]
    if sql["records"] != count:
        figures.missed.append(f"the virtual table has {sql['records']:,} positions, not {count:,}")
    figures.say("count and sum by SQL, of the library's scan", sql["ours_scan_us"] / own, SCAN_OF_LIBRARY, False, f"{sql['ours_scan_us']:.3f} and {own:.3f} µs a row")
    figures.say("  of SQLite's own table", sql["ours_scan_us"] / sql["sqlite_scan_us"], SCAN_OF_SQLITE, False, f"{sql['sqlite_scan_us']:.3f} µs a row")
    figures.say("newest 100 positions of a node by SQL, µs", sql["ours_newest_us"], NEWEST_US, False,
                f"{sql['newest_rows']} rows; SQLite's own table {sql['sqlite_newest_us']:.1f}")
    shutil.rmtree(ledger)
    measure_lake(run, c, swift, program, python, folder, options, figures)
    return figures.missed
