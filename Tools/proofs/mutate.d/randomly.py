"""Makes random mutants by rule and reports which ones no test notices."""
import concurrent.futures, dataclasses, json, math, random, re, resource, time, tomllib, typing

import mutants, reach, runs

ROUNDS = 20
# Fewer prove nothing: this many are made even if the time is over.
FEWEST = 10
# A sample is believed to be of worse tests where better ones would give one as bad less often than this.
DOUBT = 0.01
# The value of `becomes` for a line all of whose mutants were judged.
ANY = "*"
SWITCHES = "MutantSwitch.swift"


class Room:
    """Folders of source files, and the tests that must notice breaks in them."""

    def __init__(self, entry, slow, later):
        self.name, self.patterns = entry["name"], entry["files"]
        short = slow + "|" + later
        self.stages = {"at once": (entry.get("at_once"), short), "first": (entry["first"], short), "then": (entry["then"], slow)}
        self.stages = {name: tests for name, tests in self.stages.items() if tests[0]}
        self.modules = {name for tests, _ in self.stages.values() for name in re.findall(r"\w+Tests(?=[.\\])", tests)}

    def widen(self, slow, modules):
        """Tests with the suites of other rooms only."""
        own = [tests for tests, _ in self.stages.values()]
        self.stages, self.modules = {"elsewhere": (".", "|".join([slow, *own]))}, modules

    def result(self, tree, recorded, number):
        """Why the mutant is noticed, or nothing; how long that took, and how many suites ran. Only those that reach it do."""
        begun, done = time.monotonic(), set()
        for wanted, skipped in self.stages.values():
            suites = [suite for suite in recorded.suites(wanted, skipped) if suite.key not in done and number in suite.reached]
            for group in reach.groups(suites):
                outcome = reach.test(tree, number, group, skipped)
                done.update(suite.key for suite in group)
                if outcome.passed is False:
                    return Result(outcome.why, time.monotonic() - begun, len(done))
        return Result(None, time.monotonic() - begun, len(done))


class Result(typing.NamedTuple):
    why: str | None
    seconds: float
    suites: int


def rooms(root, elsewhere=False):
    table = tomllib.loads((root / "Tools" / "proofs" / "mutate.d" / "rooms.toml").read_text())
    found = [Room(entry, table["slow"], table["later"]) for entry in table["room"]]
    if elsewhere:
        modules = {path.name for path in (root / "Tests").glob("*Tests")}
        for room in found: room.widen(table["slow"], modules)
    return found


def judged(root):
    """Survivors that change nothing that a test could see; each was examined by a person."""
    path = root / "Tools" / "proofs" / "mutate.d" / "judged.toml"
    return {
        (file, line, becomes): why
        for file, reasons in tomllib.loads(path.read_text()).items()
        for why, judged in reasons.items()
        for line, *all in judged
        for becomes in all}


def is_judged(mutant, known):
    return mutant.key in known or (mutant.file, mutant.old, ANY) in known


def stale(root):
    """Judged mutants that cannot be made any more, or lack a reason, and why."""
    texts = {}
    for key, why in judged(root).items():
        file, line, becomes = key
        if file not in texts:
            path = root / file
            made = mutants.mutants(file, path.read_text()) if path.exists() else []
            texts[file] = {key for mutant in made for key in [mutant.key, (file, mutant.old, ANY)]}
        if key not in texts[file] or not why:
            yield f"judged.toml, {file}: `{line}` -> `{becomes}`: " + ("no such mutant can be made" if why else "it lacks the reason")


def candidates(root, only, parts):
    """All mutants of the rooms and of files with one of the parts in their names, in an order that depends on the files only."""
    known, found = judged(root), {}
    for room in rooms(root):
        if only and room.name not in only:
            continue
        for pattern in room.patterns:
            for path in sorted(root.glob(pattern)):
                file = str(path.relative_to(root))
                if file not in found and (not parts or any(part in file for part in parts)):
                    every = mutants.mutants(file, path.read_text())
                    found[file] = [(mutant, room) for mutant in every if not is_judged(mutant, known)]
    return [entry for file in sorted(found) for entry in found[file]]


def chosen(entries, count, seed):
    """Mutants of different lines."""
    generator, lines, result = random.Random(seed), set(), []
    for mutant, room in generator.sample(entries, len(entries)):
        if len(result) == count:
            break
        if (mutant.file, mutant.number) not in lines:
            lines.add((mutant.file, mutant.number))
            result.append((mutant, room))
    return result


def compile_in(tree, originals, entries):
    """Writes the mutants into the copy, and restores files without mutants."""
    for file, text in originals.items():
        here = [(number, mutant) for number, (mutant, _) in entries.items() if mutant.file == file]
        new = mutants.compiled_in(text, here) if here else text
        if (tree / file).read_text() != new:
            (tree / file).write_text(new)


def build(tree, entries):
    """Compiles the mutants into one build, with the tests of their rooms. Those that do not compile are removed from `entries`."""
    modules = {module for _, room in entries.values() for module in room.modules}
    originals = {mutant.file: (tree / mutant.file).read_text() for mutant, _ in entries.values()}
    for target in {"/".join(file.split("/")[:2]) for file in originals}:
        (tree / target / SWITCHES).write_text(mutants.switch_file())
    compile_in(tree, originals, entries)
    # Target by target, from the lowest: the tests are compiled once, when all mutants are known to compile.
    targets = [target for target in order(tree) if any(file.split("/")[1] == target for file in originals)]
    for what in [["--target", target] for target in targets] + products(modules):
        for _ in range(ROUNDS):
            done, text = runs.build(tree, what, modules)
            if done:
                break
            bad = mutants.failed(text, str(tree), [(number, mutant) for number, (mutant, _) in entries.items()])
            if not bad:
                raise SystemExit("the copy does not build:\n" + text[-3000:])
            for number in sorted(bad):
                print(f"does not compile: {described(entries.pop(number)[0])}", flush=True)
            compile_in(tree, originals, entries)
        else:
            raise SystemExit(f"after {ROUNDS} rounds the copy still does not build")


def prepared(tree, options, last):
    """New mutants in a new build, by number, and how many of them to make."""
    wanted, count = options.room, options.random
    if options.one_room:
        names = [room.name for room in rooms(tree) if not wanted or room.name in wanted]
        wanted = [random.Random(options.seed).choice(names)]
        print(f"the room: {wanted[0]}")
    every = candidates(tree, wanted, options.file)
    # About one in four does not compile.
    entries = dict(enumerate(chosen(every, count + count // 2 + 4, options.seed), 1))
    print(f"{len(every)} mutants could be made; building with {len(entries)} of them, seed {options.seed}", flush=True)
    build(tree, entries)
    last.write(entries, count)
    return entries, count


class Last:
    """The mutants of the last build, and which of them nothing has noticed so far, in a file of the copy."""

    def __init__(self, tree):
        self.tree, self.path = tree, tree / ".mutants.json"
        self.kept = json.loads(self.path.read_text()) if self.path.exists() else {"files": [], "unnoticed": {}}

    def write(self, entries, count):
        files = {mutant.file for mutant, _ in entries.values()}
        self.kept = {
            "files": sorted(files | {"/".join([*file.split("/")[:2], SWITCHES]) for file in files}),
            "unnoticed": {
                str(number): {"room": room.name, "mutant": dataclasses.asdict(mutant)}
                for number, (mutant, room) in list(entries.items())[:count]}}
        self.path.write_text(json.dumps(self.kept))

    def notice(self, number):
        del self.kept["unnoticed"][str(number)]
        self.path.write_text(json.dumps(self.kept))

    def files(self):
        """The files in which mutants were compiled, and their switches."""
        return set(self.kept["files"])

    def unnoticed(self, rooms):
        """The mutants by their numbers, with their tests compiled as they are now."""
        if not self.kept["unnoticed"]:
            raise SystemExit("no mutant of the last build is left")
        by_name = {room.name: room for room in rooms}
        entries = {int(number): (mutants.Mutant(**it["mutant"]), by_name[it["room"]]) for number, it in self.kept["unnoticed"].items()}
        known = judged(self.tree)
        entries = {number: entry for number, entry in entries.items() if not is_judged(entry[0], known)}
        modules = {module for _, room in entries.values() for module in room.modules}
        for what in products(modules):
            done, text = runs.build(self.tree, what, modules)
            if not done:
                raise SystemExit("the tests do not build:\n" + text[-3000:])
        return entries, len(entries)


def products(modules):
    """What to build to run the tests of these modules; those of the lower targets start only one program."""
    if not modules <= {"EventLogTests", "LogTransferTests", "MeshtasticTests", "ProjectionsTests"}:
        return [["--build-tests"]]
    return [["--product", "crashchild"]] * ("EventLogTests" in modules) + [["--product", "MeshLedgerPackageTests"]]


def order(tree):
    """The targets as the manifest lists them: dependencies come first."""
    return re.findall(r'room\(\s*"(\w+)"', (tree / "Package.swift").read_text())


def run(tree, options):
    """Exits with 0 if enough of the mutants are noticed."""
    begun = time.monotonic()
    last = Last(tree)
    entries, count = last.unnoticed(rooms(tree, options.elsewhere)) if options.again else prepared(tree, options, last)
    print(f"{len(entries)} compile ({spent(begun)})", flush=True)
    made, survivors, recorded = 0, [], reach.Reach(tree, options.jobs, not options.again)

    def make(number, room):
        is_over = options.seconds and made >= FEWEST and time.monotonic() - begun > options.seconds
        return None if is_over else room.result(tree, recorded, number)

    jobs = concurrent.futures.ThreadPoolExecutor(options.jobs)
    running = {jobs.submit(make, number, room): (number, mutant) for number, (mutant, room) in list(entries.items())[:count]}
    try:
        for job in concurrent.futures.as_completed(running):
            if job.result() is None:
                continue
            made += 1
            (number, mutant), result = running[job], job.result()
            if result.why is None:
                survivors.append(mutant)
                reason = f"passed in {result.suites} suites" if result.suites else "not reached"
            else:
                last.notice(number)
                reason = result.why[:100]
            print(f"{'noticed' if result.why else 'survived':8} ({result.seconds:3.0f} s) {described(mutant)}  [{reason}]", flush=True)
    finally:
        recorded.pool.shutdown(cancel_futures=True)
        jobs.shutdown(cancel_futures=True)
    if made < len(running):
        print(f"the time was over after {made} mutants")
    if survivors:
        print("\nsurvivors, for Tools/proofs/mutate.d/judged.toml where no test could see them:")
    for mutant in survivors:
        print(f'[[judged]]  # line {mutant.number}\nfile = "{mutant.file}"\nline = {quoted(mutant.old)}\nbecomes = {quoted(mutant.new)}\nwhy = ""\n')
    print(
        f"{made - len(survivors)} of {made} random mutants were noticed, {'made again' if options.again else f'seed {options.seed}'} ({spent(begun)})")
    raise SystemExit(0 if made and are_enough(made, len(survivors), options) else 1)


def spent(begun):
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{time.monotonic() - begun:.0f} s; of the processors {used.ru_utime + used.ru_stime:.0f} s"


def are_enough(made, survived, options):
    """Whether PERCENT were noticed; of a sample, whether it can be one of tests that notice PERCENT."""
    if not options.sample:
        return (made - survived) * 100 >= options.least * made
    share = 1 - options.least / 100
    chance = sum(math.comb(made, number) * share**number * (1 - share) ** (made - number) for number in range(survived, made + 1))
    return chance >= DOUBT


def quoted(text):
    return "'" + text + "'" if "'" not in text else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def described(mutant):
    return f"{mutant.file}:{mutant.number}: `{mutant.old}` -> `{mutant.new or 'nothing'}`"
