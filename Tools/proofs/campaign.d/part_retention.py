"""Two retentions at once, one of them by policy, beside imports: the oldest events are dropped, the views keep their rows, even when rebuilt, and what is erased later is nowhere."""
import json, signal, time

SHARE = 2
BESIDE = [("messages", "--limit", 5), ("seal",), ("compact",), ("verify",), ("rebuild", "nodes"), ("stats",)]
TILE = 256  # a cut is a multiple of so many events
FORGOTTEN = 0x5A0000FF  # a node that sends first, and is erased when its events are dropped


def run(part):
    from ledgers import BUSY, Ledger
    ledger = Ledger(part)
    forgotten = [number for number, _, _ in ledger.add(TILE, FORGOTTEN)]
    order = [number for number, _, _ in ledger.add(4 * TILE)]
    is_racing = True

    def drops():
        while part.goes_on() and is_racing:
            ledger.command("retain", "--larger-than", f"{part.random.randint(20, 90)}KB", "--yes", limit=180)

    def adds():
        nonlocal is_racing
        while part.goes_on(): order.extend(number for number, _, _ in ledger.add(part.random.randint(1, TILE)))
        is_racing = False

    def keeps_policy():
        """A writer that other commands can reach, and that applies the policy half a minute after its start."""
        while part.goes_on() and is_racing:
            log = part.folder / "ingest.log"
            with open(log, "wb") as file:
                writer = part.start(["ingest", "mqtt", "mqtt://127.0.0.1:1", "--ledger", ledger.path], stdout=file, stderr=file)
            until = time.monotonic() + 40
            while part.goes_on() and is_racing and time.monotonic() < until and writer.poll() is None: time.sleep(0.2)
            part.signal(writer, signal.SIGTERM, counts=False)
            ended = part.finish(writer, was_signalled=True)
            if ended.status not in (0, BUSY): part.finding(f"a writer with a policy ends with {ended.status}: {log.read_text()[-300:]}", ended.line)

    def others():
        while part.goes_on() and is_racing:
            ledger.command(*part.random.choice(BESIDE), limit=180)

    ledger.command("retain", "--policy", "--larger-than", "60KB")
    part.at_once(drops, drops, adds, others, keeps_policy)
    for _ in range(3):
        part.at_once(drops_once(part, ledger), drops_once(part, ledger), lambda: order.extend(number for number, _, _ in ledger.add(TILE)))
    check(part, ledger, order)
    for _ in range(4):  # cuts that leave half of their work
        order.extend(number for number, _, _ in ledger.add(TILE))
        ledger.command(
            "retain", "--larger-than", "20KB", "--yes", kill_after=part.random.expovariate(1 / 0.2), kill_with=signal.SIGKILL)
    ledger.maybe_erased.update(forgotten)
    ended = ledger.command("erase", "--node", f"!{FORGOTTEN:08x}", "--yes", limit=180)
    if not ended.is_done: part.finding(f"an erasure ends with {ended.status}: {ended.last_line}", ended.line)
    ledger.erased.update({number: ledger.sent[number] for number in forgotten})
    check(part, ledger, order)
    ended = ledger.command("rebuild", limit=300)
    if not ended.is_done: part.finding(f"a rebuild ends with {ended.status}: {ended.last_line}", ended.line)
    check(part, ledger, order)


def drops_once(part, ledger):
    return lambda: ledger.command("retain", "--larger-than", f"{part.random.randint(20, 60)}KB", "--yes", limit=180)


def check(part, ledger, order):
    events = ledger.events() or []
    held = set()
    for _, payload in events:
        try:
            held.add(json.loads(payload)["id"])
        except (ValueError, KeyError, TypeError):
            pass  # an event of the program's own
    kept = [number in held for number in order]
    first = kept.index(True) if True in kept else len(kept)
    if not all(kept[first:]): part.finding(f"{kept[first:].count(False)} messages are gone that are younger than the oldest kept", str(ledger.path))
    ended = ledger.command("export", "messages", "--format", "jsonl", limit=180)
    shown = {json.loads(line)["id"] for line in ended.output.splitlines()}
    missing = [number for number in order if number not in shown]
    if missing:
        dropped = sum(number not in held for number in missing)
        part.finding(f"the views lost {len(missing)} of {len(order)} messages, {dropped} of them dropped from the log", str(ledger.path))
    others = set(ledger.acknowledged) - set(order)  # the forgotten node's, and those that `check` adds
    ledger.check(dropped=others | set(order[:first]))
