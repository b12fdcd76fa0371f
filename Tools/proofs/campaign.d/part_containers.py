"""Two containers on one ledger (namespaces of processes, so that both have the same numbers): one writer at a time, and nothing is lost."""
import shutil, signal, subprocess

SHARE = 1
ALONE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
AS_ROOT = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc")


def container(part):
    """The command prefix that makes a command process 1 of a container; None if this is not allowed."""
    if not shutil.which("unshare"): return None
    for prefix in (ALONE, AS_ROOT):
        if subprocess.run([*prefix, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=part.environment()).returncode == 0: return prefix
    return None


def run(part):
    from ledgers import BUSY, Ledger
    prefix = container(part)
    if not prefix:
        part.skipped = "namespaces are not allowed here"
        return
    ledger = Ledger(part)
    ledger.add(300)

    def chance():
        return {"kill_after": part.random.expovariate(1 / 0.3), "kill_with": signal.SIGKILL} if part.random.random() < 0.2 else {}

    def adds():
        while part.goes_on(): ledger.add(part.random.randint(1, 60), prefix=prefix, **chance())

    def asks():
        while part.goes_on():
            ended = ledger.command(*part.random.choice([
                ("nodes",), ("messages", "--limit", 5), ("verify",), ("seal",), ("compact",), ("rebuild", "nodes"), ("node", "favorite", "!5a000001"),
                ("messages", "--as-of", 100), ("erase", "--node", "!5b000001", "--yes"), ("follow", "--consumer", "one", "--no-follow")]),
                prefix=part.random.choice((prefix, ())), limit=120, **chance())
            if not ended.was_signalled and ended.status not in (0, 66, BUSY):
                part.finding(f"beside another container, status {ended.status}: {ended.last_line}", ended.line)

    part.at_once(adds, adds, asks, asks)
    ledger.check()
