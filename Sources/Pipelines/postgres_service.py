#!/usr/bin/env python3
"""A provider whose devices and messages are in PostgreSQL. Any number of processes serve, seal and rotate at the same time.

usage: postgres_service.py init|serve|seal|rotate --database URL --keys FOLDER --topic ID [--port N] [--provider-key-file FILE] [--stolen]

    init      creates the tables and the first signing key, with a certificate by the provider key in FILE (`pushcrypt key new provider`)
    serve     answers phones' records: POST /devices/ID; your proxy authenticates the session and sets the header x-user
    seal      seals what is in `events` into `pushes`, from which a sender takes them, until it is ended
    rotate    replaces the signing key; phones follow by the certificate in each message. After a theft with --stolen

init and rotate run on a machine that you trust, and need the provider key; it never comes to a server. Servers share --keys; or, after
rotate, copy the new key's file into each server's, and delete the old one there. Until then `seal` ends with an error.

The password of the database is in PGPASSWORD or ~/.pgpass, not in URL, which `ps` shows.

needs: pip install pushcrypt 'psycopg[binary]'
"""
import argparse, contextlib, functools, http.server, json, os, queue, re, sys, time

import psycopg
from pushcrypt import (
    Certificate, Code, Credential, DevicePublicKey, DeviceRecord, HeldDevice, ProviderKey, ProviderPublicKey, PushcryptError, Reply, Sealer,
    SigningKey, check_registration, issue_certificate, shows_stale_store,
)

# `payload` is text: jsonb would change numbers and equal names. `proven` is a certificate that a phone has shown and that nobody here issued.
TABLES = """
    CREATE TABLE providers (topic text PRIMARY KEY, public_key text NOT NULL, proven text, proven_epoch bigint NOT NULL DEFAULT 0);
    CREATE TABLE certificates (epoch bigint PRIMARY KEY, certificate text NOT NULL, replaced_at bigint);
    CREATE TABLE devices (device text PRIMARY KEY, owner text NOT NULL, public_key bytea NOT NULL UNIQUE, generation bigint NOT NULL, topic text);
    CREATE TABLE events (number bigserial PRIMARY KEY, id text NOT NULL, device text NOT NULL, payload text NOT NULL);
    CREATE TABLE pushes (number bigint PRIMARY KEY, id text NOT NULL, device text NOT NULL, headers text, body text, refused text);
"""
# PostgreSQL allows 100 connections by default.
BATCH, CONNECTIONS, LONGEST_RECORD, DEVICE = 100, 20, 8192, re.compile(r"/devices/([A-Za-z0-9-]{1,64})")
# A database that is away for a moment, or a transaction that has to be repeated.
AGAIN = (psycopg.OperationalError, psycopg.errors.UniqueViolation)


# Checking a public key takes a millisecond in Python.
parse_provider = functools.lru_cache(64)(ProviderPublicKey.parse)
parse_certificate = functools.lru_cache(64)(Certificate.parse)


class Provider:
    """One app's provider and devices. `connect` returns a connection; a thread has one at a time."""

    def __init__(self, connect, keys, topic):
        self.connect, self.keys, self.topic = connect, keys, topic
        self.idle, self.sealing = queue.LifoQueue(), (None, None)
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

    def path(self, epoch):
        return os.path.join(self.keys, f"{epoch}.key")

    def write_key(self, credential):
        """Stores a signing key with its certificate, durably, before the commit of what refers to it."""
        with open(os.open(self.path(credential.certificate.epoch), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(credential.secret_text())
            file.flush()
            os.fsync(file.fileno())
        folder = os.open(self.keys, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def init(self, provider_key):
        with self.transaction() as connection:
            connection.execute(TABLES)
            connection.execute("INSERT INTO providers (topic, public_key) VALUES (%s, %s)", (self.topic, str(provider_key.public_key)))
            # The provider key signs no message: the floor is the first epoch.
            self.certify(connection, provider_key, stolen=True)

    def certify(self, connection, provider_key, **plan):
        """Makes a signing key and its certificate, and returns the epoch."""
        key, now = SigningKey.generate(), time.time_ns() // 1_000_000
        certificate = issue_certificate(provider_key, key.public_bytes(), topic=self.topic, at=now, **plan)
        connection.execute("UPDATE certificates SET replaced_at = %s WHERE replaced_at IS NULL", (now,))
        connection.execute("INSERT INTO certificates VALUES (%s, %s)", (certificate.epoch, str(certificate)))
        self.write_key(Credential(key, certificate, provider_key.public_key))
        return certificate.epoch

    def rotate(self, provider_key, stolen):
        """Replaces the signing key. What the old one signed opens for 38 days; after a theft not at all.

        If the database goes away during the commit, check which epoch it names before you try again: the other file is useless.
        """
        with self.transaction() as connection:
            # Waits for the batches that are being sealed with the old key.
            public_key, proven = connection.execute(
                "SELECT public_key, proven FROM providers WHERE topic = %s FOR UPDATE", (self.topic,)).fetchone()
            if public_key != str(provider_key.public_key):
                raise SystemExit("phones have pinned another provider key than this one")
            rows = connection.execute("SELECT epoch, certificate, replaced_at FROM certificates ORDER BY epoch").fetchall()
            current = next(Certificate.parse(text) for _, text, replaced_at in rows if replaced_at is None)
            new = self.certify(
                connection, provider_key, current=current, past=[(epoch, at) for epoch, _, at in rows if at is not None],
                proven=proven and Certificate.parse(proven), stolen=stolen)
        # A machine that only rotates does not have it.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(current.epoch))
        return new

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
            reply = Reply(refused=error.code, certificate=self.certificate())
        return reply.to_json()

    def certificate(self):
        with self.transaction() as connection:
            return parse_certificate(connection.execute("SELECT certificate FROM certificates WHERE replaced_at IS NULL").fetchone()[0])

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
        own, texts = connection.execute(
            "SELECT public_key, (SELECT array_agg(certificate ORDER BY epoch) FROM certificates) FROM providers WHERE topic = %s", (self.topic,)).fetchone()
        provider, issued = parse_provider(own), [parse_certificate(text) for text in texts]
        foreign = check_registration(
            record, held.get(device), user=user, elsewhere=held.get(elsewhere) if elsewhere else None, own_keys=[provider])
        if record.topic not in (None, self.topic):
            raise PushcryptError(Code.TOPIC_MISMATCH, "the record is for another app")
        if elsewhere is not None:
            connection.execute("DELETE FROM devices WHERE device = %s AND public_key = %s", (elsewhere, key))
        connection.execute(
            """
            INSERT INTO devices (device, owner, public_key, generation, topic) VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (device) DO UPDATE SET public_key = EXCLUDED.public_key, generation = EXCLUDED.generation,
                topic = coalesce(devices.topic, EXCLUDED.topic)
            """,
            (device, user, key, record.generation, self.topic))
        if shows_stale_store(record, provider, topic=self.topic, issued=issued):
            print(f"stale-store: {device} has a certificate that this database does not: it is an old copy, or the provider key was stolen",
                  file=sys.stderr, flush=True)
            connection.execute(
                "UPDATE providers SET proven = %(text)s, proven_epoch = %(epoch)s WHERE topic = %(topic)s AND %(epoch)s > proven_epoch",
                {"text": str(record.certificate), "epoch": record.certificate.epoch, "topic": self.topic})
        return Reply(acknowledged=record.public_key, provider=provider, certificate=issued[-1], foreign=foreign)

    # Messages

    def sealer(self, epoch):
        """The sealer of an epoch."""
        if self.sealing[0] != epoch:
            with open(self.path(epoch)) as file:
                self.sealing = epoch, Sealer(Credential.parse(file.read()), topic=self.topic)
        return self.sealing[1]

    def seal(self):
        """Seals a batch of events, and returns their number. Events and pushes change in one transaction, so none is lost or sealed twice."""
        with self.transaction() as connection:
            connection.execute("SELECT 1 FROM providers WHERE topic = %s FOR SHARE", (self.topic,))
            sealer = self.sealer(connection.execute("SELECT epoch FROM certificates WHERE replaced_at IS NULL").fetchone()[0])
            events = connection.execute(
                """
                SELECT number, id, device, payload, public_key FROM events LEFT JOIN devices USING (device)
                ORDER BY number LIMIT %s FOR UPDATE OF events SKIP LOCKED
                """, (BATCH,)).fetchall()
            pushes = []
            for number, name, device, payload, key in events:
                headers = body = refused = None
                try:
                    if key is None:
                        raise LookupError
                    push = sealer.seal(payload, DevicePublicKey(key), message_name=name)
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
    parser.add_argument("command", choices=["init", "serve", "seal", "rotate"])
    for name in ("database", "keys", "topic"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--provider-key-file", help="the provider key, for init and rotate")
    parser.add_argument("--stolen", action="store_true", help="with rotate: nothing that was signed before opens any more")
    given = parser.parse_args()
    provider = Provider(lambda: psycopg.connect(given.database), given.keys, given.topic)

    def provider_key():
        with open(given.provider_key_file or sys.exit(f"{given.command} needs --provider-key-file")) as file:
            return ProviderKey.parse(file.read())

    if given.command == "init":
        provider.init(provider_key())
    elif given.command == "serve":
        Handler.provider = provider
        Server(("127.0.0.1", given.port), Handler).serve_forever()
    elif given.command == "rotate":
        print(provider.rotate(provider_key(), given.stolen))
    else:
        while True:
            if not repeated(provider.seal):
                time.sleep(0.05)


if __name__ == "__main__":
    main()
