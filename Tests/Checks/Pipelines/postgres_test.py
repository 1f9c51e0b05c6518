"""A provider in PostgreSQL: 100 phones register, rotate and receive at the same time, while its processes and its database are killed, its
signing key is rotated, replaced after a theft, and rotated again, also on an old copy of the database. COUNT is the number of devices in the table, EVENTS of messages, at least
1,300.

    postgres_test.py FOLDER PROGRAM SERVICE
"""
import collections, contextlib, glob, http.client, json, os, random, shutil, signal, socket, subprocess, sys, threading, time

import psycopg
from pushcrypt import (
    Credential, DeviceKey, DevicePublicKey, DeviceRecord, ProviderKey, PushcryptError, Reply, Sealer, Trust, apply_reply, open_push,
)
from scene import APP, Failure, count, expect, main, wait

COUNT, EVENTS, KILLS = (int(os.environ.get(name, value)) for name, value in (("COUNT", 1_000_000), ("EVENTS", 10_000), ("KILLS", 20)))
PHONES, ASLEEP = 100, 10
FOLDER, PROGRAM, SERVICE = sys.argv[1:]
URL = f"host={FOLDER} dbname=postgres user=provider"
PROVIDER, OTHER = (("--provider-key-file", os.path.join(FOLDER, name)) for name in ("provider.key", "other.key"))


class Database:
    """PostgreSQL in a folder, reached by its socket. It refuses to run as root."""

    def __init__(self):
        self.folder = os.path.join(FOLDER, "database")
        tools = sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [os.path.dirname(shutil.which("initdb") or "")]
        self.tools = tools[-1]
        self.whom = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.whom:
            shutil.chown(FOLDER, "postgres")
        self.run("initdb", "-D", self.folder, "-U", "provider", "-A", "trust", "-N")
        with open(os.path.join(self.folder, "postgresql.conf"), "a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{FOLDER}'\nmax_wal_size = 4GB\n")
        self.start()

    def run(self, tool, *arguments):
        done = subprocess.run([*self.whom, os.path.join(self.tools, tool), *arguments], capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise Failure(f"{tool}: {done.stderr[-1000:]}")

    def start(self):
        self.run("pg_ctl", "-D", self.folder, "-w", "-l", os.path.join(FOLDER, "database.log"), "start")

    def stop(self):
        """As a crash: nothing is finished."""
        self.run("pg_ctl", "-D", self.folder, "-w", "-m", "immediate", "stop")


class Processes:
    """The service's processes, which a supervisor starts again."""

    def __init__(self, commands):
        self.commands, self.running, self.over = commands, [None] * len(commands), False
        self.log = open(os.path.join(FOLDER, "service.log"), "ab")
        self.threads = [threading.Thread(target=self.supervise, args=(number,), daemon=True) for number in range(len(commands))]
        for thread in self.threads:
            thread.start()

    def supervise(self, number):
        while not self.over:
            self.running[number] = subprocess.Popen(self.commands[number], stderr=self.log)
            self.running[number].wait()
            time.sleep(0.1)

    def kill(self):
        random.choice([process for process in self.running if process]).kill()

    def end(self):
        self.over = True
        for process in filter(None, self.running):
            process.kill()
        for thread in self.threads:
            thread.join(10)


class Phone:
    def __init__(self, number, ports):
        self.name, self.user, self.ports = f"phone{number}", f"user{number // 2}", ports
        self.keys, self.generation = [DeviceKey.generate()], 1
        self.trust, self.opened, self.refused, self.learned = Trust(), collections.Counter(), [], 0
        self.inbox, self.lock, self.registrations = [], threading.Lock(), 0

    def ask(self, body, user=None, device=None):
        """The reply to a record, whatever happens to the service meanwhile."""
        for _ in range(300):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", random.choice(self.ports), timeout=20)
                connection.request("POST", f"/devices/{device or self.name}", body, {"x-user": user or self.user})
                answer = connection.getresponse()
                data = answer.read()
                connection.close()
                if answer.status == 200:
                    self.registrations += 1
                    return Reply.parse(data)
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.2)
        raise Failure(f"{self.name}: no answer")

    def record(self):
        pin = next(iter(self.trust.pins), None)
        certificate = pin and self.trust.learned(pin).certificate
        return DeviceRecord(public_key=self.keys[-1].public_key, topic=APP, generation=self.generation, provider=pin, certificate=certificate)

    def register(self):
        reply = self.ask(self.record().to_json())
        confirmed, told = apply_reply(reply, self.keys[-1].public_key, self.trust, topic=APP, is_built_in=False)
        if not confirmed or told or reply.foreign:
            raise Failure(f"{self.name}: refused as {reply.refused}, told {told}, foreign {reply.foreign}")

    def rotate(self):
        self.keys.append(DeviceKey.generate())
        self.generation += 1
        self.register()

    def receive(self):
        """Opens what has come, in order, and learns of the provider."""
        with self.lock:
            pushes, self.inbox = sorted(self.inbox), []
            for _, name, body in pushes:
                try:
                    opened = open_push(body, topic=APP, devices=self.keys, trust=self.trust)
                except PushcryptError as error:
                    self.refused.append(str(error.code))
                    continue
                expect("the event inside", json.loads(opened.payload)["event"], name)
                self.opened[name] += 1
                if opened.learned != self.trust.learned(opened.provider):
                    self.learned += 1
                self.trust.learn(opened.provider, opened.learned)
            return len(pushes)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def service(command, *options, keys="keys"):
    return [sys.executable, SERVICE, command, "--database", URL, "--keys", os.path.join(FOLDER, keys), "--topic", APP, *options]


def call(command, *options, **others):
    done = subprocess.run(service(command, *options, **others), capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failure(f"{command}: {done.stderr[-1000:]}")
    return done.stdout.strip()


def each(phones, work):
    """Does work for all phones at the same time."""
    failures = []

    def run(phone):
        try:
            work(phone)
        except Exception as failure:
            failures.append(f"{phone.name}: {failure!r}")

    threads = [threading.Thread(target=run, args=(phone,)) for phone in phones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise Failure("; ".join(failures[:3]))


class Run:
    def __init__(self, database):
        self.database, self.low, self.seen, self.finished = database, 0, set(), False
        self.ports = [free_port() for _ in range(2)]
        self.phones = [Phone(number, self.ports) for number in range(PHONES)]
        self.awake = self.phones[:-ASLEEP]
        self.fed, self.expected = 0, collections.defaultdict(set)

    def again(self, work):
        """Work of the test on the database, which goes away now and then."""
        while True:
            try:
                with psycopg.connect(URL) as connection:
                    return work(connection)
            except psycopg.OperationalError:
                time.sleep(0.2)

    def fill(self):
        """Devices of others: a table of this size has indexes that do not fit into a page."""
        with psycopg.connect(URL) as connection:
            connection.execute(
                """
                INSERT INTO devices SELECT 'other' || n, 'owner' || n, set_byte(hash, 31, get_byte(hash, 31) & 127), 1, %s
                FROM (SELECT n, sha256(convert_to('device' || n, 'UTF8')) AS hash FROM generate_series(1, %s) AS n) AS made
                """, (APP, COUNT - PHONES))

    def feed(self, until):
        """Messages to all phones, a hundred at a time, each once whatever the database does."""
        while self.fed < until:
            names = [f"event-{number}" for number in range(self.fed, min(self.fed + 100, until))]
            rows = [(name, self.phones[int(name[6:]) % PHONES].name, json.dumps(
                {"aps": {"alert": {"title": "Table for two", "body": f"It is {name}"}}, "event": name})) for name in names]

            def insert(connection):
                # After a commit of which nobody knows whether it happened.
                if not connection.execute(
                        "SELECT EXISTS (SELECT FROM events WHERE id = %s) OR EXISTS (SELECT FROM pushes WHERE id = %s)", (names[0], names[0])).fetchone()[0]:
                    with connection.cursor() as cursor:
                        cursor.executemany("INSERT INTO events (id, device, payload) VALUES (%s, %s, %s)", rows)

            self.again(insert)
            for name, device, _ in rows:
                self.expected[device].add(name)
            self.fed += len(rows)

    def deliver(self):
        """Brings pushes to the phones, as APNs would, until the end."""
        phones = {phone.name: phone for phone in self.phones}
        while not self.finished:
            rows = self.again(lambda connection: connection.execute(
                "SELECT number, id, device, body, refused FROM pushes WHERE number > %s ORDER BY number", (self.low,)).fetchall())
            for number, name, device, body, refused in rows:
                if number in self.seen:
                    continue
                self.seen.add(number)
                if refused:
                    phones[device].refused.append(refused)
                else:
                    with phones[device].lock:
                        phones[device].inbox.append((number, name, body.encode()))
            while self.low + 1 in self.seen:
                self.low += 1
            time.sleep(0.05)

    def bring(self, until, threads):
        """Messages to the phones that are awake, and opened there."""
        self.feed(until)
        wait(lambda: len(self.seen) >= self.fed, 300, f"{until} messages are sealed", threads)
        wait(lambda: not any(phone.inbox for phone in self.awake), 60, "and opened", threads)

    def live(self, phone):
        """A phone that is used: it opens, rotates its key now and then, and reports a new certificate, if it is an even one."""
        while not self.finished:
            before = phone.learned
            phone.receive()
            if random.random() < 0.02:
                phone.rotate()
            elif phone.learned > before and int(phone.name[5:]) % 2 == 0:
                phone.register()
            time.sleep(random.uniform(0.05, 0.3))

    def attacks(self, phone):
        """Records that nobody may have accepted."""
        other = self.phones[(self.phones.index(phone) + 2) % PHONES]
        taken = DeviceRecord(public_key=other.keys[-1].public_key, topic=APP, generation=phone.generation + 1)
        old = DeviceRecord(public_key=DeviceKey.generate().public_key, topic=APP, generation=phone.generation)
        elsewhere = DeviceRecord(public_key=DeviceKey.generate().public_key, topic=APP + ".other")
        mine = DeviceRecord(public_key=DeviceKey.generate().public_key, topic=APP, generation=phone.generation + 1)
        expect("another's key", phone.ask(taken.to_json()).refused, "key-taken")
        expect("a device of another app", phone.ask(elsewhere.to_json(), device=f"{phone.name}-elsewhere").refused, "topic-mismatch")
        expect("an old record", phone.ask(old.to_json()).refused, "generation-rollback")
        expect("another's device", phone.ask(mine.to_json(), user=other.user).refused, "user-mismatch")
        expect("no record", phone.ask(b"{}").refused, "malformed-record")
        for length in ("\xb2", "-1", "100000"):
            connection = http.client.HTTPConnection("127.0.0.1", random.choice(self.ports), timeout=20)
            connection.request("POST", f"/devices/{phone.name}", headers={"x-user": phone.user, "content-length": length})
            expect(f"a content-length of {length}", connection.getresponse().status, 400)
            connection.close()

    def topics(self, phone):
        """A record for another app is refused after all else that is wrong with it; one without a topic is for this app."""
        other, device = self.phones[2], f"{phone.name}-topic"
        elsewhere = DeviceRecord(public_key=DeviceKey.generate().public_key, topic=APP + ".other")
        expect("another app, another's device", phone.ask(elsewhere.to_json(), user=other.user).refused, "user-mismatch")
        expect("another app, an old record", phone.ask(elsewhere.to_json()).refused, "generation-rollback")
        own = DeviceRecord(public_key=phone.keys[-1].public_key, topic=APP + ".other")
        expect("another app, a key of the same user", phone.ask(own.to_json(), device=device).refused, "topic-mismatch")
        silent = DeviceRecord(public_key=DeviceKey.generate().public_key)
        expect("no topic", phone.ask(silent.to_json(), device=device).acknowledged, silent.public_key)
        with psycopg.connect(URL) as connection:
            rows = connection.execute("DELETE FROM devices WHERE device = %s RETURNING topic", (device,)).fetchall()
            expect("the topic of a record without one", rows, [(APP,)])
            expect("the row of the key", connection.execute("SELECT 1 FROM devices WHERE device = %s", (phone.name,)).fetchall(), [(1,)])

    def foreign(self, phone):
        """The operator is told of a phone that trusts somebody else, and of no other."""
        device = f"{phone.name}-foreign"
        record = DeviceRecord(public_key=DeviceKey.generate().public_key, provider=ProviderKey.generate().public_key)
        reply = phone.ask(record.to_json(), device=device)
        expect("a foreign provider", (reply.acknowledged, [*reply.foreign]), (record.public_key, ["provider"]))
        with open(os.path.join(FOLDER, "service.log")) as log:
            told = [line for line in log if "never had" in line]
        expect("what the operator reads", told, [f"{device} names a key that this provider never had: provider\n"])
        with psycopg.connect(URL) as connection:
            connection.execute("DELETE FROM devices WHERE device = %s", (device,))

    def post_quantum(self, phone):
        """A key to which this server cannot seal is refused, unless another server has stored it."""
        key = DevicePublicKey(bytes(1184) + bytes(DeviceKey.generate().public_key))
        record, device = DeviceRecord(public_key=key, topic=APP).to_json(), f"{phone.name}-later"
        expect("a key of suite 2", phone.ask(record, device=device).refused, "unsupported-suite")
        with psycopg.connect(URL) as connection:
            connection.execute("INSERT INTO devices VALUES (%s, %s, %s, 1, %s)", (device, phone.user, bytes(key), APP))
        expect("a held key of suite 2", phone.ask(record, device=device).acknowledged, key)
        with psycopg.connect(URL) as connection:
            connection.execute("DELETE FROM devices WHERE device = %s", (device,))


def test():
    database = Database()
    for name in ("provider.key", "other.key"):
        with open(os.path.join(FOLDER, name), "w") as file:
            file.write(ProviderKey.generate().secret_text())
    for folder in ("keys", "empty", "trusted"):
        os.mkdir(os.path.join(FOLDER, folder))
    call("init", *PROVIDER)
    fails("another init", "already exists", "init", *PROVIDER)
    run = Run(database)
    run.fill()
    processes = Processes([*(service("serve", "--port", str(port)) for port in run.ports), service("seal"), service("seal")])
    try:
        phases(run, processes, database)
    finally:
        run.finished = True
        processes.end()
        database.stop()


def phases(run, processes, database):
    each(run.phones, Phone.register)
    start = time.monotonic()
    each(run.phones, lambda phone: [phone.register() for _ in range(10)])
    count("registrations a second", round(10 * PHONES / (time.monotonic() - start)), "postgres")
    each(run.phones[::7], run.attacks)
    run.post_quantum(run.phones[0])
    run.topics(run.phones[0])
    run.foreign(run.phones[0])
    crowd(run)

    threads = [threading.Thread(target=run.deliver, daemon=True)]
    threads += [threading.Thread(target=run.live, args=(phone,), daemon=True) for phone in run.awake]
    for thread in threads:
        thread.start()
    start, kills = time.monotonic(), [0]

    def trouble():
        while kills[0] < KILLS and not run.finished:
            time.sleep(random.uniform(0.2, 1))
            processes.kill()
            kills[0] += 1
            if kills[0] in (KILLS // 3, 2 * KILLS // 3):
                database.stop()
                time.sleep(0.5)
                database.start()

    troubling = threading.Thread(target=trouble, daemon=True)
    troubling.start()
    run.feed(EVENTS // 3)
    first = current(run)
    wait(lambda: attempt("rotate", *PROVIDER), 60, "the key is rotated")
    run.bring(2 * EVENTS // 3, threads)
    troubling.join()
    count("messages a second until then", round(run.fed / (time.monotonic() - start)), "postgres")

    stolen = current(run)
    expect("the key before the rotation", os.path.exists(key_file(first)), False)
    rotate_elsewhere(run)
    refused()
    run.bring(17 * EVENTS // 24, threads)
    for part in range(18, 21):
        call("rotate", *PROVIDER)
        run.bring(part * EVENTS // 24, threads)
    wait(lambda: all(phone.trust.learned(phone.trust.pins[0]).certificate == current(run).certificate for phone in run.awake), 60, "all know it")
    new = rotate_old_copy(run)
    run.bring(EVENTS, threads)
    run.finished = True
    for thread in threads:
        thread.join(30)
    # Those that were asleep wake up, and get everything in order.
    each(run.phones, Phone.receive)
    each(run.phones, Phone.register)

    for phone in run.phones:
        expect(f"{phone.name}: refused", phone.refused, [])
        expect(f"{phone.name}: opened", phone.opened, collections.Counter(run.expected[phone.name]))
        expect(f"{phone.name}: epoch", phone.trust.learned(phone.trust.pins[0]).certificate.epoch, new)
        for thief in (first, stolen):
            push = Sealer(thief, topic=APP).seal({"aps": {"alert": "a"}}, phone.keys[-1].public_key)
            with phone.lock:
                phone.inbox.append((0, "thief", push.payload))
        phone.receive()
        expect(f"{phone.name}: a thief's messages", phone.refused, ["authentication-failed"] * 2)
    check_table(run)
    open_with_pushcrypt(run)
    expect("the key that signs", current(run).certificate.epoch, new)
    count("devices", COUNT, "postgres")
    count("phones", PHONES, "postgres")
    count("registrations", sum(phone.registrations for phone in run.phones), "postgres")
    count("messages shown once each", sum(map(len, run.expected.values())), "postgres")
    count("processes killed", KILLS, "postgres")


def crowd(run):
    """All phones register while the table is locked: each of two servers has 20 connections, each of two sealers one."""
    with psycopg.connect(URL) as locking, psycopg.connect(URL, autocommit=True) as watching:
        locking.execute("LOCK TABLE devices")

        def others():
            return watching.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'").fetchone()[0] - 2

        waiting = threading.Thread(target=each, args=(run.phones, Phone.register))
        waiting.start()
        wait(lambda: others() >= 42, 15, "all connections are used")
        time.sleep(0.5)
        expect("connections", others(), 42)
        locking.rollback()
        waiting.join()


def rotate_elsewhere(run):
    """After a theft, on a machine that has no signing key. What the thief signs opens no more."""
    old, trusted = current(run), os.path.join(FOLDER, "trusted")
    new = call("rotate", "--stolen", *PROVIDER, keys="trusted")
    expect("the keys of the trusted machine", os.listdir(trusted), [f"{new}.key"])
    os.rename(os.path.join(trusted, f"{new}.key"), os.path.join(FOLDER, "keys", f"{new}.key"))
    os.unlink(key_file(old))


def rotate_old_copy(run):
    """A copy of the database from before the last rotation: a phone shows what was issued since, and the next epoch is above it."""
    lost = current(run)
    with psycopg.connect(URL) as connection:
        connection.execute("DELETE FROM certificates WHERE replaced_at IS NULL")
        connection.execute("UPDATE certificates SET replaced_at = NULL WHERE epoch = (SELECT max(epoch) FROM certificates)")
    run.awake[0].ask(run.awake[0].record().to_json())
    with open(os.path.join(FOLDER, "service.log")) as log:
        expect("what the operator reads", any(line.startswith("stale-store: phone0 ") for line in log), True)
    new = int(call("rotate", *PROVIDER))
    expect("the epoch and the floor after an old copy", (new > lost.certificate.epoch, current(run).certificate.floor), (True, new))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(key_file(lost))
    return new


def refused():
    """What fails changes nothing, and leaves no key."""
    fails("a rotation without the provider key", "needs --provider-key-file", "rotate")
    fails("a rotation by another provider key", "another provider key", "rotate", *OTHER)
    fails("a sealer without the key", "FileNotFoundError", "seal", keys="empty")


def fails(what, reason, command, *options, keys="keys"):
    def state():
        with psycopg.connect(URL) as connection:
            tables = [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in ("providers", "certificates")]
        return tables, sorted(os.listdir(os.path.join(FOLDER, keys)))

    before, found = state(), ""
    try:
        call(command, *options, keys=keys)
    except Failure as failure:
        found = str(failure)
    expect(f"{what}: {found or 'done'}", reason in found, True)
    expect(f"{what}: keys", state(), before)


def attempt(command, *options):
    """Whether it worked; the database may be away."""
    try:
        call(command, *options)
        return True
    except Failure:
        return False


def current(run):
    """What signs."""
    epoch = run.again(lambda connection: connection.execute("SELECT epoch FROM certificates WHERE replaced_at IS NULL").fetchone()[0])
    with open(os.path.join(FOLDER, "keys", f"{epoch}.key")) as file:
        return Credential.parse(file.read())


def key_file(credential):
    return os.path.join(FOLDER, "keys", f"{credential.certificate.epoch}.key")


def check_table(run):
    with psycopg.connect(URL) as connection:
        expect("devices", connection.execute("SELECT count(*) FROM devices").fetchone()[0], COUNT)
        rows = connection.execute("SELECT device, owner, public_key, generation FROM devices WHERE device LIKE 'phone%'").fetchall()
    for device, owner, key, generation in rows:
        phone = run.phones[int(device[5:])]
        expect(f"the row of {device}", (owner, bytes(key), generation), (phone.user, bytes(phone.keys[-1].public_key), phone.generation))


def open_with_pushcrypt(run):
    """The product opens the last message of some phones too."""
    with psycopg.connect(URL) as connection:
        rows = connection.execute("SELECT device, body FROM pushes ORDER BY number DESC LIMIT 20").fetchall()
    for device, body in rows:
        phone = run.phones[int(device[5:])]
        results = []
        for key in phone.keys:
            path = os.path.join(FOLDER, "phone.key")
            with open(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
                file.write(key.secret_text() + "\n")
            results.append(subprocess.run(
                [PROGRAM, "open", "--topic", APP, "--device-key-file", path, "--provider", str(run.phones[0].trust.pins[0])], input=body, capture_output=True, text=True).returncode)
        expect(f"what pushcrypt opens for {device}", results.count(0), 1)


main(test)
