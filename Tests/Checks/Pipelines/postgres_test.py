"""The provider in PostgreSQL, between 40 phones and a local APNs: its senders, their children and its database are killed while events come in and
the signing key is replaced. COUNT is the number of devices in the table, EVENTS of pushes at least, KILLS of each process and of the database.

    postgres_test.py FOLDER PROGRAM SERVICE
"""
import collections, itertools, json, os, random, subprocess, sys, threading, time
from datetime import datetime, timedelta, timezone

from postgres_scene import FOLDER, LOG, PROGRAM, SECRET, SERVICE, URL, Database, Phone, persistently, rows
from pushcrypt import Credential, ProviderKey, SigningKey, issue_certificate
from pushcrypt.testing import DeviceKey
from scene import APP, Workers, expect, figure, main, wait

sys.path.insert(0, os.path.dirname(SERVICE))
import provider

COUNT, EVENTS, KILLS = (int(os.environ.get(name, value)) for name, value in (("COUNT", 1_000_000), ("EVENTS", 10_000), ("KILLS", 20)))
PHONES, KEYS = 40, os.path.join(FOLDER, "keys")
MOCK = os.path.join(os.path.dirname(__file__), "../Send/serve.py")
GONE, RENEWED = "d0" * 32, "d1" * 32


class Run:
    def __init__(self):
        self.key, self.certificates, self.past, self.finished, self.feeding = ProviderKey.generate(), [], [], False, True
        self.phones = [Phone(f"phone{number}", f"user{number // 2}", self.register) for number in range(PHONES)]
        self.expected, self.fed = collections.defaultdict(set), itertools.count()

    def replace_key(self, stolen=False):
        """Returns the milliseconds that sealing waited."""
        signing, current = SigningKey.generate(), self.certificates[-1] if self.certificates else None
        made = issue_certificate(self.key, signing.public_bytes(), topic=APP, current=current, past=self.past, stolen=stolen)
        with open(os.path.join(KEYS, f"{made.epoch}.key"), "w") as file:
            file.write(Credential(signing, made, self.key.public_key).secret_text())
        start = time.monotonic()
        done = rows("SELECT replace_key(%s, %s, %s, %s)", current.epoch if current else 0, made.epoch, made.floor, str(made))
        expect("the key is replaced", done, [(True,)])
        self.certificates.append(made)
        self.past += [(current, datetime.now(timezone.utc))] if current else []
        return round(1000 * (time.monotonic() - start))

    def register(self, data, device, user):
        return persistently(lambda connection: provider.register(connection, provider.sealer(connection, KEYS, APP), data, device, user))

    def push(self, user, name):
        """Returns how many pushes are new."""
        payload = {"aps": {"alert": {"title": "Table for two", "body": SECRET}}, "event": name}
        added = None
        while added is None:
            added = persistently(lambda connection: provider.seal(
                connection, provider.sealer(connection, KEYS, APP), user, payload, name, name, time_to_live=timedelta(hours=1)))
        return added

    def feed(self):
        """Events for users with two phones each, some of them twice. After a commit without an answer they are there already."""
        while self.feeding:
            number = next(self.fed)
            user = number % (PHONES // 2)
            for _ in range(random.choice((1, 1, 1, 2))):
                expect("new pushes for an event", self.push(f"user{user}", f"event-{number}") in (0, 2), True)
            for phone in self.phones[2 * user:][:2]:
                self.expected[phone.name].add(f"event-{number}")

    def accepted(self):
        return sum(len(self.expected[phone.name]) for phone in self.phones)

    def live(self, phone):
        while self.feeding:
            phone.rotate() if random.random() < 0.1 else phone.register()
            time.sleep(random.uniform(0.5, 2))

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
                    expect("topic", line["topic"], APP)
                    phones[line["token"]].receive(json.dumps(line["payload"]))

    def fill(self):
        """Devices of others: a table of this size has indexes that do not fit into a page."""
        rows("""
            INSERT INTO devices SELECT 'other' || n, jsonb_build_object('device', 'other' || n, 'user', 'owner' || n, 'public_key', sha256(n::text::bytea)::text)
            FROM generate_series(1, %s) AS n
            """, COUNT - PHONES)
        rows("ANALYZE")

    def attacks(self, phone):
        """Records that nobody may have accepted; and a phone that goes to another user, or ends."""
        other, new = self.phones[(self.phones.index(phone) + 2) % PHONES], DeviceKey.generate().public_key
        taken = phone.record(public_key=other.keys[-1].public_key, generation=phone.generation + 1)
        expect("another's key", phone.ask(taken)["refused"], "key-taken")
        expect("an old record", phone.ask(phone.record(public_key=new))["refused"], "generation-rollback")
        expect("another's device", phone.ask(phone.record(public_key=new), user=other.user)["refused"], "user-mismatch")
        expect("no record", phone.ask("{}")["refused"], "malformed-record")
        moved = Phone("moved", "carol", self.register, token="00ff")
        again = Phone("again", "carol", self.register, token="00ff")
        moved.register()
        again.register()
        expect("a token of one device", rows("SELECT device FROM devices WHERE token = '00ff'"), [("again",)])
        self.push("carol", "hers")

        def end(connection):
            with connection.transaction():
                devices = provider.Devices(connection)
                devices.store(devices.find("again").removed())

        persistently(end)
        expect("pushes of a removed device", rows("SELECT count(*) FROM pushes WHERE device = 'again'"), [(0,)])
        expect("new ones", self.push("carol", "later"), 0)

    def dead_tokens(self):
        """APNs' 410 ends a token that was not confirmed since, and no other; a phone with a new token gets what was on its way."""
        gone, renewed, healthy = (Phone(name, "dora", self.register, token) for name, token in (("gone", GONE), ("renewed", RENEWED), ("healthy", None)))
        for phone in healthy, renewed, gone:
            phone.register()
        rows("UPDATE devices SET confirmed_at = now() - interval '1 hour' WHERE device = 'gone'")
        expect("pushes", self.push("dora", "for dora"), 3)
        wait(lambda: rows("SELECT token FROM devices WHERE device = 'gone'") == [(None,)], "a dead token is gone")
        wait(lambda: rows("SELECT reason, due IS NULL FROM pushes WHERE device = 'gone'") == [("no-token", True)], "its push is given up")
        wait(lambda: rows("SELECT reason FROM pushes WHERE device = 'healthy'") == [("sent",)], "the healthy one is sent")
        expect("the renewed one has its token", rows("SELECT token FROM devices WHERE device = 'renewed'"), [(RENEWED,)])
        renewed.token = os.urandom(32).hex()
        renewed.register()
        wait(lambda: rows("SELECT reason FROM pushes WHERE device = 'renewed'") == [("sent",)], "the phone with a new token gets it")


def test():
    os.mkdir(KEYS, 0o700)
    database, run = Database(), Run()
    with open(os.path.join(os.path.dirname(SERVICE), "schema.sql")) as file:
        persistently(lambda connection: connection.execute(file.read()))
    run.replace_key()
    run.fill()
    mock = subprocess.Popen(
        ["/usr/bin/python3", MOCK, os.path.join(FOLDER, "apns"), f"--gone={GONE}", f"--gone={RENEWED}", "--fault=lost@1%", "--fault=500@1%", "--fault=goaway@0.5%"],
        stdout=subprocess.PIPE, text=True)
    address, folder = mock.stdout.readline().strip(), os.path.join(FOLDER, "apns")
    send = [PROGRAM, "send", "--retry-for", "30s", "--key", f"{folder}/AuthKey_ABC123DEFG.p8", "--key-id", "ABC123DEFG", "--team", "TEAM123456", "--host",
        address, "--ca-file", f"{folder}/authority.pem"]
    senders = Workers([[sys.executable, SERVICE, URL, *send]] * 2, LOG)
    try:
        phases(run, senders, database)
    finally:
        run.finished, run.feeding = True, False
        senders.end()
        mock.terminate()
        database.stop()


def phases(run, senders, database):
    for phone in run.phones:
        phone.register()
    run.attacks(run.phones[0])
    run.dead_tokens()
    threads = [threading.Thread(target=run.deliver, daemon=True)]
    threads += [threading.Thread(target=run.feed, daemon=True) for _ in range(3)]
    threads += [threading.Thread(target=run.live, args=(phone,), daemon=True) for phone in run.phones[::5]]
    for thread in threads:
        thread.start()
    waits = []
    for number in range(KILLS):
        before = run.accepted()
        for sender in range(2):
            senders.kill_one(sender)
            time.sleep(random.uniform(0, 0.3))
        database.stop()
        time.sleep(random.uniform(0, 0.3))
        database.start()
        if number % 4 == 0:
            waits.append(run.replace_key())
        wait(lambda: run.accepted() > before, "events are accepted again", threads)
    wait(lambda: run.accepted() > EVENTS, "events are accepted", threads)
    run.feeding = False
    for thread in threads[1:]:
        thread.join(600)
    # What a killed sender had is leased for a minute.
    wait(lambda: rows("SELECT count(*) FROM pushes WHERE due IS NOT NULL") == [(0,)], "everything is sent", threads[:1])
    wait(lambda: all(phone.messages.keys() >= run.expected[phone.name] for phone in run.phones), "everything has arrived", threads[:1])
    run.replace_key(stolen=True)
    for phone in run.phones:
        phone.register()
        expect(f"{phone.name}: events", set(phone.messages), run.expected[phone.name])
        expect(f"{phone.name}: message ids for an event", {len(ids) for ids in phone.messages.values()}, {1})
        expect(f"{phone.name}: refused", phone.refused, {})
        expect(f"{phone.name}: the floor ends a thief's keys", phone.certificate.floor, run.certificates[-1].epoch)
    for device, text in rows("SELECT device, stored::text FROM devices WHERE device LIKE 'phone%%'"):
        phone, stored = run.phones[int(device[5:])], json.loads(text)
        expect(f"the row of {device}", (stored["user"], stored["public_key"], stored["generation"]), (phone.user, str(phone.keys[-1].public_key), phone.generation))
    expect("files with plaintext", subprocess.run(["grep", "-rl", SECRET, database.folder, LOG], capture_output=True, text=True).stdout, "")
    copies = sum(phone.copies for phone in run.phones) - run.accepted()
    figure("postgres", devices=COUNT, pushes=run.accepted(), kills_of_each=KILLS, copies=copies, most_ms_for_a_new_key=max(waits, default=0))


main(test)
