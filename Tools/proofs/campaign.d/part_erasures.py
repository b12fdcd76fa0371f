"""Erasures beside readers, queries about the past and imports: they complete, and nothing erased is left anywhere."""
import signal

SHARE = 2
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
NOTHING_THERE = 66
TRUE_AFTER_A_STOP = ("is not finished", "were built before the last erasure")  # until a writer has finished the erasure


def run(part):
    from ledgers import BUSY, NODES, Ledger
    ledger = Ledger(part)
    nodes = list(NODES)
    first = {node: [number for number, _, _ in ledger.add(20, node)] for node in nodes}
    part.random.shuffle(nodes)
    keeps = nodes.pop()
    is_erasing = True
    is_unfinished = False  # an erasure was stopped, and no writer has finished it since

    def erases():
        nonlocal is_erasing, is_unfinished
        while part.goes_on() and nodes:
            node = nodes.pop()
            numbers = first[node] + [number for number, _, _ in ledger.add(part.random.randint(1, 60), node)]
            ledger.maybe_erased.update(numbers)
            if part.random.random() < 0.4: ledger.command("seal")
            if part.random.random() < 0.3:  # stopped, then said again
                is_unfinished = True
                ledger.command(
                    "erase", "--node", f"!{node:08x}", "--yes", kill_after=part.random.expovariate(1 / 0.3), kill_with=part.random.choice(SIGNALS))
                if part.random.random() < 0.5: ledger.add(1, keeps)  # the next writer finishes it
            ended = ledger.command("erase", "--node", f"!{node:08x}", "--yes", limit=180)
            is_unfinished = False
            if ended.status in (0, NOTHING_THERE):
                ledger.erased.update({number: ledger.sent[number] for number in numbers})
            elif ended.status != BUSY:
                part.finding(f"an erasure ends with {ended.status}: {ended.last_line}", ended.line)
        is_erasing = False

    def reads():
        while part.goes_on() and is_erasing:
            head, was_unfinished = len(ledger.acknowledged), is_unfinished
            ended = ledger.command(*part.random.choice([
                ("nodes",), ("messages", "--limit", 50), ("events", "--limit", 50), ("packets", "--limit", 20), ("stats",), ("verify",),
                ("messages", "--as-of", part.random.randint(1, head)), ("nodes", "--as-of", part.random.randint(1, head)),
                ("search", "messages", "a"), ("view", "digest"), ("timeline", f"!{keeps:08x}")]), limit=120)
            if (was_unfinished or is_unfinished) and any(said in ended.last_line for said in TRUE_AFTER_A_STOP): continue
            if not ended.is_done and not ended.was_signalled and ended.status != BUSY:
                part.finding(f"beside an erasure {ended.line.split()[1]} ends with {ended.status}: {ended.last_line}", ended.line)

    def adds():
        while part.goes_on() and is_erasing: ledger.add(part.random.randint(1, 10), keeps)

    part.at_once(erases, reads, reads, reads, adds)
    ledger.check()
