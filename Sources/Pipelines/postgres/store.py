"""What the database holds: the provider's certificates, devices, and pushes, which are sealed before they are stored."""
import asyncio, collections, contextlib, dataclasses, functools, hashlib, json, logging, os, pathlib, random, time

import psycopg
from pushcrypt import (
    Certificate, CertificateRequest, Credential, DevicePublicKey, DeviceRecord, ProviderPublicKey, PushcryptError, Reply, Sealer,
    SignedCertificate, SigningKey, StoredDevice, accept,
)

# The longest that a machine may go on with the key before, if its key file has not come yet, and by how much clocks may differ.
LATE_KEY, CLOCKS = 7 * 86_400, 180
# Of a user the tokens that were confirmed last get an event.
MOST_EVENTS, MOST_TOKENS = 100, 50
# An event's members, and how the package calls them.
OPTIONS = {"ttl": "time_to_live", "push_type": "push_type", "withdraws": "withdraws", "drop": "drop"}
REQUEST_OPTIONS = {"priority": "priority", "collapse": "collapse_name"}
# The database is away for a moment, or two transactions were in each other's way.
AGAIN = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.errors.UniqueViolation)

log = logging.getLogger("pushcrypt")
# Name and labels of a metric, and how often it happened.
counts: collections.Counter = collections.Counter()
parse_provider = functools.lru_cache(64)(ProviderPublicKey.parse)
parse_certificate = functools.lru_cache(64)(Certificate.parse)
parse_device = functools.lru_cache(65_536)(DevicePublicKey.parse)


class Unavailable(Exception):
    """The request is not wrong: try it again later."""


async def fetch(connection, query, *values):
    return await (await connection.execute(query, values)).fetchall()


async def repeated(work, seconds=5.0):
    """Does work again while the database is away."""
    end = time.monotonic() + seconds
    while True:
        try:
            return await work()
        except AGAIN as error:
            counts["pushcrypt_database_failures_total", ()] += 1
            if time.monotonic() > end:
                raise Unavailable(f"the database: {error}") from error
            await asyncio.sleep(random.uniform(0.05, 0.3))


@dataclasses.dataclass(frozen=True)
class Keys:
    """What the database says of the provider."""

    topic: str
    provider: ProviderPublicKey
    proven: Certificate | None
    #: Newest first, each with the milliseconds at which it was replaced.
    certificates: list[tuple[Certificate, int | None]]
    #: How many seconds this machine's clock is ahead of the database's.
    ahead: float

    @property
    def current(self):
        return self.certificates[0][0] if self.certificates else None

    @property
    def floor(self):
        return self.current.floor if self.current else 0

    @property
    def is_stale(self):
        """Whether a phone showed a certificate that was never issued here, and none was issued since."""
        return self.proven is not None and self.current is not None and self.proven.epoch >= self.current.epoch


class Provider:
    """One app's provider. `keys` is the folder of the signing keys."""

    def __init__(self, pool, keys):
        self.pool, self.keys, self.sealing = pool, pathlib.Path(keys), (None, None)
        # Batches are sealed one after the other: all at the same time would all be late.
        self.turn = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def transaction(self):
        async with self.pool.connection() as connection, connection.transaction():
            yield connection

    # Keys

    async def read_keys(self, connection):
        rows = await fetch(
            connection,
            """
            SELECT topic, public_key, proven, extract(epoch FROM clock_timestamp())::float8,
                ARRAY(SELECT certificate FROM certificates ORDER BY epoch DESC),
                ARRAY(SELECT (1000 * extract(epoch FROM replaced_at))::bigint FROM certificates ORDER BY epoch DESC)
            FROM provider
            """)
        if not rows:
            raise Unavailable("the database has no provider: run init")
        topic, provider, proven, now, certificates, replaced = rows[0]
        return Keys(topic, parse_provider(provider), proven and parse_certificate(proven),
                    [*zip(map(parse_certificate, certificates), replaced)], time.time() - now)

    def path(self, certificate):
        """The file of a signing key. No two keys have the same, even if two machines replace the key in one second."""
        return self.keys / f"{certificate.epoch}-{key_id(certificate.signing_key)}.key"

    async def init(self, topic, provider):
        async with self.transaction() as connection:
            await connection.execute((pathlib.Path(__file__).parent / "schema.sql").read_text())
            await connection.execute("INSERT INTO provider (topic, public_key) VALUES (%s, %s)", (topic, str(ProviderPublicKey.parse(provider))))

    async def request(self, stolen=False, lifetime=None):
        """Makes a signing key, and returns the request for its certificate, for `pushcrypt key certify` where the provider key is."""
        async with self.pool.connection() as connection:
            keys = await self.read_keys(connection)
        key = SigningKey.generate()
        request = CertificateRequest(
            topic=keys.topic, provider=keys.provider, signing_key=key.public_bytes(), current=keys.current, past=keys.certificates[1:],
            # The provider key signs no message here: the first floor is the first epoch.
            proven=keys.proven, stolen=stolen or keys.current is None, lifetime=lifetime).to_json()
        write(self.keys / f"{key_id(key.public_bytes())}.request", f"{key.secret_text()}\n{request}\n")
        return request

    async def install(self, answer):
        """Replaces the signing key by the one that was requested here. Returns the epoch, and the seconds from when it requested the
        lock until everybody sealed with the new key."""
        made = SignedCertificate.from_json(answer).certificate
        pending = self.keys / f"{key_id(made.signing_key)}.request"
        if not pending.exists():
            raise ValueError(f"no request for this certificate was made in {self.keys}")
        secret, text = pending.read_text().splitlines()
        request = CertificateRequest.from_json(text)
        write(self.path(made), request.install(SigningKey.parse(secret), answer).secret_text())
        before, proven = request.current.epoch if request.current else 0, request.proven and str(request.proven)
        async with self.pool.connection() as connection:
            start = time.monotonic()
            [(done,)] = await fetch(connection, "SELECT replace_key(%s, %s, %s, %s)", before, proven, made.epoch, str(made))
        if not done:
            self.path(made).unlink()
            pending.unlink()
            raise ValueError("another key was installed, or a phone showed one, since this request: make another request")
        seconds = time.monotonic() - start
        pending.unlink()
        if request.current is not None:
            self.path(request.current).unlink(missing_ok=True)
        return made.epoch, seconds

    def sealer(self, keys):
        """What seals: the current key, or, while its file is on the way to this machine, the one before it."""
        if abs(keys.ahead) > CLOCKS:
            raise Unavailable(f"this machine's clock is {keys.ahead:.0f} seconds ahead of the database's")
        now = time.time() * 1000
        for certificate, replaced in keys.certificates:
            if certificate.epoch < keys.floor or (replaced is not None and now - replaced > 1000 * LATE_KEY):
                break
            if certificate.expires_at <= now:
                raise Unavailable("the certificate has expired: replace the signing key")
            if self.sealing[0] != certificate:
                try:
                    credential = Credential.parse(self.path(certificate).read_text())
                except FileNotFoundError:
                    log.warning("%s is missing", self.path(certificate))
                    continue
                self.sealing = certificate, Sealer(credential, topic=keys.topic)
            return self.sealing
        raise Unavailable(f"no key of an epoch that phones accept is in {self.keys}")

    async def why_not_ready(self, seals):
        """Why this process cannot work, as a list of texts."""
        try:
            async with asyncio.timeout(3), self.pool.connection(timeout=3) as connection:
                keys = await self.read_keys(connection)
                if seals:
                    self.sealer(keys)
        except (*AGAIN, Unavailable, TimeoutError) as error:
            return [str(error) or "the database does not answer"]
        return []

    # Phones

    async def register(self, data, device, user):
        """Answers a phone's record. `device` and `user` are the session's."""
        async with self.transaction() as connection:
            keys = await self.read_keys(connection)
            try:
                reply = await self.take_record(connection, keys, DeviceRecord.from_json(data), device, user)
            except PushcryptError as error:
                reply = Reply.refusal(error, certificate=keys.current)
        counts["pushcrypt_registrations_total", (("result", reply.refused or "acknowledged"),)] += 1
        return reply.to_json()

    async def take_record(self, connection, keys, record, device, user):
        key = str(record.public_key)
        # Nobody else changes this device or gives its key to another meanwhile. In one order, so that nobody waits for each other.
        await lock_devices(connection, device, key)
        rows = await fetch(
            connection, "SELECT device, stored::text FROM devices WHERE device = %s OR (public_key = %s AND NOT is_removed)", device, key)
        held = {name: stored_device(text) for name, text in rows}
        elsewhere = next((name for name in held if name != device), None)
        accepted = accept(
            record, held.get(device), user, topic=keys.topic, provider=keys.provider, certificate=keys.current,
            issued=[one for one, _ in keys.certificates if one.epoch >= keys.floor], elsewhere=held.get(elsewhere))
        if accepted.removes_elsewhere:
            await remove(connection, elsewhere, held[elsewhere].removed(), key)
        await store(connection, device, dataclasses.replace(accepted.device, device=device).without_token())
        if record.token and record.environment:
            await connection.execute(
                """
                INSERT INTO tokens (device, environment, token) VALUES (%s, %s, %s)
                ON CONFLICT (device, environment) DO UPDATE SET token = EXCLUDED.token, confirmed_at = now()
                """, (device, record.environment, record.token))
        if accepted.foreign:
            log.warning("%s names a key that this provider never had: %s", device, ", ".join(accepted.foreign))
        if accepted.stale_store:
            log.warning("stale-store: %s knows a certificate that this database does not: it is an old copy, or the provider key was stolen", device)
            if keys.proven is None or keys.proven < accepted.stale_store:
                await connection.execute("UPDATE provider SET proven = %s", (str(accepted.stale_store),))
        return accepted.reply

    async def end_device(self, device, allows, heir=None):
        """Removes a device if `allows(stored)`, and returns whether it did. `heir` is the user whom the phone now belongs to: it may
        register the id again, with another key."""
        async with self.transaction() as connection:
            await lock_devices(connection, device)
            for text, in await fetch(connection, "SELECT stored::text FROM devices WHERE device = %s", device):
                stored = stored_device(text)
                if allows(stored):
                    kept = stored.removed()
                    kept = dataclasses.replace(kept, user=heir, generation=0) if heir else kept
                    await remove(connection, device, kept, str(stored.public_key))
                    return True
        return False

    # Messages

    async def push(self, events):
        """Seals events in a transaction that is over when the database answers: no process that hangs holds up a rotation."""
        async with self.pool.connection() as connection:
            return await self.seal(connection, events)

    async def seal(self, connection, events):
        """Seals events for their users' devices. Returns an answer for each.

        `connection` may be in a transaction of yours, with what the events are about: one that is READ COMMITTED and ends soon after,
        because a rotation waits for its end.

        An event has `id`, `payload` (an object, or JSON text, which stays as it is), `user` or `device`, and perhaps `ttl`, `push_type`,
        `priority`, `collapse`, `withdraws` and `drop`. One with the same `id` again adds nothing, but for pushes that no longer open.
        """
        rows = await fetch(
            connection,
            """
            SELECT device, owner, public_key, environment FROM devices JOIN tokens USING (device)
            WHERE NOT is_removed AND (owner = ANY(%s) OR device = ANY(%s)) ORDER BY confirmed_at DESC
            """, *([event[name] for event in events if name in event] for name in ("user", "device")))
        addresses = collections.defaultdict(list)
        for row in rows:
            for place in ("user", row[1]), ("device", row[0]):
                if len(addresses[place]) < MOST_TOKENS:
                    addresses[place].append(row)
        added = None
        # Again if the key was replaced meanwhile.
        while added is None:
            keys, pushes, answers = await self.read_keys(connection), {}, []
            certificate, sealer = self.sealer(keys)
            async with self.turn:
                for event in events:
                    kind, answer = "device" if "device" in event else "user", {"id": event["id"], "pushes": 0}
                    for device, owner, key, environment in addresses[kind, event[kind]]:
                        try:
                            push = sealer.seal(event["payload"], parse_device(key), message_id=event["id"], **renamed(event, OPTIONS))
                            request = sealer.request(push, device_id=device, **renamed(event, REQUEST_OPTIONS))
                        except (PushcryptError, TypeError) as error:
                            answer["error"] = {"code": str(getattr(error, "code", "malformed-event")), "message": str(error)}
                        else:
                            pushes[device, environment, push.message_id] = owner, line(request), push.expires_at / 1000
                            answer["pushes"] += 1
                    answers.append(answer)
                    await asyncio.sleep(0)  # Phones are answered meanwhile.
            # In one order, so that two transactions with the same events do not wait for each other.
            columns = [list(column) for column in zip(*sorted((*key, *values) for key, values in pushes.items()))] or [[]] * 6
            [(added,)] = await fetch(
                connection, "SELECT add_pushes(%s, %s, %s, %s, %s, %s, %s, %s, %s)", keys.current.epoch, certificate.epoch, keys.floor, *columns)
        counts["pushcrypt_pushes_sealed_total", ()] += added
        for answer in answers:
            if "error" in answer:
                counts["pushcrypt_events_refused_total", (("code", answer["error"]["code"]),)] += 1
        return answers

    async def tidy(self, days, most=5000):
        """Deletes expired pushes, and answers older than `days`; one process at a time. Returns how many it deleted."""
        async with self.transaction() as connection:
            if await fetch(connection, "SELECT pg_try_advisory_xact_lock(hashtext('pushcrypt tidy'))") != [(True,)]:
                return 0
            old = await connection.execute(
                "DELETE FROM pushes WHERE number IN (SELECT number FROM pushes WHERE settled_at < now() - %s * interval '1 day' LIMIT %s)",
                (days, most))
            expired = await connection.execute(
                """
                DELETE FROM pushes WHERE number IN (
                    SELECT number FROM pushes WHERE due IS NOT NULL AND expires_at < now() AND due <= now() LIMIT %s FOR UPDATE SKIP LOCKED)
                """, (most,))
        counts["pushcrypt_pushes_expired_total", ()] += expired.rowcount
        return old.rowcount + expired.rowcount


def key_id(public):
    return hashlib.sha256(public).hexdigest()[:16]


def write(path, text):
    """Stores a secret durably, before the commit of what refers to it."""
    new = path.with_suffix(".new")
    with open(os.open(new, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def renamed(event, names):
    return {name: event[given] for given, name in names.items() if given in event}


def line(request):
    """What `pushcrypt send` reads, without token and environment."""
    members = {name: getattr(request, name) for name in ("topic", "push_type", "priority", "expiration", "collapse_id")}
    return json.dumps(members)[:-1] + ', "payload": ' + request.payload.decode() + "}"


async def lock_devices(connection, *names):
    await connection.execute(
        "SELECT pg_advisory_xact_lock(lock) FROM (SELECT hashtextextended(name, 0) AS lock FROM unnest(%s::text[]) AS name ORDER BY 1) AS locks",
        (list(names),))


async def store(connection, device, stored):
    await connection.execute(
        "INSERT INTO devices (device, stored) VALUES (%s, %s) ON CONFLICT (device) DO UPDATE SET stored = EXCLUDED.stored",
        (device, stored.to_json()))


async def remove(connection, device, kept, key):
    """Ends a device, unless it has another key by now: nothing is sent to it, not even what waits."""
    done = await connection.execute("UPDATE devices SET stored = %s WHERE device = %s AND public_key = %s", (kept.to_json(), device, key))
    if done.rowcount:
        await connection.execute("DELETE FROM tokens WHERE device = %s", (device,))
        await connection.execute("DELETE FROM pushes WHERE device = %s", (device,))
        counts["pushcrypt_devices_removed_total", ()] += 1


def stored_device(text):
    try:
        return StoredDevice.from_json(text)
    except PushcryptError as error:
        raise RuntimeError("a row of devices is damaged") from error  # The phone's record is not to blame.
