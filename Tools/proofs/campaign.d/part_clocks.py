"""Clocks that jump ahead and back, by years, with a policy of 90 days: no recent event is dropped, and no command fails."""
import time

from walltime import WallClock

SHARE = 1
DAY = 86_400
JUMPS = (200 * DAY, -200 * DAY, 3600, -3600, 20 * 365 * DAY, -60 * 365 * DAY, 89 * DAY, 400 * 365 * DAY, 0)


def run(part):
    from ledgers import Ledger
    if not WallClock.can_be_made():
        part.skipped = "gcc is not installed"
        return
    clock = WallClock(part.folder)
    environment, jump = clock.environment, clock.move
    ledger = Ledger(part)
    ledger.add(600, environment=environment)
    ended = ledger.command("retain", "--policy", "--older-than", "90d", environment=environment)
    if not ended.is_done: part.finding(f"status {ended.status}: {ended.last_line}", ended.line)
    check_shim(part, ledger, environment, jump)

    def jumps():
        while part.goes_on():
            jump(part.random.choice(JUMPS))
            time.sleep(part.random.uniform(0.2, 2))
        jump(0)

    def adds():
        while part.goes_on(): ledger.add(part.random.randint(1, 300), environment=environment)

    def asks():
        while part.goes_on():
            ended = ledger.command(*part.random.choice([
                ("nodes",), ("messages", "--since", "2h ago", "--limit", 5), ("events", "--limit", 5), ("stats",), ("verify",), ("seal",), ("compact",),
                ("messages", "--as-of", part.random.randint(1, 600)), ("rebuild", "messages"), ("node", "favorite", "!5a000002")]),
                environment=environment, limit=120)
            if ended.status not in (0, 75): part.finding(f"with a jumping clock, status {ended.status}: {ended.last_line}", ended.line)

    part.at_once(jumps, adds, asks, asks)
    ledger.check()


def check_shim(part, ledger, environment, jump):
    """Checks that the program's clock really jumps: otherwise this part would prove nothing."""
    jump(20 * 365 * DAY)
    number, _, _ = ledger.add(1, environment=environment)[0]
    jump(0)
    ended = ledger.command("events", "--limit", 1, "--format", "json")
    year = time.gmtime().tm_year + 19
    if not any(str(year + later).encode() in ended.output for later in (0, 1, 2)):
        part.finding(f"the campaign itself: the clock's shim does nothing to message {number}", ended.line)
