"""Several processes create, merge and restore ledgers at one path at once, and some are killed: one succeeds, and no other removes its ledger."""
import shutil, signal

SHARE = 1
DONE, EXISTS, BUSY = 0, 73, 75
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def run(part):
    from ledgers import Ledger
    first, second = Ledger(part, "first"), Ledger(part, "second")
    for ledger in (first, second): ledger.add(200)
    part.must("backup", "--ledger", first.path, part.folder / "backup")
    while part.goes_on():
        begin(part)
        at_one_path(part, "merge", first.path, second.path, "--into", part.folder / "new")
        at_one_path(part, "restore", part.folder / "backup", part.folder / "new")
    first.check()
    second.check()


def begin(part):
    """Several `init` at once: once one has created the ledger, it stays, with everything imported into it."""
    path = part.folder / "new"
    statuses, event = [], part.folder / "one.jsonl"
    event.write_text('{"from": 1, "to": 2, "id": 3, "type": "text", "payload": {"text": "first"}}\n')

    def makes():
        ended = part.command("init", "--ledger", path)
        statuses.append(ended.status)
        if ended.is_done: statuses.append(part.command("import", "--format", "mqtt-json", event, "--ledger", path).status)

    part.at_once(makes, makes, makes)
    line = f"three at once: {part.program} init --ledger {path}"
    if not set(statuses) <= {DONE, EXISTS, BUSY}: part.finding(f"init at one path ends with {sorted(set(statuses))}", line)
    ended = part.command("stats", "--ledger", path)
    if DONE in statuses and not ended.is_done: part.finding(f"a ledger that was made is gone: {ended.last_line}", line)
    shutil.rmtree(path, ignore_errors=True)


def at_one_path(part, *arguments):
    """The same command twice at once, with signals, then alone: in the end the ledger is there, without unfinished files beside it."""
    def works():
        kill = {"kill_after": part.random.expovariate(1 / 0.2), "kill_with": part.random.choice(SIGNALS)} if part.random.random() < 0.5 else {}
        ended = part.command(*arguments, **kill)
        if not ended.was_signalled and ended.status not in (DONE, EXISTS, BUSY):
            part.finding(f"{arguments[0]} twice at one path ends with {ended.status}: {ended.last_line}", ended.line)

    part.at_once(works, works)
    path = part.folder / "new"
    if not path.exists(): part.must(*arguments)
    part.must("verify", "--ledger", path)
    for left in part.folder.glob("new.*"):
        part.finding(f"{left.name} is left beside the new ledger", " ".join(map(str, arguments)))
        shutil.rmtree(left, ignore_errors=True)
    for left in part.folder.glob(".sort-*"): part.finding(f"{left.name} is left beside the new ledger")
    shutil.rmtree(path, ignore_errors=True)
