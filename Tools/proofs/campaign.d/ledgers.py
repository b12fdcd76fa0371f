"""A ledger of a campaign: what was acknowledged and erased, and checks that it is."""
import base64, itertools, json, pathlib, re, secrets, threading, time

NODES = range(0x5A000001, 0x5A000001 + 24)
BUSY, STOPPED = 75, (130, 143)
KNOWN = re.compile(
    r"LOCK|signing\.key|keys\.json|retention|limit|checkpoints|log(/current|/\d+(/(data|lock)\.mdb)?)?"
    r"|consumers(/[\w-]+(\.lock|\.view)?)?|baselines(/\d+(/\w+(/data\.mdb)?)?)?"
    r"|views(/erased|/\w+(/(current|kept|pinned|past(/v[^/]+)?|v[^/]+(/(data|lock)\.mdb)?))?)?")


class Ledger:
    """Events are JSON messages, each with a unique id and text of random letters, by which it can be found anywhere."""

    def __init__(self, part, name="ledger"):
        self.part, self.path = part, part.folder / name
        self.acknowledged, self.sent, self.erased = {}, {}, {}
        self.maybe_erased = set()  # an erasure of them began
        self.ids = itertools.count(1)
        self.files = itertools.count(1)
        self.lock = threading.Lock()
        part.must("init", "--ledger", self.path)

    def message(self, node=None, filler=0):
        with self.lock:
            number = next(self.ids)
            text = secrets.token_hex(12)
            self.sent[number] = text
        node = node or self.part.random.choice(NODES)
        line = json.dumps({
            "from": node, "to": 0xFFFFFFFF, "id": number, "channel": 0, "type": "text", "timestamp": int(time.time()),
            "sender": "!5a000001", "payload": {"text": text + "x" * filler}})
        return number, node, line

    def acknowledge(self, numbers):
        with self.lock:
            for number in numbers: self.acknowledged[number] = self.sent[number]
        with self.part.lock:
            self.part.acknowledged += len(numbers)

    def command(self, *arguments, **options):
        return self.part.command(*arguments, "--ledger", self.path, **options)

    def file(self, messages):
        path = self.part.folder / f"{self.path.name}-{next(self.files)}.jsonl"
        path.write_text("".join(line + "\n" for _, _, line in messages))
        return path

    def add(self, count, node=None, tries=20, **options):
        """Imports a file of new messages. If it was stopped, it is imported again, which adds what is missing, and nothing twice."""
        messages = [self.message(node) for _ in range(count)]
        path = self.file(messages)
        for _ in range(tries):
            ended = self.command("import", "--format", "mqtt-json", path, **options)
            if ended.is_done:
                self.acknowledge([number for number, _, _ in messages])
                path.unlink()
                return messages
            if not ended.was_signalled and ended.status != BUSY:
                self.part.finding(f"status {ended.status}: {ended.last_line}", ended.line)
                return []
            options = {key: value for key, value in options.items() if not key.startswith("kill")}
        return []

    def events(self):
        """(sequence, bytes) of all events; None if they cannot be read."""
        ended = self.command("export", "events", "--format", "jsonl", limit=180)
        if not ended.is_done:
            self.part.finding(f"the events cannot be read, status {ended.status}: {ended.last_line}", ended.line)
            return None
        rows = map(json.loads, ended.output.splitlines())
        return [(row["sequence"], base64.b64decode(row.get("payload_b64") or "")) for row in rows]

    # Final checks

    def check(self, may_be_twice=False, dropped=(), tidies=True):
        """Checks that nothing acknowledged is missing, nothing erased is left, and `verify` agrees."""
        part = self.part
        # A writer clears away what killed ones left.
        if tidies and not self.add(1): part.finding("nothing can be written after the part")
        ended = self.command("verify", limit=180)
        if not ended.is_done: part.finding(f"verify ends with {ended.status}: {ended.last_line}", ended.line)
        events = self.events()
        if events is not None: self.check_events(events, may_be_twice, dropped)
        for path, found in part.holding([text.encode() for text in self.erased.values()], self.path):
            part.finding(f"{found.decode()} was erased and is in {path}")
        self.check_files()
        part.check_memory(self.path)

    def check_events(self, events, may_be_twice, dropped):
        sequences = [sequence for sequence, _ in events]
        if sequences != list(range(sequences[0], sequences[0] + len(sequences))) if sequences else False:
            self.part.finding("the sequences have gaps or are out of order", f"export events --ledger {self.path}")
        seen = {}
        for sequence, payload in events:
            try:
                row = json.loads(payload)
                number, text = row["id"], row["payload"]["text"]
            except (ValueError, KeyError, TypeError):
                continue  # an event of the program's own
            if number in seen and not may_be_twice: self.part.finding(f"message {number} is stored twice, as event {seen[number]} and {sequence}")
            if not text.startswith(self.sent.get(number, "?")): self.part.finding(f"event {sequence} is not what was sent")
            if number in self.erased: self.part.finding(f"message {number} was erased and is event {sequence}")
            seen[number] = sequence
        missing = sorted(number for number in self.acknowledged if number not in seen and number not in self.maybe_erased | set(dropped))
        if missing: self.part.finding(f"{len(missing)} of {len(self.acknowledged)} acknowledged messages are missing: {missing[:8]} …", str(self.path))

    def check_files(self):
        for path in sorted(self.path.rglob("*")):
            name = str(path.relative_to(self.path))
            if not KNOWN.fullmatch(name): self.part.finding(f"left in the ledger: {re.sub('[0-9A-F-]{36}', 'UUID', name)}", str(self.path))
        for folder in ("log", "baselines"):
            numbers = [path.name for path in (self.path / folder).glob("[0-9]*")]
            if len(numbers) > 1: self.part.finding(f"more than one is left in {folder}: {', '.join(sorted(numbers))}", str(self.path))
