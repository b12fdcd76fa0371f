"""A real mosquitto and a persistent session: what it acknowledged is stored, however often `ingest` is killed while other commands run."""
import json, re, signal, time

SHARE = 2
CLIENT = "campaign"


def ingest(part, ledger, port):
    # One file for all runs, since a pipe would not be read while it listens.
    with open(part.folder / "ingest.log", "ab") as log:
        return part.start(
            ["ingest", "mqtt", f"mqtt://127.0.0.1:{port}/msh/#", "--qos", 1, "--client-id", CLIENT, "--keep-session", "--ledger", ledger.path],
            stdout=log, stderr=log)


def ids(ledger):
    found = set()
    for _, payload in ledger.events() or []:
        try:
            found.add(json.loads(payload)["id"])
        except (ValueError, KeyError, TypeError):
            pass
    return found


def wait_for_session(part, ledger, publisher):
    """The broker keeps messages from the first subscription on."""
    for _ in range(60):
        number, _, line = ledger.message()
        publisher.publish([("msh/campaign/2/json/LongFast/!5a000001", line.encode())])
        time.sleep(0.5)
        if number in ids(ledger): return True
    part.finding("ingest stores nothing of a broker that works", str(ledger.path))
    return False


def run(part):
    from ledgers import Ledger
    import mqtt
    if not mqtt.Mosquitto.program():
        part.skipped = "mosquitto is not installed"
        return
    ledger, broker = Ledger(part), mqtt.Mosquitto(part)
    listener = ingest(part, ledger, broker.port)
    publisher = mqtt.Publisher(broker.port, "publisher")
    try:
        if not wait_for_session(part, ledger, publisher): return

        def publishes():
            while part.goes_on():
                messages = [ledger.message(filler=part.random.choice((0, 40, 400))) for _ in range(part.random.choice((1, 20, 100)))]
                publisher.publish([(f"msh/campaign/2/json/c{number % 7}/!{node:08x}", line.encode()) for number, node, line in messages])
                ledger.acknowledge([number for number, _, _ in messages])
                time.sleep(part.random.expovariate(1 / 0.2))

        def kills():
            nonlocal listener
            while part.goes_on():
                time.sleep(part.random.expovariate(1 / 1.5))
                if listener.poll() is None:
                    part.signal(listener, part.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
                    part.finish(listener, was_signalled=True)
                    listener = ingest(part, ledger, broker.port)
                else:
                    listener = again(part, ledger, broker, listener)

        def asks():
            while part.goes_on():
                ledger.command(*part.random.choice([
                    ("verify",), ("nodes",), ("seal",), ("compact",), ("stats",), ("node", "favorite", "!5a000003"), ("messages", "--limit", 5),
                    ("rebuild", "nodes"), ("retain", "--larger-than", "9GB", "--yes"), ("checkpoint",)]), limit=120)

        part.at_once(publishes, kills, asks, asks)
        deadline = time.monotonic() + 60
        while missing(ledger) and time.monotonic() < deadline:
            if listener.poll() is not None: listener = again(part, ledger, broker, listener)
            time.sleep(1)
    finally:
        publisher.close()
        part.signal(listener, signal.SIGTERM, counts=False)
        part.finish(listener, was_signalled=True)
        broker.close()
    ledger.check(may_be_twice=True)


def again(part, ledger, broker, listener):
    """Listens again if `ingest` has ended by itself, which it must not while the broker is there."""
    part.finish(listener)
    last = (part.folder / "ingest.log").read_text(errors="replace").strip().splitlines()[-1]
    part.finding(f"ingest ends by itself with {listener.returncode}: {re.sub('process [0-9]+', 'process N', last)}", listener.line)
    return ingest(part, ledger, broker.port)


def missing(ledger):
    return set(ledger.acknowledged) - ids(ledger)
