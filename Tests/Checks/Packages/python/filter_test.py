"""The client of `pushcrypt seal --batch`: nothing is lost, whatever happens to the child.

    filter_test.py PUSHCRYPT
"""
import asyncio
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from pushcrypt import DeviceKey, Person, ProviderKey, PushcryptError, Trust, open_push
from pushcrypt.filter import Answer, AsyncFilter, Filter, FilterError, Message

PROGRAM = sys.argv[1]
COUNT = 3000
PATIENCE = 300
FOLDER = tempfile.TemporaryDirectory()
PROVIDER, PHONE = ProviderKey.generate(), DeviceKey.generate()
TRUST = Trust([PROVIDER.public_key])
KEY = pathlib.Path(FOLDER.name, "provider.key")
KEY.touch(0o600)
KEY.write_text(PROVIDER.secret_text())
COMMAND = [PROGRAM, "seal", "--batch", "--signing-key-file", str(KEY), "--topic", "com.example.app"]


def expect(name: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"packages: python: filter: {name}: {str(found)[:500]}, and not {str(expected)[:500]}")


def messages(count: int) -> Iterator[Message]:
    for number in range(count):
        payload: Any = {"aps": {"alert": f"Hello {number}"}, "number": number, "fill": "é" * (number % 300)}
        if number % 3 == 0:
            payload = json.dumps(payload, indent=1).encode()
        yield Message(to=PHONE.public_key, payload=payload, id=f"n-{number}", passed={"token": number})


def check(message: Message, answer: Answer) -> None:
    """The answer is that of the message: the phone opens its payload."""
    number = message.passed["token"]
    expect("what is passed through", answer.members, {"token": number, "id": f"n-{number}", "to": str(message.to)})
    opened = open_push(json.dumps(answer.payload), topic="com.example.app", devices=[PHONE], trust=TRUST)
    expect("the payload", json.loads(opened.payload)["number"], number)


async def killed() -> int:
    """A child is killed again and again, with what it has read and not answered."""
    kills, seen = 0, []
    async with AsyncFilter(COMMAND, window=200) as sealing:
        async for message, answer in sealing.seal_all(messages(COUNT)):
            check(message, answer)
            seen.append(message.passed["token"])
            if len(seen) % 250 == 0 and sealing.pid is not None:
                os.kill(sealing.pid, (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)[kills % 3])
                kills += 1
    expect("each message, once and in order", seen, list(range(COUNT)))
    return kills


async def held_back() -> None:
    """A child that stops stops the reading of messages."""
    taken = 0

    async def counted() -> AsyncIterator[Message]:
        nonlocal taken
        for message in messages(500):
            taken += 1
            yield message

    async with AsyncFilter(COMMAND, window=50) as sealing:
        first = await sealing.seal(next(messages(1)))
        check(next(messages(1)), first)
        assert sealing.pid is not None
        os.kill(sealing.pid, signal.SIGSTOP)
        submitting = [asyncio.create_task(sealing.submit(message)) for message in messages(100)]
        await asyncio.sleep(0.3)
        expect("messages submitted while the child stands", sum(task.done() for task in submitting), 50)
        os.kill(sealing.pid, signal.SIGCONT)
        for message, task in zip(messages(100), submitting):
            check(message, await (await task))
        os.kill(sealing.pid, signal.SIGSTOP)
        results = sealing.seal_all(counted())
        reading = asyncio.ensure_future(anext(results))
        await asyncio.sleep(0.3)
        expect("messages taken while the child stands", taken <= 52, True)
        os.kill(sealing.pid, signal.SIGCONT)
        check(*await reading)
        async for message, answer in results:
            check(message, answer)
    expect("messages taken", taken, 500)


async def refusals() -> None:
    """A refused message is an answer; what could break the line is refused before."""
    async with AsyncFilter(COMMAND) as sealing:
        to = PHONE.public_key
        answer = await sealing.seal(Message(to=to, payload={"aps": {}}, passed={"token": 1}))
        expect("the code of a refusal", (answer.error and answer.error.code, answer.members["token"]), ("nothing-to-show", 1))
        for token in (float("nan"), "\ud800", b""):
            try:
                expect("a value beside the payload", await sealing.seal(Message(to=to, payload={}, passed={"token": token})), "refused")
            except PushcryptError as error:
                expect("the code of a value beside the payload", error.code, "invalid-request")
        for wrong, kind in (
            (Message(to=to, payload={}, passed={"to_user": "alice"}), ValueError), (Message(to=to, payload=b'{}},"to":"x"'), PushcryptError),
            (Message(to=to, payload={}, passed={"collapse_id": "a"}), ValueError), (Message(to=to, payload={"a": b""}), PushcryptError),
            (Message(to=to, payload="[]"), PushcryptError), (Message(to="\ud800", payload="{}"), PushcryptError),
        ):
            try:
                await sealing.seal(wrong)
            except kind:
                continue
            expect("what breaks the line", wrong, "refused")
        try:
            Message(to=to, payload={}, tll=60)  # type: ignore[call-arg]
            expect("a misspelt option", "a message", "an error")
        except TypeError:
            pass
        options: dict[str, Any] = {
            "topic": "a", "ttl": "2h", "placeholder": {"title": "b"}, "push_type": "alert", "withdraw": ["c"], "drop": True,
            "person": Person(name="Anna"), "collapse_id": "d", "priority": 5}
        answer = await sealing.seal(Message(to=to, payload={"aps": {"alert": "a"}}, **options))
        opened = open_push(json.dumps(answer.payload), topic="a", devices=[PHONE], trust=TRUST)
        expect("all options", (opened.person and opened.person.name, opened.is_dropped, len(opened.withdraws)), ("Anna", True, 1))
        deep = b'{"aps":{"alert":"a"},"own":' + b"[" * 31 + b"]" * 31 + b"}"
        for payload in (deep, deep.decode(), json.loads(deep)):
            expect("the deepest payload", (await sealing.seal(Message(to=to, payload=payload))).error, None)
        cancelled = asyncio.create_task(sealing.seal(next(messages(1))))
        await asyncio.sleep(0)
        cancelled.cancel()
        check(next(messages(1)), await sealing.seal(next(messages(1))))
    try:
        await sealing.seal(next(messages(1)))
        expect("a closed filter", "seals", "an error")
    except FilterError:
        pass


async def never_starts() -> None:
    for arguments, window in ((["pushcrypt", "seal"], 1), (COMMAND, 0)):
        # A thread of asyncio that waits for an earlier child may end meanwhile.
        before = set(threading.enumerate())
        try:
            Filter(arguments, window=window)
            expect("a filter that cannot work", arguments, "an error")
        except ValueError:
            expect("threads", set(threading.enumerate()) - before, set())
    for command, words in (
        ([PROGRAM, "seal", "--batch", "--signing-key-file", "/nowhere", "--topic", "a"], "nowhere"),
        (["/nowhere", "--batch"], "cannot be started"), (["true", "--batch"], "ended with 0"),
        (["cat", "--batch"], "ended with 1"), (["sh", "-c", "echo '{}'; sleep 1", "--batch"], "belongs to no message"),
        (["sh", "-c", "head -c 100000 /dev/zero | tr '\\0' '['; echo; sleep 1", "--batch"], "belongs to no message"),
        *((["sh", "-c", f"echo '{answer}'; sleep 1", "--batch"], "belongs to no message") for answer in (
            '{"pushcrypt-number":0}', '{"pushcrypt-number":0,"payload":7}', '{"pushcrypt-number":0,"error":{"code":5,"message":""}}',
            '{"pushcrypt-number":0,"error":{"code":"a","message":5}}', '{"pushcrypt-number":false,"payload":{}}',
            '{"pushcrypt-number":0.0,"payload":{}}')),
    ):
        start = time.monotonic()
        sealing = AsyncFilter(command, window=2)
        results = await asyncio.gather(*(sealing.seal(message) for message in messages(3)), return_exceptions=True)
        for result in results:
            expect(f"the error of {command[0]}: {result!r}", isinstance(result, FilterError) and words in str(result), True)
        expect("the time until it gives up", time.monotonic() - start < 30, True)
        await sealing.aclose()


async def live() -> None:
    """An answer does not wait for the next message, nor does a message that is refused here end the others."""
    asked = asyncio.Event()

    async def queue() -> AsyncIterator[Message]:
        yield Message(to=PHONE.public_key, payload={"value": float("nan")}, passed={"token": "a"})
        yield Message(to=PHONE.public_key, payload={}, passed={"ttl": 1})
        yield next(messages(1))
        await asked.wait()
        yield next(messages(1))

    async with AsyncFilter(COMMAND) as sealing:
        results = sealing.seal_all(queue())
        for code in ("malformed-payload", "invalid-request"):
            message, answer = await asyncio.wait_for(anext(results), 60)
            expect("a message that is refused here", (answer.error and answer.error.code, answer.members), (code, message.passed))
        check(*await asyncio.wait_for(anext(results), 60))
        asked.set()
        check(*await anext(results))
        expect("the end of the messages", await anext(results, None), None)


async def outage() -> None:
    """A command that fails for a while fails what waits then; one that is misused is not tried again."""
    broken, tried = pathlib.Path(FOLDER.name, "broken"), pathlib.Path(FOLDER.name, "tried")
    script = [f'echo . >>{tried}; [ ! -e {broken} ] || exit "$(cat {broken})"; exec "$@"', "-", *COMMAND]
    for code in (1, 64):
        broken.write_text(f"{code}")
        tried.unlink(missing_ok=True)
        async with AsyncFilter(["sh", "-c", *script], window=2) as sealing:
            await asyncio.sleep(2)
            expect("children for which nothing waits", len(tried.read_text().split()), 1)
            results = await asyncio.gather(*(sealing.seal(message) for message in messages(3)), return_exceptions=True)
            expect("the errors of an outage", [type(result) for result in results], [FilterError] * 3)
            broken.unlink()
            if code == 1:
                check(next(messages(1)), await sealing.seal(next(messages(1))))
            else:
                try:
                    expect("after a misuse", await sealing.seal(next(messages(1))), "an error")
                except FilterError:
                    expect("children after a misuse", len(tried.read_text().split()), 1)


def held_open() -> None:
    """Closing does not wait for a process that the command left, which holds its standard error."""
    sealing = Filter(["sh", "-c", 'sleep 40 >/dev/null & exec "$@"', "-", *COMMAND])
    sealing.seal(next(messages(1)))
    start = time.monotonic()
    sealing.close()
    expect("the time to close", time.monotonic() - start < 20, True)
    for _ in range(2):
        try:
            expect("a closed filter", sealing.submit(next(messages(1))), "an error")
        except FilterError:
            pass


def called_back() -> None:
    """A done callback, in the thread that reads the answers, gets an error instead of waiting for itself."""
    errors: list[type[BaseException]] = []

    def call(work: Any) -> None:
        try:
            work()
        except FilterError as error:
            errors.append(type(error))

    with Filter(COMMAND, window=1) as sealing:
        for work in (lambda: sealing.submit(next(messages(1))), sealing.close):
            for message in messages(2):
                sealing.submit(message).add_done_callback(lambda _, work=work: call(work))  # type: ignore[misc]
        sealing.seal(next(messages(1)))
    expect("errors in callbacks", len(errors) > 0, True)


def forked() -> None:
    """A forked process gets an error, and does not keep the command running."""
    with Filter(COMMAND, window=1) as sealing:
        sealing.seal(next(messages(1)))
        process = os.fork()
        if process == 0:
            try:
                sealing.submit(next(messages(1)))
            except FilterError:
                sealing.close()
                time.sleep(60)
            os._exit(1)
        time.sleep(0.2)
    expect("the forked process", os.waitpid(process, os.WNOHANG), (0, 0))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def threads() -> None:
    """Without asyncio, from several threads, with a child that is killed."""
    answered: dict[int, bool] = {}
    with Filter(COMMAND, window=100) as sealing:

        def work(part: int) -> None:
            own = [message for message in messages(400) if message.passed["token"] % 4 == part]
            for message, answer in sealing.seal_all(own):
                check(message, answer)
                answered[message.passed["token"]] = True
                if len(answered) % 100 == 50 and sealing.pid is not None:
                    os.kill(sealing.pid, signal.SIGKILL)

        workers = [threading.Thread(target=work, args=(part,)) for part in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        check(next(messages(1)), sealing.seal(next(messages(1))))
    expect("the messages of all threads", len(answered), 400)
    expect("children left", subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True).stdout, b"")


async def main() -> None:
    kills = await killed()
    await held_back()
    await refusals()
    await never_starts()
    await live()
    await outage()
    await asyncio.to_thread(threads)
    expect("kills", kills > 3, True)
    print(f"packages: python: filter: {COUNT} messages, {kills} children killed, none lost")


logging.getLogger("pushcrypt.filter").setLevel(logging.CRITICAL)
with FOLDER:
    forked()
    held_open()
    called_back()
    try:
        asyncio.run(asyncio.wait_for(main(), PATIENCE))
    except asyncio.TimeoutError:
        sys.exit(f"packages: python: filter: no end after {PATIENCE} seconds: a message is lost")
