"""The provider in PostgreSQL, between 100 phones and a local APNs: its processes and its database are killed while events come in and the
signing key is replaced. COUNT is the number of devices in the table, EVENTS of events at least, KILLS of each process and of the database.

    postgres_test.py FOLDER PROGRAM SERVICE
"""
import asyncio, collections, contextlib, dataclasses, glob, http.client, itertools, json, logging, os, random, resource, shutil, signal, socket, statistics
import subprocess, sys, threading, time

import psycopg, psycopg_pool
from pushcrypt import CertificateRequest, Credential, DevicePublicKey, DeviceRecord, ProviderKey, PushcryptError, Reply, Sealer
from pushcrypt.testing import DeviceKey, Trust, apply_reply, open_push
from scene import APP, Failure, count, expect, main, wait

COUNT, EVENTS, KILLS = (int(os.environ.get(name, value)) for name, value in (("COUNT", 1_000_000), ("EVENTS", 10_000), ("KILLS", 20)))
PHONES, SLOW = 100, 1000
FOLDER, PROGRAM, SERVICE = sys.argv[1:]
URL, LOG = f"host={FOLDER} dbname=postgres user=provider", os.path.join(FOLDER, "service.log")
MOCK = os.path.join(os.path.dirname(__file__), "../Send/serve.py")
SECRET = "zebra-47-quartz"  # In every payload, so that its traces can be looked for.
GONE, RENEWED = "d0" * 32, "d1" * 32
logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
sys.path.append(SERVICE)
import sender, store


class Database:
    """PostgreSQL in a folder, reached by its socket. It refuses to run as root."""

    def __init__(self):
        self.folder = os.path.join(FOLDER, "database")
        self.tools = (sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [os.path.dirname(shutil.which("initdb") or "")])[-1]
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
        self.threads = [threading.Thread(target=self.supervise, args=(number,), daemon=True) for number in range(len(commands))]
        for thread in self.threads:
            thread.start()

    def supervise(self, number):
        while not self.over:
            with open(LOG, "ab") as log:
                self.running[number] = subprocess.Popen(self.commands[number], stderr=log)
            self.running[number].wait()
            time.sleep(0.1)

    def kill(self, number, is_child=False):
        """Kills a process, or the child that sends for it."""
        def pids():
            with contextlib.suppress(OSError, AttributeError), open(f"/proc/{self.running[number].pid}/task/{self.running[number].pid}/children") as file:
                return [int(pid) for pid in file.read().split()]

        wait(lambda: not is_child or pids(), 60, "a child runs")
        with contextlib.suppress(OSError):
            os.kill(random.choice(pids()) if is_child else self.running[number].pid, signal.SIGKILL)

    def end(self):
        self.over = True
        for process in filter(None, self.running):
            process.kill()
        for thread in self.threads:
            thread.join(10)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def service(*arguments, keys="keys"):
    return [sys.executable, SERVICE, "--database", URL, "--keys", os.path.join(FOLDER, keys), *map(str, arguments)]


def call(*arguments, **others):
    done = subprocess.run(service(*arguments, **others), capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failure(f"{arguments[0]}: {done.stderr[-1000:]}")
    return done.stdout.strip()


def fails(what, reason, *arguments, **others):
    try:
        found = call(*arguments, **others)
    except Failure as failure:
        found = str(failure)
    expect(f"{what}: {found}", reason in found, True)


def asked(port, method, path, body=None, headers=None, seconds=20):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def persistently(ports, *request):
    """The answer to a request, whatever happens to the service meanwhile."""
    for _ in range(600):
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, data = asked(random.choice(ports), *request)
            if status < 500:
                return status, data
        time.sleep(0.1)
    raise Failure("no answer for a minute")


def rows(query, *values):
    """A query of the test, whose database goes away now and then."""
    while True:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(URL, autocommit=True) as connection:
            done = connection.execute(query, values)
            return done.fetchall() if done.description else done.rowcount


class Phone:
    def __init__(self, name, user, ports, token=None):
        self.name, self.user, self.ports, self.token = name, user, ports, token or os.urandom(32).hex()
        self.keys, self.generation, self.trust = [DeviceKey.generate()], 1, Trust()
        self.messages, self.copies, self.refused, self.lock = collections.defaultdict(set), 0, collections.Counter(), threading.Lock()

    def ask(self, record, user=None, device=None):
        status, data = persistently(self.ports, "POST", f"/devices/{device or self.name}", record, {"x-user": user or self.user})
        expect("the status of a record", status, 200)
        return Reply.from_json(data)

    def record(self, **other):
        pin = next(iter(self.trust.pins), None)
        members = {
            "public_key": self.keys[-1].public_key, "topic": APP, "generation": self.generation, "provider": pin, "token": self.token,
            "environment": "production", "certificate": pin and self.trust.learned(pin).certificate}
        return DeviceRecord(**(members | other)).to_json()

    def register(self):
        reply = self.ask(self.record())
        with self.lock:
            confirmed, told = apply_reply(reply, self.keys[-1].public_key, self.trust, topic=APP, is_built_in=False)
        if not confirmed or told or reply.foreign:
            raise Failure(f"{self.name}: refused as {reply.refused}, told {told}, foreign {reply.foreign}")

    def rotate(self):
        with self.lock:
            self.keys.append(DeviceKey.generate())
            self.generation += 1
        self.register()

    def receive(self, body):
        with self.lock:
            self.copies += 1
            try:
                opened = open_push(body, topic=APP, devices=self.keys, trust=self.trust)
            except PushcryptError as error:
                self.refused[str(error.code)] += 1
                return
            self.messages[json.loads(opened.payload)["event"]].add(opened.message_id)
            self.trust.learn(opened.provider, opened.learned)


def event(name, **other):
    return {"id": name, "payload": {"aps": {"alert": {"title": "Table for two", "body": SECRET}}, "event": name}, **other}


def pushed(ports, *events):
    status, data = persistently(ports, "POST", "/events", json.dumps(events))
    expect(f"the status of events ({data[:200]})", status, 200)
    return json.loads(data)


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


# What one process does, with a database that goes away at each statement


class Cut(psycopg.AsyncConnection):
    """A connection that breaks at a statement, before or after the database has executed it."""

    left, is_after = 0, False

    async def wait(self, work, *arguments, **others):
        Cut.left -= 1
        if Cut.left != 0:
            return await super().wait(work, *arguments, **others)
        if Cut.is_after:
            await super().wait(work, *arguments, **others)
        work.close()
        await self.close()
        raise psycopg.OperationalError("cut")


async def at_each_statement(work):
    """Does work, with another break each time, until there are no more statements. Returns how many breaks there were."""
    breaks = 0
    for Cut.is_after in (False, True):
        for number in itertools.count(1):
            Cut.left = number
            await work(f"{Cut.is_after}-{number}")
            if Cut.left > 0:
                break
            breaks += 1
    Cut.left = 0
    return breaks


async def one_process(key):
    store.random.uniform, ports = lambda *_: 0.01, []
    keys = os.path.join(FOLDER, "keys")
    async with psycopg_pool.AsyncConnectionPool(URL, connection_class=Cut, kwargs={"autocommit": True}, min_size=1, max_size=4, open=False) as pool:
        provider = store.Provider(pool, keys)
        sends = sender.Sender(provider, URL, [])
        phone, sleeper = Phone("cut", "carol", ports), Phone("other", "carol", ports)

        async def register(_):
            phone.keys.append(DeviceKey.generate())
            phone.generation += 1
            reply = Reply.from_json(await store.repeated(lambda: provider.register(phone.record(), "cut", "carol")))
            expect("a record that comes again", apply_reply(reply, phone.keys[-1].public_key, phone.trust, topic=APP, is_built_in=False), (True, None))

        async def push(name):
            events = [event(f"{name}-a", user="carol"), event(f"{name}-b", device="cut"), event(f"{name}-a", user="carol")]
            answers = await store.repeated(lambda: provider.push(events))
            expect("pushes for each event", [answer["pushes"] for answer in answers], [1, 1, 1])
            expect("pushes that are stored once", rows("SELECT count(*) FROM pushes WHERE due IS NOT NULL"), [(2,)])
            await send()

        async def send():
            taken = []
            while len(taken) < 2:
                with contextlib.suppress(psycopg.OperationalError):
                    taken += [row for row in await sends.take(10) if row[0] not in {one[0] for one in taken}]
                rows("UPDATE pushes SET due = now() WHERE due IS NOT NULL")  # As when a lease ends.
            for number, epoch, request, *_ in taken:
                sends.taken[number, epoch] = sender.Taken("production", 1)
                phone.receive(json.dumps(json.loads(request)["payload"]))
            await sends.settle([(row[0], row[1], 200, "sent", None) for row in taken], [])
            expect("pushes that wait", rows("SELECT count(*) FROM pushes WHERE due IS NOT NULL"), [(0,)])

        async def install(_):
            answer = CertificateRequest.from_json(await store.repeated(provider.request)).certify(key).to_json()
            epoch, _ = await store.repeated(lambda: provider.install(answer))
            expect("the key in use", rows("SELECT epoch FROM certificates WHERE replaced_at IS NULL"), [(epoch,)])
            expect("key files", [name.split("-")[0] for name in os.listdir(keys) if name.endswith(".key")], [str(epoch)])

        async def end(_):
            sleeper.keys, sleeper.generation = [DeviceKey.generate()], sleeper.generation + 1
            await store.repeated(lambda: provider.register(sleeper.record(), "other", "carol"))
            await store.repeated(lambda: provider.end_device("other", lambda stored: True))
            expect("what is left of a device", rows("SELECT is_removed, (SELECT count(*) FROM tokens) FROM devices WHERE device = 'other'"), [(True, 1)])

        await register("first")
        breaks = sum([await at_each_statement(work) for work in (register, push, install, end)])
        await at_each_statement(lambda _: store.repeated(lambda: provider.tidy(0)))
        expect("what tidying leaves", rows("SELECT count(*) FROM pushes"), [(0,)])
        count("database gone at a statement", breaks, "postgres")
        expect("carol's phone", (dict(phone.refused), {len(ids) for ids in phone.messages.values()}), ({}, {1}))

        # Two machines replace the key at once: the loser's certificate does not know of the winner's.
        answers = [CertificateRequest.from_json(await provider.request()).certify(key).to_json() for _ in range(2)]
        results = await asyncio.gather(*(provider.install(answer) for answer in answers), return_exceptions=True)
        expect(f"what two get that replace the key: {results}", sorted(isinstance(one, ValueError) for one in results), [False, True])
        expect("events after that", (await provider.push([event("after", device="cut")]))[0]["pushes"], 1)

        # What was signed before a theft is not sent, and comes again by its id.
        await provider.install(CertificateRequest.from_json(await provider.request(stolen=True)).certify(key).to_json())
        expect("an old push after a theft", [row[-1] for row in await sends.take(10)], ["ended-epoch"])
        expect("the event again", (await provider.push([event("after", device="cut")]))[0]["pushes"], 1)
        rows("UPDATE pushes SET due = now()")
        expect("its push", [row[-1] for row in await sends.take(10)], [None])
        expect("a refused payload", (await provider.push([event("big", user="carol") | {"payload": {"aps": {"alert": "x" * 5000}}}]))[0]["error"]["code"], "payload-too-large")

        # A clock that is wrong.
        real, store.time.time = time.time, lambda: real() + 600
        with contextlib.suppress(store.Unavailable):
            expect("sealed with a wrong clock", await provider.push([event("late", user="carol")]), "nothing")
        store.time.time = real
    rows("TRUNCATE devices, tokens, pushes")


# All processes


def replace_key(*options):
    """Replaces the signing key, whose provider key is elsewhere. Returns the milliseconds that sealing waited."""
    paths = [os.path.join(FOLDER, name) for name in ("request.json", "certificate.json")]
    with open(paths[0], "w") as file:
        file.write(call("request", *options))
    subprocess.run([PROGRAM, "key", "certify", paths[0], "--provider-key-file", os.path.join(FOLDER, "provider.key"), "--yes", "--force", "-o", paths[1]],
        check=True, capture_output=True)
    return int(call("install", paths[1]).split(", ")[1].split(" ")[0])


def current():
    """What signs."""
    while True:
        with contextlib.suppress(IndexError, FileNotFoundError):
            epoch = rows("SELECT epoch FROM certificates WHERE replaced_at IS NULL")[0][0]
            with open(glob.glob(os.path.join(FOLDER, "keys", f"{epoch}-*.key"))[0]) as file:
                return Credential.parse(file.read())


class Run:
    def __init__(self, ports, inside):
        self.ports, self.inside, self.finished, self.feeding = ports, inside, False, True
        self.phones = [Phone(f"phone{number}", f"user{number // 2}", ports) for number in range(PHONES)]
        self.expected, self.fed = collections.defaultdict(set), itertools.count()

    def deliver(self):
        """Brings what APNs has accepted to the phones."""
        phones = {phone.token: phone for phone in self.phones}
        with open(os.path.join(FOLDER, "apns", "accepted")) as file:
            rest = ""
            while not self.finished:
                rest += file.readline()
                if not rest.endswith("\n"):
                    time.sleep(0.05)
                    continue
                line, rest = json.loads(rest), ""
                if line["token"] in phones:
                    phones[line["token"]].receive(json.dumps(line["payload"]))

    def feed(self):
        """Events for users with two phones each, some of them twice."""
        while self.feeding:
            names = [f"event-{number}" for number in itertools.islice(self.fed, 20)]
            events = [event(name, user=f"user{int(name[6:]) % (PHONES // 2)}", collapse=name, priority=5, ttl=3600) for name in names]
            answers = pushed(self.inside, *events, random.choice(events))
            expect("pushes for an event", {answer["pushes"] for answer in answers}, {2})
            for one in events:
                for phone in self.phones[2 * int(one["user"][4:]):][:2]:
                    self.expected[phone.name].add(one["id"])

    def live(self, phone):
        while self.feeding:
            phone.rotate() if random.random() < 0.1 else phone.register()
            time.sleep(random.uniform(0.5, 2))

    def fill(self):
        """Devices of others: a table of this size has indexes that do not fit into a page."""
        rows("""
            INSERT INTO devices SELECT 'other' || n, jsonb_build_object('device', 'other' || n, 'user', 'owner' || n, 'public_key', sha256(n::text::bytea)::text)
            FROM generate_series(1, %s) AS n
            """, COUNT - PHONES)
        rows("INSERT INTO tokens SELECT device, 'production', md5(device) || md5(owner) FROM devices")
        rows("ANALYZE")

    def attacks(self, phone):
        """Records that nobody may have accepted."""
        other, new = self.phones[(self.phones.index(phone) + 2) % PHONES], DeviceKey.generate().public_key
        taken = phone.record(public_key=other.keys[-1].public_key, generation=phone.generation + 1)
        expect("another's key", phone.ask(taken).refused, "key-taken")
        expect("a device of another app", phone.ask(phone.record(public_key=new, topic=APP + ".other"), device="elsewhere").refused, "topic-mismatch")
        expect("an old record", phone.ask(phone.record(public_key=new)).refused, "generation-rollback")
        expect("another's device", phone.ask(phone.record(public_key=new), user=other.user).refused, "user-mismatch")
        expect("no record", phone.ask("{}").refused, "malformed-record")
        post_quantum = DevicePublicKey(bytes(1184) + bytes(new))
        expect("a key of suite 2", phone.ask(DeviceRecord(public_key=post_quantum, topic=APP).to_json(), device="later").refused, "unsupported-suite")
        asking = [("POST", f"/devices/{phone.name}", "x" * 100_000, {"x-user": "a"}), ("POST", f"/devices/{phone.name}", "{}"), ("POST", "/events", "[]"),
            ("POST", "/devices/%C2%B2", "{}", {"x-user": "a"}), ("POST", "/withdrawals", "{"), ("POST", "/withdrawals", "[]")]
        expect("what is no request of a phone", [persistently(self.ports, *one)[0] for one in asking], [413, 400, 404, 400, 400, 204])
        broken = ["{}", "[1]", "[{}]", '[{"id":1,"user":"a","payload":{}}]', '[{"id":"a","user":"a"}]', '[{"id":"a","user":"a\\u0000","payload":{}}]',
            '[{"id":"a","user":"a","payload":{},"tll":1}]', "[" * 100_000, json.dumps([event("a", user="a")] * 101)]
        expect("what is no event", {persistently(self.inside, "POST", "/events", one)[0] for one in broken}, {400})

    def foreign(self):
        """The operator is told of a phone that trusts somebody else, and of one that shows that the database is an old copy."""
        phone, stranger = self.phones[0], ProviderKey.generate()
        reply = phone.ask(phone.record(provider=stranger.public_key))
        expect("a foreign provider", (reply.acknowledged, [*reply.foreign]), (phone.keys[-1].public_key, ["provider"]))
        with open(LOG) as log:
            expect("what the operator reads", "phone0 names a key that this provider never had: provider" in log.read(), True)

    def slow(self, process):
        """Half-sent requests cost a connection each, no thread, and end; others are served meanwhile."""
        sockets = []
        for number in range(SLOW):
            sockets.append(socket.create_connection(("127.0.0.1", self.ports[0]), 20))
            sockets[-1].sendall(b"POST /devices/phone1 HTTP/1.1\r\nhost: a\r\n" + (b"x-user: user0\r\ncontent-length: 100\r\n\r\n{" if number % 2 else b""))
        with open(f"/proc/{process.pid}/status") as file:
            threads = next(int(line.split()[1]) for line in file if line.startswith("Threads"))
        start = time.monotonic()
        for _ in range(20):
            status, _ = asked(self.ports[0], "POST", f"/devices/phone2", self.phones[2].record(), {"x-user": "user1"})
            expect("a registration among slow clients", status, 200)
        count(f"ms for a registration among {SLOW} slow clients", round((time.monotonic() - start) * 50), "postgres")
        expect(f"{threads} threads", threads < 20, True)
        for one in sockets:
            one.settimeout(40)
            with contextlib.suppress(ConnectionResetError):
                expect("what a slow client gets", one.recv(1 << 16)[:12] in (b"", b"HTTP/1.1 400"), True)
            one.close()

    def hand_over(self):
        """A phone goes to another user, who gets nothing of the first; a phone that logs out ends its device, with and without a session."""
        phone = Phone("handed", "alice", self.ports, token="0badf00d")
        phone.register()
        call("hand-over", "handed", "bob")
        expect("events of the first user", pushed(self.inside, event("hers", user="alice"))[0]["pushes"], 0)
        expect("the first user", phone.ask(phone.record(generation=2, public_key=DeviceKey.generate().public_key)).refused, "user-mismatch")
        phone.user, phone.keys, phone.trust = "bob", [DeviceKey.generate()], Trust()
        phone.register()
        expect("events of the second", pushed(self.inside, event("his", user="bob"))[0]["pushes"], 1)
        fails("a device that nobody has", "there is no device nobody", "remove", "nobody")

        expect("another's device", persistently(self.ports, "DELETE", "/devices/handed", None, {"x-user": "alice"})[0], 204)
        expect("is not ended", rows("SELECT is_removed FROM devices WHERE device = 'handed'"), [(False,)])
        for way in ("session", "withdrawal", "remove"):
            phone.ask(phone.record(withdrawal="7d" * 16))
            if way == "session":
                persistently(self.ports, "DELETE", "/devices/handed", None, {"x-user": "bob"})
            elif way == "withdrawal":
                for secret, is_removed in (("00" * 16, False), ("7d" * 16, True)):
                    persistently(self.ports, "POST", "/withdrawals", json.dumps({"device": "handed", "withdrawal": secret}))
                    expect("removed by a withdrawal", rows("SELECT is_removed FROM devices WHERE device = 'handed'"), [(is_removed,)])
            else:
                call("remove", "handed")
            expect(f"removed: {way}", rows("SELECT is_removed, (SELECT count(*) FROM pushes WHERE device = 'handed') FROM devices WHERE device = 'handed'"), [(True, 0)])

    def dead_tokens(self):
        """APNs' 410 ends a token that was not confirmed since, and no other; a phone with a new token gets what was on its way."""
        gone, renewed, healthy = (Phone(name, "dora", self.ports, token) for name, token in (("gone", GONE), ("renewed", RENEWED), ("healthy", None)))
        healthy.register()
        renewed.register()
        gone.register()
        rows("UPDATE tokens SET confirmed_at = now() - interval '1 hour' WHERE device = 'gone'")
        expect("pushes", pushed(self.inside, event("for dora", user="dora"))[0]["pushes"], 3)
        wait(lambda: rows("SELECT count(*) FROM tokens WHERE device = 'gone'") == [(0,)], 60, "a dead token is gone")
        wait(lambda: rows("SELECT reason, due IS NULL FROM pushes WHERE device = 'gone'") == [("no-token", True)], 60, "its push is given up")
        wait(lambda: rows("SELECT status FROM pushes WHERE device = 'healthy'") == [(200,)], 60, "the healthy one is sent")
        expect("tokens", rows("SELECT device FROM tokens WHERE device IN ('healthy', 'renewed') ORDER BY 1"), [("healthy",), ("renewed",)])
        wait(lambda: rows("SELECT status FROM pushes WHERE device = 'renewed' AND attempts > 0 AND due IS NOT NULL") == [(410,)], 60, "tried again")
        renewed.token = os.urandom(32).hex()
        renewed.register()
        wait(lambda: rows("SELECT status FROM pushes WHERE device = 'renewed'") == [(200,)], 60, "the phone with a new token gets it")

    def drain(self):
        """SIGTERM: not ready at once, and what is under way is answered."""
        port, inside = free_port(), free_port()
        process = subprocess.Popen(service("serve", "--port", port, "--inside-port", inside, "--drain", 1))
        try:
            self.ready(inside)
            record = self.phones[3].record().encode()
            with socket.create_connection(("127.0.0.1", port), 20) as half:
                half.sendall(b"POST /devices/phone3 HTTP/1.1\r\nhost: a\r\nx-user: user1\r\ncontent-length: %d\r\n\r\n" % len(record))
                time.sleep(0.2)
                process.terminate()
                wait(lambda: asked(inside, "GET", "/ready")[0] == 503, 5, "not ready")
                expect("alive", asked(inside, "GET", "/health")[0], 200)
                time.sleep(1.2)
                half.sendall(record)
                expect("the answer", half.recv(1 << 16)[:15], b"HTTP/1.1 200 OK")
            expect("the exit code of a server", process.wait(30), 0)
        finally:
            process.kill()

    def ready(self, port):
        def is_ready():
            with contextlib.suppress(OSError):
                return asked(port, "GET", "/ready")[0] == 200

        wait(is_ready, 60, "ready")


def test():
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    database, key = Database(), ProviderKey.generate()
    with open(os.open(os.path.join(FOLDER, "provider.key"), os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(key.secret_text())
    call("init", APP, key.public_key)
    fails("another init", "already exists", "init", APP, key.public_key)
    replace_key()
    asyncio.run(one_process(key))

    mock = subprocess.Popen(
        ["/usr/bin/python3", MOCK, os.path.join(FOLDER, "apns"), f"--gone={GONE}", f"--gone={RENEWED}", "--fault=lost@1%", "--fault=500@1%", "--fault=goaway@0.5%"],
        stdout=subprocess.PIPE, text=True)
    address = mock.stdout.readline().strip()
    folder = os.path.join(FOLDER, "apns")
    send = [PROGRAM, "send", "--retry-for", "2m", "--key", f"{folder}/AuthKey_ABC123DEFG.p8", "--key-id", "ABC123DEFG", "--team", "TEAM123456", "--host",
        address, "--ca-file", f"{folder}/authority.pem"]
    ports, inside, sending = ([free_port() for _ in range(2)] for _ in range(3))
    run = Run(ports, inside)
    run.fill()
    processes = Processes([
        *(service("serve", "--port", one, "--inside-port", other) for one, other in zip(ports, inside)),
        *(service("send", "--inside-port", port, "--", *send) for port in sending)])
    try:
        for port in (*inside, *sending):
            run.ready(port)
        phases(run, processes, database)
    finally:
        run.finished, run.feeding = True, False
        processes.end()
        mock.terminate()
        database.stop()


def phases(run, processes, database):
    each(run.phones, Phone.register)
    start = time.monotonic()
    each(run.phones, lambda phone: [phone.register() for _ in range(10)])
    count("registrations a second", round(10 * PHONES / (time.monotonic() - start)), "postgres")
    each(run.phones[::25], run.attacks)
    run.foreign()
    run.slow(processes.running[0])
    run.hand_over()
    run.dead_tokens()
    run.drain()

    threads = [threading.Thread(target=run.deliver, daemon=True)]
    threads += [threading.Thread(target=run.feed, daemon=True) for _ in range(3)]
    threads += [threading.Thread(target=run.live, args=(phone,), daemon=True) for phone in run.phones[::5]]
    for thread in threads:
        thread.start()
    first = current()
    for number in range(KILLS):
        for process in range(4):
            processes.kill(process)
            time.sleep(random.uniform(0, 0.3))
        processes.kill(random.choice((2, 3)), is_child=True)
        database.stop()
        time.sleep(random.uniform(0, 0.3))
        database.start()
    wait(lambda: sum(map(len, run.expected.values())) > EVENTS, 600, "events are accepted", threads)

    # Under full load.
    waits = [replace_key() for _ in range(5)]
    stolen = current()
    count("ms that sealing waited for a new key", " ".join(map(str, waits)), "postgres")
    expect(f"sealing waits at most 100 ms for a new key: {waits}", statistics.median(waits) <= 100, True)
    gaps = rows("""
        SELECT extract(epoch FROM (SELECT min(created_at) FROM pushes WHERE epoch = c.epoch) - (SELECT max(replaced_at) FROM certificates WHERE epoch < c.epoch))
        FROM certificates c ORDER BY epoch DESC LIMIT 5
        """)
    count("ms from there to the first push of the new key", " ".join(str(round(1000 * gap)) for gap, in gaps), "postgres")
    late = rows("SELECT count(*) FROM pushes JOIN certificates USING (epoch) WHERE created_at > replaced_at")
    expect("pushes that the old key sealed later", late, [(0,)])
    run.feeding = False
    for thread in threads[1:]:
        thread.join(60)
    wait(lambda: rows("SELECT count(*) FROM pushes WHERE due IS NOT NULL") == [(0,)], 600, "everything is sent", threads[:1])
    for process in processes.running[2:]:
        process.terminate()
        expect("the exit code of a sender", process.wait(60), 0)
    wait(lambda: all(phone.messages.keys() >= run.expected[phone.name] for phone in run.phones), 60, "everything has arrived", threads[:1])
    replace_key("--stolen")
    each(run.phones, Phone.register)

    for phone in run.phones:
        expect(f"{phone.name}: events", set(phone.messages), run.expected[phone.name])
        expect(f"{phone.name}: message ids for an event", {len(ids) for ids in phone.messages.values()}, {1})
        expect(f"{phone.name}: refused", phone.refused, {})
        for thief in (first, stolen):
            phone.receive(Sealer(thief, topic=APP).seal({"aps": {"alert": "a"}}, phone.keys[-1].public_key).payload)
        expect(f"{phone.name}: a thief's messages", phone.refused, {"authentication-failed": 2})
    for device, text in rows("SELECT device, stored::text FROM devices WHERE device LIKE 'phone%%'"):
        phone, stored = run.phones[int(device[5:])], json.loads(text)
        expect(f"the row of {device}", (stored["user"], stored["public_key"], stored["generation"]), (phone.user, str(phone.keys[-1].public_key), phone.generation))
    expect("devices", rows("SELECT count(*) FROM devices WHERE NOT is_removed")[0][0] >= COUNT, True)
    expect("files with plaintext", subprocess.run(["grep", "-rl", SECRET, database.folder, LOG], capture_output=True, text=True).stdout, "")
    text = asked(run.inside[0], "GET", "/metrics")[1].decode()
    expect("metrics", [name for name in ("registrations_total{", "pushes_sealed_total", "queued 0", "up 1", "epoch") if f"\npushcrypt_{name}" not in text], [])
    shown = sum(map(len, run.expected.values()))
    count("devices", COUNT, "postgres")
    count("pushes shown once each", shown, "postgres")
    count("copies that a phone suppresses", sum(phone.copies for phone in run.phones) - 2 * PHONES - shown, "postgres")
    count("kills of each process and of the database", KILLS, "postgres")


main(test)
