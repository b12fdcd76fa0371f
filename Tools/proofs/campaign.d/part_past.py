"""Interrupted queries about the past: nothing of them stays in memory or in the ledger, including what is erased later."""
import signal

SHARE = 1
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run(part):
    from ledgers import NODES, Ledger
    ledger = Ledger(part)
    erased = [number for number, _, _ in ledger.add(200, NODES[0])]
    for _ in range(6): ledger.add(200)

    def asks():
        while part.goes_on():
            view = part.random.choice(("nodes", "messages", "packets", "channels", "gateways"))
            ledger.command(
                view, "--as-of", part.random.randint(200, 1400), "--limit", 3, kill_after=part.random.uniform(0, 1.2), kill_with=part.random.choice(SIGNALS))

    part.at_once(asks, asks, asks)
    ledger.maybe_erased.update(erased)
    ended = ledger.command("erase", "--node", f"!{NODES[0]:08x}", "--yes", limit=180)
    if ended.is_done:
        # Also others of that node, which the random choice made.
        ledger.erased.update({number: ledger.sent[number] for number in erased})
        ledger.maybe_erased.update(ledger.acknowledged)
    else:
        part.finding(f"an erasure ends with {ended.status}: {ended.last_line}", ended.line)
    ledger.check()
