"""The service in PostgreSQL, between 100 phones and a local APNs: its processes and its database are killed while events come in and the
signing key is replaced. COUNT is the number of devices in the table, EVENTS of pushes at least, KILLS of each process and of the database.

    postgres_test.py FOLDER PROGRAM SERVICE
"""
import asyncio, collections, contextlib, glob, itertools, json, os, random, resource, socket, subprocess, sys, threading, time

from postgres_scene import (
    FOLDER, LOG, PROGRAM, SECRET, Database, Phone, Processes, asked, call, each, event, fails, free_port, persistently, pushed, rows, service)
from postgres_statements import one_process
from pushcrypt import Credential, DevicePublicKey, DeviceRecord, ProviderKey
from pushcrypt.testing import DeviceKey
from scene import APP, Failure, count, expect, main, slowness, wait

COUNT, EVENTS, KILLS = (int(os.environ.get(name, value)) for name, value in (("COUNT", 1_000_000), ("EVENTS", 10_000), ("KILLS", 20)))
PHONES, SLOW, POSTERS = 100, 1000, 4
MOCK = os.path.join(os.path.dirname(__file__), "../Send/serve.py")
GONE, RENEWED = "d0" * 32, "d1" * 32
# Another process posts as much as the service takes.
LOAD = """
import http.client, itertools, json, sys
from postgres_scene import event
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[4]))
for batch in itertools.count():
    connection.request("POST", "/events", json.dumps([event(f"{sys.argv[5]}-{batch}-{number}", user="load") for number in range(20)]))
    assert connection.getresponse().read()
"""


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
                    life = line["expiration"] - line["arrived"] / 1000
                    expect("priority, topic and life", (line["priority"], line["topic"], 2000 < life < 4300), (5, APP, True))
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

    def accepted(self):
        return sum(len(self.expected[phone.name]) for phone in self.phones)

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
        expect("another's key", phone.ask(taken)["refused"], "key-taken")
        expect("a device of another app", phone.ask(phone.record(public_key=new, topic=APP + ".other"), device="elsewhere")["refused"], "topic-mismatch")
        expect("an old record", phone.ask(phone.record(public_key=new))["refused"], "generation-rollback")
        expect("another's device", phone.ask(phone.record(public_key=new), user=other.user)["refused"], "user-mismatch")
        expect("no record", phone.ask("{}")["refused"], "malformed-record")
        post_quantum = DevicePublicKey(bytes(1184) + bytes(new))
        expect("a key of suite 2", phone.ask(DeviceRecord(public_key=post_quantum, topic=APP).to_json(), device="later")["refused"], "unsupported-suite")
        asking = [("POST", f"/devices/{phone.name}", "x" * 100_000, {"x-user": "a"}), ("POST", f"/devices/{phone.name}", "{}"), ("POST", "/events", "[]"),
            ("POST", "/devices/%C2%B2", "{}", {"x-user": "a"})]
        expect("what is no request of a phone", [persistently(self.ports, *one)[0] for one in asking], [413, 400, 404, 400])
        broken = ["{}", "[1]", "[{}]", '[{"id":1,"user":"a","payload":{}}]', '[{"id":"a","user":"a"}]', '[{"id":"a","user":"a\\u0000","payload":{}}]',
            '[{"id":"a","user":"a","payload":{},"tll":1}]', "[" * 100_000, json.dumps([event("a", user="a")] * 101)]
        expect("what is no event", {persistently(self.inside, "POST", "/events", one)[0] for one in broken}, {400})

    def foreign(self):
        """The operator is told of a phone that trusts somebody else, and of one that shows that the database is an old copy."""
        phone, stranger = self.phones[0], ProviderKey.generate()
        reply = phone.ask(phone.record(provider=stranger.public_key))
        expect("a foreign provider", (reply["acknowledged"], reply["foreign"]), (str(phone.keys[-1].public_key), ["provider"]))
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
        expect("the first user", phone.ask(phone.record(generation=2, public_key=DeviceKey.generate().public_key))["refused"], "user-mismatch")
        phone.user, phone.keys = "bob", [DeviceKey.generate()]
        phone.register()
        expect("events of the second", pushed(self.inside, event("his", user="bob"))[0]["pushes"], 1)
        fails("a device that nobody has", "there is no device nobody", "remove", "nobody")

        expect("another's device", persistently(self.ports, "DELETE", "/devices/handed", None, {"x-user": "alice"})[0], 204)
        expect("is not ended", rows("SELECT is_removed FROM devices WHERE device = 'handed'"), [(False,)])
        for way in ("session", "remove"):
            phone.register()
            if way == "session":
                persistently(self.ports, "DELETE", "/devices/handed", None, {"x-user": "bob"})
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

    def replace_keys(self):
        """Replaces the key five times under full load. Returns for how many milliseconds sealing waited, how many pushes of that load came meanwhile,
        and the milliseconds from there until the new key had sealed."""
        for name in ("load0", "load1"):
            Phone(name, "load", self.ports).register()
        load = [subprocess.Popen([sys.executable, "-c", LOAD, *sys.argv[1:], str(port), f"{number}"], cwd=os.path.dirname(__file__))
            for number, port in zip(range(POSTERS), self.inside * 2)]
        try:
            wait(lambda: rows("SELECT count(*) > 500 FROM pushes WHERE owner = 'load'") == [(True,)], 60, "the load has begun")
            found = []
            for _ in range(5):
                waited = replace_key()
                wait(lambda: rows("SELECT count(*) > 0 FROM pushes WHERE epoch = (SELECT max(epoch) FROM certificates)") == [(True,)], 60, "the new key seals")
                found += [(waited, *row) for row in rows("""
                    SELECT count(*) FILTER (WHERE created_at BETWEEN replaced - %s * interval '1 ms' AND replaced),
                        (1000 * extract(epoch FROM min(created_at) FILTER (WHERE pushes.epoch = c.epoch) - replaced))::int
                    FROM pushes, (SELECT max(epoch) AS epoch, max(replaced_at) AS replaced FROM certificates) AS c GROUP BY replaced
                    """, waited)]
            expect("the load goes on", [process.poll() for process in load], [None] * len(load))
            return zip(*found)
        finally:
            for process in load:
                process.kill()

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
            expect("the exit code of a server", process.wait(600), 0)
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
    for _ in range(KILLS):
        before = run.accepted()
        for process in range(4):
            processes.kill(process)
            time.sleep(random.uniform(0, 0.3))
        processes.kill(random.choice((2, 3)), is_child=True)
        database.stop()
        time.sleep(random.uniform(0, 0.3))
        database.start()
        wait(lambda: run.accepted() > before, 300, "events are accepted again", threads)
    wait(lambda: run.accepted() > EVENTS, 600, "events are accepted", threads)

    run.feeding = False
    for thread in threads[1:]:
        thread.join(600)
    before = slowness()
    waits, meanwhile, gaps = run.replace_keys()
    slow = max(before, slowness())
    stolen = current()
    count("ms that sealing waited for a new key", " ".join(map(str, waits)), "postgres")
    count("pushes of the old key that came meanwhile", " ".join(map(str, meanwhile)), "postgres")
    count("ms from there to the first push of the new key", " ".join(map(str, gaps)), "postgres")
    # A replacement waits for what each of those who post has under way, 20 events for two phones, and for nothing that comes after it.
    expect(f"pushes that come while a new key waits: {meanwhile}", max(meanwhile) <= 2 * POSTERS * 40, True)
    # The best of five, and longer on a machine that is busy with other things.
    expect(f"sealing waits at most 100 ms for a new key, {slow:.1f} times as long here: {waits}", min(waits) <= 100 * slow, True)
    # What was sealed by the old key and not inserted yet is sealed again first, up to 100 events of all that wait.
    expect(f"the new key seals within 100 ms, {slow:.1f} times as long here: {gaps}", 0 <= min(gaps) <= 100 * slow, True)
    late = rows("SELECT count(*) FROM pushes JOIN certificates USING (epoch) WHERE created_at > replaced_at")
    expect("pushes that the old key sealed later", late, [(0,)])
    rows("DELETE FROM pushes WHERE owner = 'load'")
    wait(lambda: rows("SELECT count(*) FROM pushes WHERE due IS NOT NULL") == [(0,)], 600, "everything is sent", threads[:1])
    for process in processes.running[2:]:
        process.terminate()
        expect("the exit code of a sender", process.wait(600), 0)
    wait(lambda: all(phone.messages.keys() >= run.expected[phone.name] for phone in run.phones), 60, "everything has arrived", threads[:1])
    replace_key("--stolen")
    each(run.phones, Phone.register)

    for phone in run.phones:
        expect(f"{phone.name}: events", set(phone.messages), run.expected[phone.name])
        expect(f"{phone.name}: message ids for an event", {len(ids) for ids in phone.messages.values()}, {1})
        expect(f"{phone.name}: refused", phone.refused, {})
        expect(f"{phone.name}: the floor ends a thief's keys", phone.certificate.floor > stolen.certificate.epoch > first.certificate.epoch, True)
    for device, text in rows("SELECT device, stored::text FROM devices WHERE device LIKE 'phone%%'"):
        phone, stored = run.phones[int(device[5:])], json.loads(text)
        expect(f"the row of {device}", (stored["user"], stored["public_key"], stored["generation"]), (phone.user, str(phone.keys[-1].public_key), phone.generation))
    expect("devices", rows("SELECT count(*) FROM devices WHERE NOT is_removed")[0][0] >= COUNT, True)
    expect("files with plaintext", subprocess.run(["grep", "-rl", SECRET, database.folder, LOG], capture_output=True, text=True).stdout, "")
    text = asked(run.inside[0], "GET", "/metrics")[1].decode()
    expect("metrics", [name for name in ("registrations_total{", "pushes_sealed_total", "queued 0", "up 1", "epoch") if f"\npushcrypt_{name}" not in text], [])
    shown = run.accepted()
    count("devices", COUNT, "postgres")
    count("pushes shown once each", shown, "postgres")
    count("copies that a phone suppresses", sum(phone.copies for phone in run.phones) - shown, "postgres")
    count("kills of each process and of the database", KILLS, "postgres")


main(test)
