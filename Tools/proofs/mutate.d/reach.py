"""Which suites of tests reach which mutants. Each suite runs once with no mutant made, and the switches that are asked then leave marks in a file."""
import concurrent.futures, functools, hashlib, json, os, pathlib, re, tempfile, threading, typing

import mutants, runs

SECONDS = 900
# Suites that take less than this together run in one process, since it takes half a second to start one.
TOGETHER = 3


class Suite(typing.NamedTuple):
    """A suite's tests of a stage, and what they did when nothing was broken."""
    key: str
    name: str
    reached: list[int]
    seconds: float
    silence: float
    work: float


def pattern(*names):
    return f"^({'|'.join(map(re.escape, names))})/"


def groups(suites):
    """The suites in the same order, as they run together."""
    group = []
    for suite in suites:
        if group and sum(it.seconds for it in [*group, suite]) > TOGETHER:
            yield group
            group = []
        group.append(suite)
    if group:
        yield group


def test(tree, number, group, skipped):
    """Runs a group's suites with a mutant. They may take, sleep and work without output for a multiple of what they need when nothing is broken."""
    seconds, silence, work = (sum(values) for values in zip(*((it.seconds, it.silence, it.work) for it in group)))
    names = [suite.name for suite in group]
    return runs.test(tree, number, pattern(*names), skipped, max(120, 10 * seconds), max(10, 5 * silence), max(10, 5 * work))


class Reach:
    """The suites of a build, recorded when they are first asked for and kept in a file of the copy until the next build with other mutants."""

    def __init__(self, tree, jobs, is_new):
        self.tree, self.path = tree, tree / ".reached.json"
        if is_new:
            self.path.unlink(missing_ok=True)
        self.kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.tests = runs.listed(tree)
        self.pool, self.lock, self.recorded = concurrent.futures.ThreadPoolExecutor(jobs), threading.Lock(), {}

    @functools.cache
    def suites(self, wanted, skipped):
        """The suites of these tests, fastest first."""
        tests = {}
        for test in self.tests:
            if re.search(wanted, test) and not re.search(skipped, test):
                tests.setdefault(test.split("/")[0], []).append(test)
        keys = {self.key(name, tests[name]): name for name in tests}
        with self.lock:
            for key, name in keys.items():
                if key not in self.recorded:
                    self.recorded[key] = self.pool.submit(self.suite, key, name, skipped)
        return sorted((self.recorded[key].result() for key in keys), key=lambda suite: suite.seconds)

    def key(self, name, tests):
        """Changes with the tests, so that changed ones are recorded again."""
        names = {test.rsplit("/", 1)[1].split(":")[0] for test in tests}
        files = sorted(path for path in (self.tree / "Tests" / name.split(".")[0]).rglob("*.swift") if path.name in names)
        return name + " " + hashlib.sha256("\n".join(sorted(tests)).encode() + b"".join(map(pathlib.Path.read_bytes, files))).hexdigest()[:16]

    def suite(self, key, name, skipped):
        if key not in self.kept:
            with tempfile.NamedTemporaryFile(prefix="mutate-") as file:
                os.chmod(file.name, 0o666)  # a test starts programs as another user
                file.truncate(mutants.REACHED_BYTES)
                outcome = runs.test(self.tree, 0, pattern(name), skipped, SECONDS, reached=file.name)
                reached = [number for number, mark in enumerate(file.read()) if mark]
            if outcome.passed is False:
                raise SystemExit(f"without any mutant the tests of {name} do not pass: {outcome.why}")
            with self.lock:
                self.kept[key] = reached, outcome.seconds, outcome.silence, outcome.work
                self.path.write_text(json.dumps(self.kept))
        return Suite(key, name, *self.kept[key])
