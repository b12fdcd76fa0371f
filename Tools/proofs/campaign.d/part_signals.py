"""All commands at once on one ledger, each killed, terminated or interrupted at a random moment in every third run."""
import signal

SHARE = 2
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def commands(part, ledger):
    """The commands to run, by weight: arguments without the ledger."""
    random = part.random
    node = f"!{random.choice((0x5A000001, 0x5A000009, 0x5A000011)):08x}"
    head = max(len(ledger.acknowledged), 1)
    place = part.folder / f"made-{random.randrange(1 << 40):x}"
    return [
        ("nodes",), ("messages", "--limit", 20), ("events", "--limit", 5), ("stats",), ("verify",), ("channels",), ("view", "list"),
        ("packets", "--limit", 5), ("timeline", node), ("search", "messages", "abc"), ("view", "digest"), ("consumers",),
        ("retain", "--larger-than", "9GB", "--yes"),
        ("nodes", "--as-of", random.randint(1, head)), ("messages", "--as-of", random.randint(1, head)),
        ("seal",), ("compact",), ("rebuild",), ("rebuild", "nodes"), ("rebuild", "messages", "--diff"), ("limit", "20GB"), ("checkpoint",),
        ("node", "favorite", node), ("node", "archive", node), ("backup", part.folder / "backup"), ("export", "messages", "--format", "csv"),
        ("export", "--format", "ledger", place), ("follow", "--consumer", "reader", "--no-follow"),
        ("follow", "--consumer", "rows", "--view", "nodes", "--no-follow"),
    ]


def run(part):
    from ledgers import Ledger
    ledger = Ledger(part)
    ledger.add(300)

    def chance():
        if part.random.random() > 0.35: return {}
        return {"kill_after": part.random.expovariate(1 / 0.25), "kill_with": part.random.choice(SIGNALS)}

    def adds():
        while part.goes_on(): ledger.add(part.random.randint(1, 40), **chance())

    def asks():
        while part.goes_on(): ledger.command(*part.random.choice(commands(part, ledger)), limit=120, **chance())

    part.at_once(adds, adds, asks, asks, asks, asks)
    ledger.check()
