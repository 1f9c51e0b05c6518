"""A provider, its phones and its events, and workers that are killed and started again, shared by the tests of all pipelines."""
import collections, concurrent.futures, contextlib, json, os, random, signal, subprocess, sys, threading, time

APP = "com.example.app"
# A phone remembers the last 4,096 messages of a provider, more than any real phone gets within minutes.
PHONES = [f"phone{number}" for number in range(40)]

# Each is answered by one line with its code, and the other lines are sealed.
BROKEN = (
    (b"", "malformed-line"),
    (b"{}", "malformed-line"),
    (b"no JSON", "unexpected-byte"),
    (b'{"to":"phone1","payload":{"aps":{"alert"', "unexpected-end"),
    (b"[" * 100_000, "too-deep"),
    (b'{"to":"nobody","payload":{"aps":{"alert":"Hello"}}}', "unknown-device"),
    (b'{"to":"phone1","payload":{"aps":{"alert":"%s"}}}' % (b"x" * 5_000), "payload-too-large"),
)
# This would be answered once for each device, so a worker makes it fail.
TO_USER = (b'{"to_user":"alice","payload":{"aps":{"alert":"Hello"}}}', "malformed-line")


class Failure(Exception):
    """A count is wrong."""


def expect(name, found, expected):
    if found == expected:
        return
    if isinstance(found, set) and isinstance(expected, set):
        missing, extra = (sorted(map(str, one)) for one in (expected - found, found - expected))
        raise Failure(f"{name}: {len(missing)} missing: {missing[:3]}; {len(extra)} not expected: {extra[:3]}")
    raise Failure(f"{name}: {found}, and not {expected}")


def figure(engine, **values):
    print(f"figure: {engine} {' '.join(f'{name}={value}' for name, value in values.items())}", flush=True)


def wait(condition, what, threads=(), seconds=1800):
    """Waits for a condition while the threads that must make it true are alive."""
    end = time.monotonic() + seconds
    while not condition():
        if any(not thread.is_alive() for thread in threads):
            raise Failure(f"a thread has ended before: {what}")
        if time.monotonic() > end:
            raise Failure(f"not within {seconds} seconds: {what}")
        time.sleep(0.05)


def token(number):
    return f"{number + 1:064x}"  # a token of zeros is no device


def phone_of(number):
    return PHONES[number % len(PHONES)]


def event(number, keys=None):
    """A line of a provider's service. Every tenth has no id."""
    phone = phone_of(number)
    name = "" if number % 10 == 3 else f'"id":"order-{number}",'
    return (
        f'{{"to":"{keys[phone] if keys else phone}",{name}"token":"{token(number)}","event":{number},'
        f'"payload":{{"aps":{{"alert":{{"title":"Order {number}","body":"It is on its way, and will be at your door between '
        f'two and four."}},"sound":"default"}},"order":{number}}}}}').encode()


class Provider:
    """A provider's store, and the stores of its phones."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        self.store = os.path.join(folder, "provider")
        self.run("--store", self.store, "init")
        self.key = self.run("--store", self.store, "key", "new", "provider", "--topic", APP)
        self.keys = {}
        for phone in PHONES:
            store = self.store_of(phone)
            self.run("--store", store, "init")
            self.keys[phone] = self.run("--store", store, "key", "new", "device", "--topic", APP).strip()
            self.run("--store", self.store, "device", "add", phone, "-", stdin=self.keys[phone])
            self.run("--store", store, "provider", "pin", "-", stdin=self.key)

    def store_of(self, phone):
        return os.path.join(self.folder, phone)

    def run(self, *arguments, stdin=""):
        done = subprocess.run([self.program, *arguments], input=stdin, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"pushcrypt {' '.join(arguments)}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def sealer(self, *options):
        return [self.program, "--store", self.store, "seal", "--batch", *options]


class Phones:
    """The messages that arrive at the phones, in order, and those that are shown."""

    def __init__(self, provider):
        self.provider = provider
        self.names = {name: phone for phone, key in provider.keys.items() for name in (phone, key)}
        self.copies = collections.Counter()  # event -> number of copies that arrived
        self.arrived = collections.Counter()  # lane -> number of events that arrived
        self.times = []  # when the first copy and the latest one arrived
        self.inboxes = {phone: open(provider.store_of(phone) + ".inbox", "w") for phone in PHONES}

    def deliver(self, text, lane=0):
        """Receives a sealed line. Each copy is a separate notification request, as when a relay delivers twice."""
        line = json.loads(text)
        number, phone = line["event"], self.names[line["to"]]
        expect(f"where event {number} goes", (phone, line["token"]), (phone_of(number), token(number)))
        self.copies[number] += 1
        if self.copies[number] == 1:
            self.arrived[lane] += 1
            self.times = [*self.times[:1], time.monotonic()]
        push = {"payload": line["payload"], "request_id": f"{number}-{self.copies[number]}", "event": number}
        print(json.dumps(push), file=self.inboxes[phone])

    def rate(self):
        """Events a second, from the first to the last."""
        return round((len(self.copies) - 1) / (self.times[1] - self.times[0]))

    def open(self, phone):
        """A phone's result for each push."""
        self.inboxes[phone].close()
        done = subprocess.run(
            [self.provider.program, "--store", self.provider.store_of(phone), "open", "--batch", "--jobs", "1",
                "--duplicates", "suppress", self.inboxes[phone].name],
            capture_output=True)
        if done.returncode != 0:
            raise Failure(f"{phone}: exit {done.returncode}: {done.stderr.decode()}{done.stdout[-1000:].decode()}")
        return [json.loads(text) for text in done.stdout.splitlines()]

    def check(self, events):
        """Every event was sealed at least once, always under one message id, and shown exactly once."""
        copies = sum(self.copies.values())
        expect("events that arrived", len(self.copies), events)
        shown, outcomes, messages = collections.Counter(), collections.Counter(), set()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for lines in pool.map(self.open, PHONES):
                for line in lines:
                    notification = line["notification"]
                    outcomes[notification["outcome"]] += 1
                    if notification["outcome"] == "opened":
                        expect("the event inside", notification["payload"]["order"], line["event"])
                        shown[line["event"]] += 1
                        messages.add(notification["message_id"])
        expect("outcomes", {**outcomes}, {"opened": events, **({"suppressed": copies - events} if copies > events else {})})
        expect("events that were shown", len(shown), events)
        expect("message ids", len(messages), events)
        return copies


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def children(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(pid) for pid in file.read().split()]
    return []


class Workers:
    """Workers that are restarted whenever they end, as by an operator's supervisor."""

    def __init__(self, commands, log):
        self.commands, self.log = commands, open(log, "ab")
        self.running, self.sealers, self.kills, self.stopping = [None] * len(commands), set(), 0, threading.Event()
        self.threads = [threading.Thread(target=self.supervise, args=(index,), daemon=True) for index in range(len(commands))]
        for thread in self.threads:
            thread.start()

    def supervise(self, index):
        while not self.stopping.is_set():
            worker = self.running[index] = subprocess.Popen(self.commands[index], stderr=self.log)
            worker.wait()
            time.sleep(0.05)

    def kill_one(self, index=None):
        """Kills a worker, the program that seals or sends for it, or both at once."""
        sealers = []
        while not sealers:
            time.sleep(0.01)
            worker = random.choice(self.running) if index is None else self.running[index]
            sealers = children(worker.pid) if worker else []
        self.sealers.update(sealers)
        for pid in random.choice(([worker.pid], sealers, [worker.pid, *sealers])):
            kill(pid)
        self.kills += 1

    def kill_at(self, moments, arrived):
        """Kills in a separate thread, a moment after so many events have arrived."""

        def run():
            for moment in moments:
                while arrived() < moment:
                    time.sleep(0.002)
                time.sleep(random.uniform(0, 0.05))
                self.kill_one()

        threading.Thread(target=run, daemon=True).start()

    def stop(self):
        """Ends the workers as an operator does; they finish their work and leave nothing running."""
        wait(lambda: all(children(worker.pid) for worker in self.running), "every worker has started")
        self.stopping.set()
        for worker in self.running:
            self.sealers.update(children(worker.pid))
            worker.send_signal(signal.SIGTERM)
        expect("exit codes of the workers", [worker.wait(60) for worker in self.running], [0] * len(self.running))
        wait(lambda: not any(map(self.seals, self.sealers)), "no sealer outlives its worker", seconds=10)

    def seals(self, pid):
        """Whether a process is a sealer, not another process with a reused number."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"\0seal\0" in file.read()
        return False

    def end(self):
        """In any case nothing continues to run."""
        self.stopping.set()
        for worker in self.running:
            for pid in [*children(worker.pid), worker.pid] if worker else []:
                kill(pid)


def moments(events, kills):
    """When to kill: spread over the arrival of the events, but not so late that none would follow."""
    return sorted(random.sample(range(events * 95 // 100), kills))


def main(test):
    """Runs a test, and ends with 1 if it fails. SIGTERM ends it too, with everything that it started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        test()
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
