"""The figures of a log that can be trusted: full check, sealing, opening after a crash, growth. `Tools/bench --trust` and `--large` run them."""
import os, shutil, signal, statistics, subprocess, time

VERIFY_OF_HASHING = 1.0  # of a loop over libcrypto alone on one core
REPLAY_SEALED_OF_HOT = 0.7
APPEND_WHILE_SEALING = 0.4  # of plain LMDB in C
P99_WHILE_SEALING = 1.6  # of that without sealing
OPEN_AFTER_CRASH_MS = 100.0
GROWTH = 1.2  # append cost per event at 50 million events against the second million


class Figures:
    def __init__(self, judged):
        self.judged, self.missed = judged, []

    def say(self, name, value, target, least, detail):
        holds = value >= target if least else value <= target
        note = "" if not self.judged else "ok" if holds else "MISSED"
        bound = "at least" if least else "at most"
        print(f"{name:<40}{value:>9.2f}  ({bound} {target:g})  {note:<7}{detail}", flush=True)
        if self.judged and not holds:
            self.missed.append(f"{name}: {value:.3f}, {bound} {target:g}")


def alternate(rounds, clear, *sides):
    """The lines of each side, one of each in every round, in turning order."""
    lines = [[] for _ in sides]
    for turn in range(rounds):
        order = range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides)))
        for side in order:
            clear()
            lines[side].append(sides[side]()[0])
    return lines


def rate(lines):
    return statistics.median(line["per_second"] for line in lines)


def ratio(ours, theirs, name="per_second"):
    return statistics.median(mine[name] / other[name] for mine, other in zip(ours, theirs))


def measure(run, clear, c, swift, folder, options):
    """Returns what was missed."""
    packets, hot, sealed, made = folder / "packets", folder / "hot", folder / "sealed", folder / "a"
    figures = Figures(judged=not options.quick)
    run(c, "generate", packets, options.records, 2000, 1)
    run(swift, "append", packets, hot, 10000)
    shutil.copytree(hot, sealed)
    run(swift, "seal", sealed)
    clean = lambda: clear(folder)

    hashing, of_hot, of_sealed = alternate(
        options.rounds, clean, lambda: run(c, "merkle", packets), lambda: run(swift, "verify", hot), lambda: run(swift, "verify", sealed))
    for kind, lines in (("hot", of_hot), ("sealed", of_sealed)):
        if {line["records"] for line in lines + hashing} != {options.records}:
            figures.missed.append(f"verify of {kind} events: not all of {options.records:,} were checked")
        figures.say(f"verify of {kind} events, of hashing in C", ratio(lines, hashing), VERIFY_OF_HASHING, True,
                    f"{rate(lines):,.0f} and {rate(hashing):,.0f} a second")

    from_hot, from_sealed = alternate(options.rounds, clean, lambda: run(swift, "replay", hot), lambda: run(swift, "replay", sealed))
    if any(line["nodes_digest"] != from_hot[0]["nodes_digest"] for line in from_hot + from_sealed):
        figures.missed.append("replay: other rows from sealed blocks than from plain records")
    figures.say("replay from sealed, of hot", ratio(from_sealed, from_hot), REPLAY_SEALED_OF_HOT, True,
                f"{rate(from_sealed):,.0f} and {rate(from_hot):,.0f} a second")

    plain_c, plain, sealing = alternate(
        options.rounds, clean, lambda: run(c, "append", packets, folder / "a.mdb", 1000),
        lambda: run(swift, "append-plain", packets, made, 1000), lambda: run(swift, "append-sealing", packets, made, 1000))
    share = statistics.median(line["sealed"] / line["records"] for line in sealing)
    figures.say("append while sealing, of plain LMDB in C", ratio(sealing, plain_c), APPEND_WHILE_SEALING, True,
                f"{rate(sealing):,.0f} and {rate(plain_c):,.0f} a second, {share:.0%} sealed meanwhile")
    figures.say("p99 of an append while sealing", ratio(sealing, plain, "p99_us"), P99_WHILE_SEALING, False,
                f"{statistics.median(line['p99_us'] for line in sealing):,.0f} and "
                f"{statistics.median(line['p99_us'] for line in plain):,.0f} µs for 1,000 events")
    measure_compaction(run, clean, swift, packets, made, options)
    return figures.missed


def measure_compaction(run, clean, swift, packets, made, options):
    """What a compaction costs callers that meanwhile append a hundred events every 5 ms. Reported, not judged: no target was set."""
    paced, compacting = alternate(
        options.rounds, clean, lambda: run(swift, "append-paced", packets, made, 100),
        lambda: run(swift, "append-compacting", packets, made, 100))
    of = lambda lines, name: statistics.median(line[name] for line in lines)
    for name, said in (("p50_us", "p50"), ("p99_us", "p99"), ("max_us", "longest")):
        print(f"{said + ' of an append while compacting':<40}{ratio(compacting, paced, name):>9.2f}  (of that without)  "
              f"{of(compacting, name):,.0f} and {of(paced, name):,.0f} µs for 100 events", flush=True)
    print(f"{'a compaction meanwhile, seconds':<40}{of(compacting, 'compaction_seconds'):>9.2f}  of {options.records:,} events, "
          f"{of(compacting, 'compactions'):.0f} of them; the longest append is the writer's stop", flush=True)


def forget(folder):
    """Makes the next reading of the log come from the disk, as after a restart of the machine."""
    subprocess.run(["sync"], check=True)
    for path in (folder / "log").glob("*/data.mdb"):
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def crash(swift, packets, ledger, seconds):
    """Kills a writer while it appends."""
    writer = subprocess.Popen([str(swift), "append-endlessly", str(packets), str(ledger), "100"], stdout=subprocess.PIPE)
    if writer.stdout.readline() != b"appending\n":
        raise SystemExit("the writer that was to be killed has ended")
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    writer.wait()


def measure_crash(run, c, swift, folder, options):
    packets, ledger = folder / "packets", folder / "ledger"
    figures = Figures(judged=not options.quick)
    count = 300_000 if options.quick else 10_000_000
    run(c, "generate", packets, count, 2000, 1)
    run(swift, "append", packets, ledger, 10000)
    cold, warm = [], []
    for turn in range(1 if options.quick else 5):
        crash(swift, packets, ledger, 0.3 + 0.2 * turn)
        warm.append(run(swift, "open", ledger)[0])
        crash(swift, packets, ledger, 0.3)
        forget(ledger)
        cold.append(run(swift, "open", ledger)[0])
    for kind, lines in (("", warm), (", nothing in memory", cold)):
        figures.say(f"ms to open after kill -9{kind}", statistics.median(line["open_ms"] for line in lines), OPEN_AFTER_CRASH_MS, False,
                    f"{lines[-1]['records']:,} events, {statistics.median(line['first_append_ms'] for line in lines):.1f} ms to the first append")
    return figures.missed


def touch(folder, size):
    """Writes and removes as much as will be needed: a virtual machine gets memory from its host when it is first written, which takes many times as
    long as writing it again, and would be taken for the cost of a large log. Returns how many times as long the last tenth takes as the first, also
    the second time: a host may have no more to give."""
    chunk, path, tenth = b"\1" * (1 << 20), folder / "touched", max(1, (size >> 20) // 10)
    for _ in range(2):
        seconds = []
        with open(path, "wb", buffering=0) as file:
            for _ in range(10):
                started = time.monotonic()
                for _ in range(tenth):
                    file.write(chunk)
                seconds.append(time.monotonic() - started)
        path.unlink()
    return seconds[-1] / seconds[0]


def measure_growth(run, c, swift, folder, options):
    figures = Figures(judged=not options.quick)
    packets = folder / "packets"
    run(c, "generate", packets, 100_000 if options.quick else 1_000_000, 2000, 1)
    count = 3_000_000 if options.quick else 50_000_000
    memory = touch(folder, count * 220)
    if memory > GROWTH:
        figures.judged = False
        print(f"not judged: the memory of this machine itself is {memory:.1f} times slower to write at the end than at the beginning", flush=True)
    line = run(swift, "append-growth", packets, folder / "ledger", 1000, count)[0]
    figures.say("append cost of the last million events", line["late_of_early"], GROWTH, False,
                f"of {line['records']:,}, against the second million: {line['late_seconds']:.2f} and {line['early_seconds']:.2f} s")
    return figures.missed
