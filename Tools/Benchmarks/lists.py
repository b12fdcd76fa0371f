"""The figures of lists and exports on the command line. `Tools/bench --lists` runs them on a ledger that the program itself simulates."""
import dataclasses, json, os, statistics, subprocess, sys, time
from typing import Callable

ROWS_A_SECOND = 400_000
FIRST_LINE_MS = 50.0
LIMITED_MS = 60.0
NODES_MS = 80.0
COUNT_MS = 300.0
NODES = 2_000
# With fewer rows it is the start of the program that is measured.
LEAST_ROWS = 100_000

STREAMS = ["packets", "events", "export events", "export packets", "export receptions", "export packet_events", "export positions",
           "export telemetry", "export messages"]
LISTS = ["nodes", "positions", "telemetry", "telemetry --kind device", "messages", "waypoints --all", "links", "links traceroutes", "gateways",
         "channels", "packets", "events", "telemetry sensors", "nodes history", "nodes models", "nodes radios", "gateways mapreports"]


@dataclasses.dataclass
class Work:
    name: str
    run: Callable[[], float]
    target: float
    least: bool = False
    figures: list = dataclasses.field(default_factory=list)


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.environment = {**os.environ, "MESHLEDGER": str(folder / "mesh.ledger"), "TZ": "UTC"}
        self.rows = {}

    def words(self, line):
        return [str(self.path), *line.split(" ")]

    def ask(self, line):
        done = subprocess.run(self.words(line), env=self.environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"meshledger {line}: {done.stderr.strip()}")
        return done.stdout

    def milliseconds(self, line):
        """From the start of the program to its end, its output in a file."""
        with open(self.folder / "out", "wb") as output:
            start = time.perf_counter()
            done = subprocess.run(self.words(line), env=self.environment, stdout=output, stderr=subprocess.PIPE)
            seconds = time.perf_counter() - start
        if done.returncode:
            sys.exit(f"meshledger {line}: {done.stderr.decode().strip()}")
        return seconds * 1e3

    def rate(self, line):
        """Rows a second, the start of the program included."""
        milliseconds = self.milliseconds(line)
        if line not in self.rows:
            with open(self.folder / "out", "rb") as output:
                self.rows[line] = sum(1 for _ in output) - line.endswith("csv")
        return self.rows[line] / milliseconds * 1e3

    def first_line(self, line):
        """Milliseconds to the first line in a pipe, which then nobody reads further."""
        start = time.perf_counter()
        with subprocess.Popen(self.words(line), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            first = process.stdout.readline()
            milliseconds = (time.perf_counter() - start) * 1e3
            process.stdout.close()
        if not first:
            sys.exit(f"meshledger {line} printed nothing")
        return milliseconds


def works(program):
    found = []
    for stream in STREAMS:
        for form in ("csv", "jsonl"):
            line = f"{stream} --format {form}"
            found.append(Work(f"rows/s  {line}", lambda line=line: program.rate(line), ROWS_A_SECOND, least=True))
            found.append(Work(f"ms, first line  {line}", lambda line=line: program.first_line(line), FIRST_LINE_MS))
    objects = lambda line: [json.loads(row) for row in program.ask(line + " --format jsonl").splitlines()]
    packet = objects("packets --limit 1")[0]
    node, gateway, name = packet["from"], (packet["gateways"] or [packet["from"]])[0], "LongFast"
    limited = [f"{each} --limit 20" for each in LISTS] + ["packets --limit 50", "events --limit 50"]
    for each in ("packets", "events"):
        limited += [f"{each} {one} --limit 50" for one in (
            f"--node {node}", f"--gateway {gateway}", "--port TEXT_MESSAGE_APP", f"--channel {name}", f"--node {node} --mentions", "--since 1h",
            f"--packet {packet['id']}", "--by arrival", "--port TRACEROUTE_APP --since 1d")]
    limited += [f"packets receptions {packet['id']}", f"packets show {packet['first_sequence']}", f"positions --node {node}",
                f"telemetry --node {node} --kind device", f"telemetry --node {node} --limit 50", f"positions track --node {node}", f"nodes --node {node}",
                f"messages --channel {name} --limit 50", f"messages --node {node}", "messages --contains water --limit 20", "search water --limit 20",
                f"links --node {node}", f"nodes timeline {node} --limit 20", "positions --since 1h --limit 50"]
    found += [Work(f"ms  {line}", lambda line=line: program.milliseconds(line), LIMITED_MS) for line in limited]
    found.append(Work("ms  nodes", lambda: program.milliseconds("nodes"), NODES_MS))
    found.append(Work("ms  packets --count-by port", lambda: program.milliseconds("packets --count-by port"), COUNT_MS))
    return found


def measure(path, folder, options):
    """Returns what was missed."""
    program = Program(path, folder)
    program.ask("init")
    start = time.perf_counter()
    program.ask(f"simulate --seed 1 --nodes {NODES} --packets {options.records}")
    program.ask("stats")
    print(f"simulated {options.records:,} events of {NODES:,} nodes in {time.perf_counter() - start:.0f} s", flush=True)
    every, missed = works(program), []
    for turn in range(options.rounds):
        for work in every if turn % 2 == 0 else reversed(every):
            work.figures.append(work.run())
    print(f"{'':<64}{'median':>12}{'target':>12}   from .. to")
    for work in every:
        median = statistics.median(work.figures)
        line = work.name.split("  ", 1)[1]
        isFew = work.least and program.rows[line] < LEAST_ROWS
        holds = isFew or (median >= work.target if work.least else median <= work.target)
        note = f"{program.rows[line]:,} rows" + (", too few to judge" if isFew else "") if work.least else ""
        if not holds and not options.quick:
            missed.append(f"{work.name}: {median:,.1f}, {'at least' if work.least else 'at most'} {work.target:,.0f}")
        print(f"{work.name:<64}{median:>12,.1f}{work.target:>12,.0f}   {min(work.figures):,.1f} .. {max(work.figures):,.1f}  "
              f"{'' if holds or options.quick else 'MISSED '}{note}", flush=True)
    return missed
