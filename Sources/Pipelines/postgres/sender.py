"""Brings pushes to APNs by `pushcrypt send`, and writes down what APNs says."""
import asyncio, contextlib, json, signal, time

import psycopg
from store import AGAIN, Unavailable, counts, fetch, log, repeated

WINDOW, LEASE, POLL, SILENCE = 2000, 60, 15, 900
LONGEST_PAUSE = 900

TAKE = """
    WITH taken AS (
        SELECT p.number, t.token, CASE
            WHEN expires_at <= now() THEN 'expired'
            WHEN d.device IS NULL THEN 'removed-device'
            WHEN p.epoch < %s THEN 'ended-epoch'
            WHEN t.token IS NULL THEN 'no-token' END AS why_not
        FROM pushes p
            LEFT JOIN devices d ON d.device = p.device AND d.owner = p.owner AND NOT d.is_removed
            LEFT JOIN tokens t ON t.device = d.device AND t.environment = p.environment
        WHERE p.due <= now() ORDER BY p.due LIMIT %s FOR UPDATE OF p SKIP LOCKED)
    UPDATE pushes SET due = now() + %s * interval '1 second', attempts = attempts + 1
    FROM taken WHERE pushes.number = taken.number
    RETURNING pushes.number, epoch, request, environment, attempts, token, why_not
    """
# An answer that is about an earlier copy of a push, from before a theft, settles nothing.
SETTLE = """
    UPDATE pushes SET status = s.status, reason = s.reason, due = now() + s.pause * interval '1 second',
        settled_at = CASE WHEN s.pause IS NULL THEN now() END, request = CASE WHEN s.pause IS NOT NULL THEN request END
    FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::text[], %s::float8[]) AS s (number, epoch, status, reason, pause)
    WHERE pushes.number = s.number AND pushes.epoch = s.epoch AND pushes.due IS NOT NULL
    """
GONE = """
    DELETE FROM tokens USING unnest(%s::text[], %s::text[], %s::float8[]) AS gone (token, environment, since)
    WHERE tokens.token = gone.token AND tokens.environment = gone.environment AND confirmed_at < to_timestamp(since / 1000)
    """
RENEW = "UPDATE pushes SET due = now() + %s * interval '1 second' WHERE number = ANY(%s) AND due IS NOT NULL"


class Taken:
    """A push that this sender has taken."""

    __slots__ = ("environment", "attempts", "renewed")

    def __init__(self, environment, attempts):
        self.environment, self.attempts, self.renewed = environment, attempts, time.monotonic()


class Sender:
    """A child that sends. Pushes that it has are leased: if this process dies, others take them when the lease ends."""

    def __init__(self, provider, url, command):
        self.provider, self.url, self.command = provider, url, command
        self.taken, self.child, self.heard = {}, None, time.monotonic()
        self.stopping, self.woken, self.room = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def stop(self):
        """Takes nothing more. The child ends what is under way, and gives the rest back."""
        self.stopping.set()
        self.woken.set()
        self.room.set()
        if self.child and self.child.returncode is None:
            self.child.send_signal(signal.SIGTERM)

    async def why_not_ready(self):
        runs = self.child and self.child.returncode is None
        return await self.provider.why_not_ready(seals=False) if runs else ["pushcrypt send does not run"]

    async def run(self):
        """Returns the exit code: 0 after `stop`, 64 if no restart helps."""
        # In a separate session, so that Control-C does not reach it.
        self.child = await asyncio.create_subprocess_exec(
            *self.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True)
        if self.stopping.is_set():
            self.stop()
        helpers = [asyncio.create_task(self.or_end(work)) for work in (self.listen, self.feed, self.renew)]
        await self.or_end(self.read)
        for task in helpers:
            task.cancel()
        await asyncio.gather(*helpers, return_exceptions=True)
        code = await self.child.wait()
        await self.settle([(*place, None, None, 0) for place in self.taken], [])
        if self.stopping.is_set():
            return 0
        log.error("pushcrypt send ended with %d", code)
        return 64 if code == 64 else 1

    async def or_end(self, work):
        """Does work without which nothing is sent: a fault in it ends the child, and so this process."""
        try:
            await work()
        except Exception:
            log.exception("the sender fails")
            self.child.kill()

    async def listen(self):
        """Wakes the feeder when something was sealed. Without the database it looks now and then."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self.url, autocommit=True, connect_timeout=5) as connection:
                    await connection.execute("LISTEN pushcrypt")
                    self.woken.set()
                    async for _ in connection.notifies():
                        self.woken.set()
            except AGAIN:
                await asyncio.sleep(1)

    async def feed(self):
        while not self.stopping.is_set():
            if len(self.taken) >= WINDOW:
                self.room.clear()
                await self.room.wait()
                continue
            self.woken.clear()
            try:
                rows = await self.take(min(500, WINDOW - len(self.taken)))
            except (*AGAIN, Unavailable):
                await asyncio.sleep(1)
                continue
            refused = []
            for number, epoch, request, environment, attempts, token, reason in sorted(rows):
                if reason:
                    refused.append((number, epoch, None, reason, None))
                    continue
                self.taken[number, epoch] = Taken(environment, attempts)
                self.child.stdin.write(
                    f'{{"number": {number}, "epoch": {epoch}, "token": "{token}", "environment": "{environment}", {request[1:]}\n'.encode())
            try:
                await self.child.stdin.drain()
            except ConnectionError:
                return
            if refused:
                await self.settle(refused, [])
            if not rows:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.woken.wait(), POLL)

    async def take(self, most):
        async with self.provider.pool.connection() as connection:
            floor = (await self.provider.read_keys(connection)).floor
            return await fetch(connection, TAKE, floor, most, LEASE)

    async def read(self):
        """Each round settles the answers that came during the one before."""
        rest = b""
        while chunk := await self.child.stdout.read(1 << 20):
            self.heard = time.monotonic()
            *lines, rest = (rest + chunk).split(b"\n")
            settled, gone = [], []
            for line in lines:
                answer = json.loads(line)
                # Not by order: a push that APNs delays does not hold up the answers behind it.
                place = answer["number"], answer["epoch"]
                if taken := self.taken.get(place):
                    settled.append((*place, answer.get("status"), *self.outcome(answer, taken, gone)))
            await self.settle(settled, gone)

    def outcome(self, answer, taken, gone):
        """The reason, and the seconds after which it is tried again; none if that is all."""
        error = answer.get("error")
        if error is None:
            return "sent", None
        pause = min(2 ** taken.attempts, LONGEST_PAUSE)
        if error["code"] == "not-sent":
            return None, 0
        if answer.get("status") == 410 and "timestamp" in answer:
            gone.append((answer["token"], taken.environment, float(answer["timestamp"])))
            # If the phone has another token by now, or had confirmed this one since, it gets the push. Otherwise there is none any more.
            return "unregistered", pause
        return answer.get("reason") or error["code"], pause if answer.get("retry") else None

    async def settle(self, settled, gone):
        async def write():
            async with self.provider.transaction() as connection:
                if gone:
                    removed = await connection.execute(GONE, [list(column) for column in zip(*gone)])
                    counts["pushcrypt_tokens_removed_total", ()] += removed.rowcount
                if settled:
                    await connection.execute(SETTLE, [list(column) for column in zip(*rows)])

        # Two senders that settle the same pushes do not wait for each other.
        rows = sorted(settled, key=lambda row: row[0])
        # Until the database is back: these answers come only once.
        await repeated(write, float("inf"))
        for number, epoch, status, reason, _ in rows:
            self.taken.pop((number, epoch), None)
            counts["pushcrypt_answers_total", (("reason", reason or "not-sent"), ("status", str(status or "")))] += 1
        self.room.set()

    async def renew(self):
        """Keeps what the child still has, and ends a child that says nothing."""
        while True:
            await asyncio.sleep(LEASE / 6)
            now = time.monotonic()
            held = [place for place, taken in self.taken.items() if now - taken.renewed > LEASE / 3]
            if held and now - self.heard > SILENCE:
                log.error("pushcrypt send has not answered for %d seconds", now - self.heard)
                self.child.kill()
            with contextlib.suppress(*AGAIN):
                async with self.provider.pool.connection() as connection:
                    await connection.execute(RENEW, (LEASE, [number for number, _ in held]))
                for place in held:
                    if place in self.taken:
                        self.taken[place].renewed = now
