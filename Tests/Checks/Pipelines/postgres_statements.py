"""What one process of the service does with a database that goes away at each statement, two rotations at once, a theft, a wrong clock."""
import asyncio, contextlib, glob, itertools, json, logging, os, shutil, sys, time

import psycopg, psycopg_pool
from postgres_scene import APP, FOLDER, SERVICE, URL, Phone, event, rows
from pushcrypt import CertificateRequest
from pushcrypt.testing import DeviceKey
from scene import count, expect

sys.path.append(SERVICE)
import sender, store

logging.disable()


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


class One:
    """One process of the service, and a phone of its user Carol."""

    def __init__(self, pool, key):
        self.pool, self.key, self.phone = pool, key, Phone("cut", "carol", [])
        self.keys = os.path.join(FOLDER, "keys")
        self.provider = store.Provider(pool, self.keys)
        self.sender = sender.Sender(self.provider, URL, [])

    async def register(self, name):
        self.phone.keys.append(DeviceKey.generate())
        self.phone.generation += 1
        self.phone.believe(json.loads(await store.repeated(lambda: self.provider.register(self.phone.record(), "cut", "carol"))))

    async def push(self, name):
        events = [event(f"{name}-a", user="carol"), event(f"{name}-b", device="cut"), event(f"{name}-a", user="carol")]
        answers = await store.repeated(lambda: self.provider.push(events))
        expect("pushes for each event", [answer["pushes"] for answer in answers], [1, 1, 1])
        expect("pushes that are stored once", waiting(), 2)
        taken = {}
        while len(taken) < 2:
            with contextlib.suppress(psycopg.OperationalError):
                taken |= {row[:2]: row[2] for row in await self.sender.take(10)}
            lease_ends()
        for place, request in taken.items():
            self.sender.taken[place] = sender.Taken("production", 1)
            self.phone.receive(json.dumps(json.loads(request)["payload"]))
        await self.sender.settle([(*place, 200, "sent", None) for place in taken], [])
        expect("pushes that wait", waiting(), 0)

    async def certified(self, **options):
        request = await store.repeated(lambda: self.provider.request(**options))
        return CertificateRequest.from_json(request).certify(self.key).to_json()

    async def replace(self, name="", **options):
        answer = await self.certified(**options)
        epoch, _ = await store.repeated(lambda: self.provider.install(answer))
        expect("the key in use", rows("SELECT epoch FROM certificates WHERE replaced_at IS NULL"), [(epoch,)])
        expect("key files", [name.split("-")[0] for name in os.listdir(self.keys) if name.endswith(".key")], [str(epoch)])

    async def end(self, name):
        record = Phone("other", "carol", []).record(generation=1 + (rows("SELECT (stored ->> 'generation')::int FROM devices WHERE device = 'other'") or [(0,)])[0][0])
        await store.repeated(lambda: self.provider.register(record, "other", "carol"))
        await store.repeated(lambda: self.provider.end_device("other", lambda stored: True))
        expect("what is left of a device", rows("SELECT is_removed, (SELECT count(*) FROM tokens) FROM devices WHERE device = 'other'"), [(True, 1)])

    async def tidy(self, name):
        rows("UPDATE pushes SET settled_at = now() - interval '8 days' WHERE settled_at IS NOT NULL")
        await store.repeated(lambda: self.provider.push([event("old", user="carol")]))
        rows("UPDATE pushes SET expires_at = now() - interval '1 second'")
        # The database may not have noticed yet that another connection is gone, which has the lock.
        for _ in range(100):
            await store.repeated(lambda: self.provider.tidy(7))
            if not (left := rows("SELECT count(*) FROM pushes")[0][0]):
                break
            await asyncio.sleep(0.05)
        expect("what tidying leaves", left, 0)

    async def statements(self):
        await self.register("first")
        breaks = sum([await at_each_statement(work) for work in (self.register, self.push, self.replace, self.end, self.tidy)])
        expect("Carol's phone", (dict(self.phone.refused), {len(ids) for ids in self.phone.messages.values()}), ({}, {1}))
        count("database gone at a statement", breaks, "postgres")

    async def signing_keys(self):
        # Two machines replace the key at once: the certificate of the second does not know of the first.
        answers = [await self.certified() for _ in range(2)]
        results = await asyncio.gather(*(self.provider.install(answer) for answer in answers), return_exceptions=True)
        expect(f"what two get that replace the key: {results}", sorted(isinstance(one, ValueError) for one in results), [False, True])

        # The key is replaced while an event is sealed.
        another = store.Provider(self.pool, self.keys)

        async def read_keys(connection):
            keys, another.read_keys = await self.provider.read_keys(connection), self.provider.read_keys
            await self.replace()
            return keys

        await another.push([event("before", user="carol")])
        rows("DELETE FROM pushes")
        another.read_keys = read_keys
        await another.push([event("meanwhile", user="carol")])
        expect("the key of an event that was sealed meanwhile", rows("SELECT pushes.epoch = max(c.epoch) FROM pushes, certificates c GROUP BY pushes.epoch"), [(True,)])
        rows("DELETE FROM pushes")

        # Another machine does not have the new key file yet.
        late = store.Provider(self.pool, shutil.copytree(self.keys, os.path.join(FOLDER, "late")))
        await self.replace()
        expect("an event on the other machine", (await late.push([event("late", device="cut")]))[0]["pushes"], 1)
        # What was signed before a theft is not sent, and comes again by its id.
        await self.replace(stolen=True)
        await unavailable("no key of an epoch", late.push([event("later", user="carol")]))
        expect("an old push after a theft", [row[-1] for row in await self.sender.take(10)], ["ended-epoch"])
        expect("the event again", (await self.provider.push([event("late", device="cut")]))[0]["pushes"], 1)
        lease_ends()
        expect("its push", [row[-1] for row in await self.sender.take(10)], [None])

        # An old copy of the database: a phone shows what was issued since.
        await self.register("new")
        lost = rows("DELETE FROM certificates WHERE replaced_at IS NULL RETURNING epoch")[0][0]
        rows("UPDATE certificates SET replaced_at = NULL WHERE epoch = (SELECT max(epoch) FROM certificates)")
        await self.provider.register(self.phone.record(), "cut", "carol")
        for path in glob.glob(os.path.join(self.keys, "*.key")):
            os.unlink(path)
        await self.replace()
        certificate = store.parse_certificate(rows("SELECT certificate FROM certificates WHERE replaced_at IS NULL")[0][0])
        expect("epoch and floor after an old copy", (certificate.epoch > lost, certificate.floor), (True, certificate.epoch))
        await self.register("believes it")

        real, store.time.time = time.time, lambda: real() + 600
        await unavailable("600 seconds ahead", self.provider.push([event("clock", user="carol")]))
        store.time.time = real
        await self.replace(lifetime=1)
        await asyncio.sleep(1.1)
        await unavailable("expired", self.provider.push([event("expired", user="carol")]))
        await self.replace()

    async def children(self):
        """A child that hangs, one that talks nonsense and one that ends: what it had is given back."""
        sender.LEASE, sender.SILENCE = 0.6, 0.3
        for number, (script, code) in enumerate((("exec sleep 100", 1), ("read line; echo nonsense; exec sleep 100", 1), ("exit 64", 64))):
            await self.provider.push([event(f"child{number}", user="carol")])
            expect("the exit code", await asyncio.wait_for(sender.Sender(self.provider, URL, ["sh", "-c", script]).run(), 20), code)
            await asyncio.sleep(sender.LEASE)
            expect("pushes that nobody has", rows("SELECT count(*) FROM pushes WHERE due <= now()"), [(number + 1,)])

    async def refusals(self):
        big = {"aps": {"alert": "x" * 5000}}
        answer, = await self.provider.push([event("big", user="carol") | {"payload": big}])
        expect("a payload that is too large", (answer["pushes"], answer["error"]["code"]), (0, "payload-too-large"))
        answer, = await self.provider.push([event("drop", user="carol", drop="yes")])
        expect("a member of the wrong type", (answer["pushes"], answer["error"]["code"]), (0, "malformed-event"))


def waiting():
    return rows("SELECT count(*) FROM pushes WHERE due IS NOT NULL")[0][0]


def lease_ends():
    rows("UPDATE pushes SET due = now() WHERE due IS NOT NULL")


async def unavailable(why, work):
    try:
        found = await work
    except store.Unavailable as error:
        found = str(error)
    expect(f"not available because {why}: {found}", why in found, True)


async def one_process(key):
    store.random.uniform = lambda *_: 0.01
    async with psycopg_pool.AsyncConnectionPool(
            URL, connection_class=Cut, kwargs={"autocommit": True}, min_size=1, max_size=4, open=False) as pool:
        one = One(pool, key)
        for part in one.statements, one.signing_keys, one.children, one.refusals:
            await part()
    rows("TRUNCATE devices, tokens, pushes")
