#!/usr/bin/env python3
"""A provider whose devices and messages are in PostgreSQL. Any number of processes serve, seal and rotate at the same time.

usage: postgres_service.py init|serve|seal|rotate|recover --database URL --keys FOLDER --topic ID [--port N] [--recovery-key-file FILE]

    init      creates the tables and the first sender key
    serve     answers phones' records: POST /devices/ID; your proxy authenticates the session and sets the header x-user
    seal      seals what is in `events` into `pushes`, from which a sender takes them, until it is ended
    rotate    replaces the sender's key; phones follow by what the next messages announce
    recover   replaces a stolen key with the help of the recovery key, on a machine that you trust

Servers share --keys; or, after rotate and recover, copy the new key's file into each server's, and delete the old one there. Until then
`seal` ends with an error.

The password of the database is in PGPASSWORD or ~/.pgpass, not in URL, which `ps` shows.

needs: pip install pushcrypt 'psycopg[binary]'
"""
import argparse, contextlib, functools, http.server, json, os, queue, re, sys, time

import psycopg
from pushcrypt import (
    AnnouncedStatements, Code, DevicePublicKey, DeviceRecord, HeldDevice, PushcryptError, RecoveryKey, RecoveryPublicKey, Reply, Sealer,
    SenderKey, SenderPublicKey, check_registration, recovery_statement, rotation_statement, statement_line,
)

# `payload` is text: jsonb would change numbers and equal names.
TABLES = """
    CREATE TABLE senders (topic text PRIMARY KEY, public_key text NOT NULL, statements text NOT NULL DEFAULT '', serial bigint NOT NULL DEFAULT 0);
    CREATE TABLE own_keys (public_key text PRIMARY KEY);
    CREATE TABLE devices (device text PRIMARY KEY, owner text NOT NULL, public_key bytea NOT NULL UNIQUE, generation bigint NOT NULL, topic text, sender text);
    CREATE TABLE events (number bigserial PRIMARY KEY, id text NOT NULL, device text NOT NULL, payload text NOT NULL);
    CREATE TABLE pushes (number bigint PRIMARY KEY, id text NOT NULL, device text NOT NULL, headers text, body text, refused text);
"""
# Seconds for which messages announce a rotation, 270 days: one a quarter fits, beside a recovery too.
ANNOUNCED_FOR = 23_328_000
# PostgreSQL allows 100 connections by default.
BATCH, CONNECTIONS, LONGEST_RECORD, DEVICE = 100, 20, 8192, re.compile(r"/devices/([A-Za-z0-9-]{1,64})")
# A database that is away for a moment, or a transaction that has to be repeated.
AGAIN = (psycopg.OperationalError, psycopg.errors.UniqueViolation)


# Checking a sender's key takes a millisecond in Python.
parse_sender = functools.lru_cache(64)(SenderPublicKey.parse)
parse_recovery = functools.lru_cache(64)(RecoveryPublicKey.parse)


class Provider:
    """One app's sender and devices. `connect` returns a connection; a thread has one at a time."""

    def __init__(self, connect, keys, topic):
        self.connect, self.keys, self.topic = connect, keys, topic
        self.idle, self.sealers = queue.LifoQueue(), {}
        for _ in range(CONNECTIONS):
            self.idle.put(None)

    @contextlib.contextmanager
    def transaction(self):
        """A transaction on an idle connection, or a new one; waits while all are used. A connection that broke is not used again."""
        connection = self.idle.get()
        try:
            connection = connection or self.connect()
            with connection.transaction():
                yield connection
        finally:
            if connection and (connection.closed or connection.broken):
                connection.close()
                connection = None
            self.idle.put(connection)

    # Keys

    def path(self, public_key):
        return os.path.join(self.keys, str(public_key))

    def write_key(self, key):
        """Stores a secret key under its public one, durably, before the commit of what refers to it."""
        with open(os.open(self.path(key.public_key), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(key.secret_text() + "\n")
            file.flush()
            os.fsync(file.fileno())
        folder = os.open(self.keys, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def read_key(self, public_key):
        with open(self.path(public_key)) as file:
            return SenderKey.parse(file.read())

    def init(self, recovery_key=None):
        key = SenderKey.generate()
        with self.transaction() as connection:
            connection.execute(TABLES)
            connection.execute("INSERT INTO senders (topic, public_key) VALUES (%s, %s)", (self.topic, str(key.public_key)))
            for own in filter(None, (key.public_key, recovery_key)):
                connection.execute("INSERT INTO own_keys VALUES (%s)", (str(own),))
            self.write_key(key)

    def replace(self, statements, serial=0):
        """Replaces the sender's key. `statements` returns the lines that messages announce from then on; `serial` is that of a recovery.

        If the database goes away during the commit, check which key it names before you try again: the other file is useless.
        """
        new = SenderKey.generate()
        with self.transaction() as connection:
            # Waits for the batches that are being sealed with the old key.
            old, lines, last = connection.execute(
                "SELECT public_key, statements, serial FROM senders WHERE topic = %s FOR UPDATE", (self.topic,)).fetchone()
            text = statements(old, lines, last, new)
            AnnouncedStatements.parse(text, new.public_key)
            connection.execute("INSERT INTO own_keys VALUES (%s)", (str(new.public_key),))
            connection.execute(
                "UPDATE senders SET public_key = %s, statements = %s, serial = greatest(serial, %s) WHERE topic = %s",
                (str(new.public_key), text, serial, self.topic))
            self.write_key(new)
        # A machine that only recovers does not have it.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(old))
        return new.public_key

    def rotate(self):
        """Replaces the sender's key. A phone that misses all messages of 270 days is lost until its app pins the new key.

        A fifth rotation in that time, or a fourth after a recovery, is refused (`too-many-announcements`): rotate once a quarter.
        """
        def statements(old, lines, _, new):
            key = self.read_key(old)
            rotation = rotation_statement(key, new)
            if not lines:
                return statement_line(rotation, key.public_key)
            return AnnouncedStatements.parse(lines, key.public_key).adding(rotation, announced_for=ANNOUNCED_FOR).text

        return self.replace(statements)

    def recover(self, recovery_key):
        """Replaces the sender's key by a recovery. Its serial is the time, so that a restored database uses none twice."""
        with self.transaction() as connection:
            if not connection.execute("SELECT 1 FROM own_keys WHERE public_key = %s", (str(recovery_key.public_key),)).fetchone():
                raise SystemExit("no phone has this recovery key; it is not the one that init was given")
        serial = int(time.time())

        def statement(_old, _lines, last, new):
            if serial <= last:
                raise SystemExit(f"the last recovery has the serial {last}, and the clock is not above it: {serial}")
            return statement_line(recovery_statement(recovery_key, new, topic=self.topic, serial=serial), new.public_key)

        return self.replace(statement, serial)

    # Phones

    def register(self, data, device, user):
        """Answers a phone's record. `device` and `user` are the session's."""
        try:
            record = DeviceRecord.parse(data)
            with self.transaction() as connection:
                reply = self.take(connection, record, device, user)
            if reply.foreign:
                print(f"{device} names a key that this provider never had: {', '.join(reply.foreign)}", file=sys.stderr, flush=True)
        except PushcryptError as error:
            reply = Reply(refused=error.code)
        return reply.to_json()

    def take(self, connection, record, device, user):
        key = bytes(record.public_key)
        # Nobody else changes this device or gives its key to another meanwhile. In one order, so that nobody waits for each other.
        connection.execute(
            "SELECT pg_advisory_xact_lock(lock) FROM (SELECT unnest(ARRAY[hashtextextended(%s, 0), hashtextextended(%s, 1)]) AS lock ORDER BY 1) AS locks",
            (device, key.hex()))
        rows = connection.execute(
            "SELECT device, owner, public_key, generation, topic FROM devices WHERE device = %s OR public_key = %s", (device, key)).fetchall()
        held = {
            row[0]: HeldDevice(user=row[1], public_key=DevicePublicKey(row[2]), generation=row[3], topic=row[4]) for row in rows}
        elsewhere = next((name for name in held if name != device), None)
        sender, own = connection.execute(
            "SELECT public_key, (SELECT array_agg(own_keys.public_key) FROM own_keys) FROM senders WHERE topic = %s", (self.topic,)).fetchone()
        recovery = [parse_recovery(text) for text in own if text.startswith("pcv")]
        own_keys = [*recovery, *(parse_sender(text) for text in own if text.startswith("pcs"))]
        foreign = check_registration(
            record, held.get(device), user=user, elsewhere=held.get(elsewhere) if elsewhere else None, own_keys=own_keys)
        if record.topic not in (None, self.topic):
            raise PushcryptError(Code.TOPIC_MISMATCH, "the record is for another app")
        if elsewhere is not None:
            connection.execute("DELETE FROM devices WHERE device = %s AND public_key = %s", (elsewhere, key))
        connection.execute(
            """
            INSERT INTO devices (device, owner, public_key, generation, topic, sender) VALUES (%s, %s, %s, %s, %s, %s)
            ON CONFLICT (device) DO UPDATE SET public_key = EXCLUDED.public_key, generation = EXCLUDED.generation,
                topic = coalesce(devices.topic, EXCLUDED.topic), sender = EXCLUDED.sender
            """,
            (device, user, key, record.generation, self.topic, record.sender and str(record.sender)))
        return Reply(acknowledged=record.public_key, sender=parse_sender(sender), recovery=recovery, foreign=foreign)

    # Messages

    def sealer(self, public_key, statements):
        """The sealer of a key, and what it announces to phones that have not reported it."""
        if (public_key, statements) not in self.sealers:
            sealer = Sealer(self.read_key(public_key), topic=self.topic)
            announced = AnnouncedStatements.parse(statements, sealer.public_key) if statements else ()
            self.sealers = {(public_key, statements): (sealer, announced)}
        return self.sealers[public_key, statements]

    def seal(self):
        """Seals a batch of events, and returns their number. Events and pushes change in one transaction, so none is lost or sealed twice."""
        with self.transaction() as connection:
            sender, statements = connection.execute(
                "SELECT public_key, statements FROM senders WHERE topic = %s FOR SHARE", (self.topic,)).fetchone()
            sealer, announced = self.sealer(sender, statements)
            events = connection.execute(
                """
                SELECT number, id, device, payload, public_key, sender FROM events LEFT JOIN devices USING (device)
                ORDER BY number LIMIT %s FOR UPDATE OF events SKIP LOCKED
                """, (BATCH,)).fetchall()
            pushes = []
            for number, name, device, payload, key, reported in events:
                headers = body = refused = None
                try:
                    if key is None:
                        raise LookupError
                    push = sealer.seal(
                        payload, DevicePublicKey(key), message_name=name, announcing=() if reported == sender else announced)
                    request = sealer.request(push, device_name=device)
                    headers, body = json.dumps(request.headers), request.payload.decode()
                except PushcryptError as error:
                    refused = str(error.code)
                except LookupError:
                    refused = "unknown-device"
                pushes.append((number, name, device, headers, body, refused))
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO pushes VALUES (%s, %s, %s, %s, %s, %s)", pushes)
            connection.execute("DELETE FROM events WHERE number = ANY(%s)", ([event[0] for event in events],))
        return len(events)


def repeated(work, seconds=60):
    """Does work again while the database is away."""
    end = time.monotonic() + seconds
    while True:
        try:
            return work()
        except AGAIN:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Provider

    def do_POST(self):
        place, user, length = DEVICE.fullmatch(self.path), self.headers.get("x-user"), self.headers.get("content-length", "")
        if not place or not user or not re.fullmatch("[0-9]{1,5}", length) or int(length) > LONGEST_RECORD:
            self.close_connection = True
            return self.answer(400, b"{}")
        record = self.rfile.read(int(length))
        try:
            self.answer(200, repeated(lambda: self.provider.register(record, place[1], user), 5))
        except AGAIN:
            self.answer(503, b"{}")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    # Phones come in crowds, after a push to all.
    request_queue_size = 512
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=["init", "serve", "seal", "rotate", "recover"])
    for name in ("database", "keys", "topic"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--recovery-key-file", help="the secret key for recover, the public one for init")
    given = parser.parse_args()
    provider = Provider(lambda: psycopg.connect(given.database), given.keys, given.topic)
    recovery = given.recovery_key_file and open(given.recovery_key_file).read()
    if given.command == "init":
        provider.init(recovery and RecoveryPublicKey.parse(recovery))
    elif given.command == "serve":
        Handler.provider = provider
        Server(("127.0.0.1", given.port), Handler).serve_forever()
    elif given.command == "rotate":
        print(provider.rotate())
    elif given.command == "recover":
        print(provider.recover(RecoveryKey.parse(recovery or sys.exit("recover needs --recovery-key-file"))))
    else:
        while True:
            if not repeated(provider.seal):
                time.sleep(0.05)


if __name__ == "__main__":
    main()
