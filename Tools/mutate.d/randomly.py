"""Makes mutants by rule at random and tells which ones no test notices."""
import random, re, resource, time, tomllib

import mutants, runs

ROUNDS = 12


class Room:
    """Folders of source files, and the tests that have to notice what is broken in them."""

    def __init__(self, entry, slow, later):
        self.name, self.patterns = entry["name"], entry["files"]
        self.stages = [(entry["first"], slow + "|" + later), (entry["then"], slow)]
        self.seconds = [None, None]

    def limit(self, tree, stage):
        """How long the stage's tests may take: some times what they take where nothing is broken."""
        if self.seconds[stage] is None:
            begun = time.monotonic()
            passed, why = runs.test(tree, 0, *self.stages[stage], 900)
            if not passed:
                raise SystemExit(f"without any mutant the tests of {self.name} do not pass: {why}")
            self.seconds[stage] = time.monotonic() - begun
        return max(30, 5 * self.seconds[stage])

    def result(self, tree, number):
        for stage, (wanted, skipped) in enumerate(self.stages):
            passed, why = runs.test(tree, number, wanted, skipped, self.limit(tree, stage))
            if not passed:
                return why
        return None


def rooms(root):
    table = tomllib.loads((root / "Tools" / "mutate.d" / "rooms.toml").read_text())
    return [Room(entry, table["slow"], table["later"]) for entry in table["room"]]


def judged(root):
    """Survivors that change nothing that a test could see, as somebody has looked at each."""
    path = root / "Tools" / "mutate.d" / "judged.toml"
    return {(entry["file"], entry["line"], entry["becomes"]) for entry in tomllib.loads(path.read_text()).get("judged", [])}


def candidates(root, only):
    """All mutants of all rooms, in an order that depends on the files only."""
    known, found = judged(root), {}
    for room in rooms(root):
        if only and room.name not in only:
            continue
        for pattern in room.patterns:
            for path in sorted(root.glob(pattern)):
                file = str(path.relative_to(root))
                if file not in found:
                    found[file] = [(mutant, room) for mutant in mutants.mutants(file, path.read_text()) if mutant.key not in known]
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
    """Writes the mutants into the copy, and the files that go without again."""
    for file, text in originals.items():
        here = [(number, mutant) for number, (mutant, _) in entries.items() if mutant.file == file]
        new = mutants.compiled_in(text, here) if here else text
        if (tree / file).read_text() != new:
            (tree / file).write_text(new)


def build(tree, entries):
    """Compiles the mutants into one build. What does not compile is taken out of `entries`."""
    originals = {mutant.file: (tree / mutant.file).read_text() for mutant, _ in entries.values()}
    for target in {"/".join(file.split("/")[:2]) for file in originals}:
        (tree / target / "MutantSwitch.swift").write_text(mutants.switch_file())
    compile_in(tree, originals, entries)
    # Target by target, from the lowest: the tests are compiled once, when all mutants are known to compile.
    targets = [target for target in order(tree) if any(file.split("/")[1] == target for file in originals)]
    for what in [["--target", target] for target in targets] + [["--build-tests"]]:
        for _ in range(ROUNDS):
            done, text = runs.build(tree, what)
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


def order(tree):
    """The targets as the manifest lists them: what others depend on comes before these."""
    return re.findall(r'room\(\s*"(\w+)"', (tree / "Package.swift").read_text())


def run(tree, count, seed, seconds, least, only):
    """Exits with 0 where enough of the mutants are noticed."""
    begun = time.monotonic()
    every = candidates(tree, only)
    # About one in four does not compile.
    entries = dict(enumerate(chosen(every, count + count // 2 + 4, seed), 1))
    print(f"{len(every)} mutants could be made; building with {len(entries)} of them, seed {seed}", flush=True)
    build(tree, entries)
    print(f"{len(entries)} compile ({time.monotonic() - begun:.0f} s)", flush=True)
    noticed, survivors = 0, []
    for number, (mutant, room) in list(entries.items())[:count]:
        if seconds and time.monotonic() - begun > seconds:
            print(f"the time is over after {noticed + len(survivors)} mutants")
            break
        since = time.monotonic()
        why = room.result(tree, number)
        noticed += why is not None
        if why is None:
            survivors.append(mutant)
        result = "survived" if why is None else "noticed"
        print(f"{result:8} ({time.monotonic() - since:3.0f} s) {described(mutant)}" + (f"  [{why[:100]}]" if why else ""), flush=True)
    total = noticed + len(survivors)
    if survivors:
        print("\nsurvivors, for Tools/mutate.d/judged.toml where no test could see them:")
    for mutant in survivors:
        print(f'[[judged]]  # line {mutant.number}\nfile = "{mutant.file}"\nline = {quoted(mutant.old)}\nbecomes = {quoted(mutant.new)}\nwhy = ""\n')
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{noticed} of {total} random mutants were noticed, seed {seed} ({time.monotonic() - begun:.0f} s; of the processors "
        f"{used.ru_utime + used.ru_stime:.0f} s)")
    raise SystemExit(0 if total and noticed * 100 >= least * total else 1)


def quoted(text):
    return "'" + text + "'" if "'" not in text else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def described(mutant):
    return f"{mutant.file}:{mutant.number}: `{mutant.old}` -> `{mutant.new or 'nothing'}`"
