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

from pushcrypt import DeviceKey, PushcryptError, SenderKey, Trust, open_push
from pushcrypt import Sender as TrustedSender
from pushcrypt.filter import AsyncFilter, Filter, FilterError

PROGRAM = sys.argv[1]
COUNT = 3000
FOLDER = tempfile.TemporaryDirectory()
SENDER, PHONE = SenderKey.generate(), DeviceKey.generate()
TRUST = Trust([TrustedSender("a", SENDER.public_key)])
KEY = pathlib.Path(FOLDER.name, "sender.key")
KEY.touch(0o600)
KEY.write_text(SENDER.secret_text())
COMMAND = [PROGRAM, "seal", "--batch", "--sender-key-file", str(KEY), "--topic", "com.example.app"]


def expect(name: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"packages: python: filter: {name}: {str(found)[:500]}, and not {str(expected)[:500]}")


def messages(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        payload: Any = {"aps": {"alert": f"Hello {number}"}, "number": number, "fill": "é" * (number % 300)}
        if number % 3 == 0:
            payload = json.dumps(payload, indent=1).encode()
        yield {"to": str(PHONE.public_key), "payload": payload, "id": f"n-{number}", "token": number}


def check(message: dict[str, Any], answer: dict[str, Any]) -> None:
    """The answer is that of the message: the phone opens its payload."""
    number = message["token"]
    expect("what is passed through", (answer["token"], answer["id"], answer["to"]), (number, f"n-{number}", message["to"]))
    opened = open_push(json.dumps(answer["payload"]), topic="com.example.app", devices=[PHONE], trust=TRUST)
    expect("the payload", json.loads(opened.payload)["number"], number)


async def killed() -> int:
    """A child is killed again and again, with what it has read and not answered."""
    kills, seen = 0, []
    async with AsyncFilter(COMMAND, window=200) as sealing:
        async for message, answer in sealing.seal_all(messages(COUNT)):
            check(message, answer)
            seen.append(message["token"])
            if len(seen) % 250 == 0 and sealing.pid is not None:
                os.kill(sealing.pid, (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)[kills % 3])
                kills += 1
    expect("each message, once and in order", seen, list(range(COUNT)))
    return kills


async def held_back() -> None:
    """A child that stops stops the reading of messages."""
    taken = 0

    async def counted() -> AsyncIterator[dict[str, Any]]:
        nonlocal taken
        for message in messages(500):
            taken += 1
            yield message

    async with AsyncFilter(COMMAND, window=50) as sealing:
        first = await sealing.seal(next(messages(1)))
        check(next(messages(1)), first)
        assert sealing.pid is not None
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
        answer = await sealing.seal({"to": str(PHONE.public_key), "payload": {"aps": {}}, "token": 1})
        expect("the code of a refusal", (answer["error"]["code"], answer["token"]), ("nothing-to-show", 1))
        for wrong, kind in (
            ({"to-user": "alice", "payload": {}}, ValueError), ({}, ValueError), ({"payload": b'{}},"to":"x"'}, PushcryptError),
            ({"payload": {"a": b""}}, PushcryptError), ({"payload": {1: 2}}, PushcryptError), ([], TypeError),
        ):
            try:
                await sealing.seal(wrong)  # type: ignore[arg-type]
            except kind:
                continue
            expect("what breaks the line", wrong, "refused")
        deep = b'{"aps":{"alert":"a"},"own":' + b"[" * 31 + b"]" * 31 + b"}"
        expect("the deepest payload", "error" in await sealing.seal({"to": str(PHONE.public_key), "payload": deep}), False)
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
    for command, words in (
        ([PROGRAM, "seal", "--batch", "--sender-key-file", "/nowhere", "--topic", "a"], "nowhere"),
        (["/nowhere", "--batch"], "cannot be started"), (["true", "--batch"], "ended with 0"),
        (["cat", "--batch"], "ended with 1"), (["sh", "-c", "echo '{}'; sleep 1", "--batch"], "belongs to no message"),
    ):
        start = time.monotonic()
        sealing = AsyncFilter(command)
        results = await asyncio.gather(*(sealing.seal(message) for message in messages(3)), return_exceptions=True)
        for result in results:
            expect(f"the error of {command[0]}", isinstance(result, FilterError) and words in str(result), True)
        expect("the time until it gives up", time.monotonic() - start < 10, True)
        await sealing.aclose()


def threads() -> None:
    """Without asyncio, from several threads, with a child that is killed."""
    answered: dict[int, bool] = {}
    with Filter(COMMAND, window=100) as sealing:

        def work(part: int) -> None:
            own = [message for message in messages(400) if message["token"] % 4 == part]
            for message, answer in sealing.seal_all(own):
                check(message, answer)
                answered[message["token"]] = True
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
    await asyncio.to_thread(threads)
    expect("kills", kills > 3, True)
    print(f"packages: python: filter: {COUNT} messages, {kills} children killed, none lost")


logging.getLogger("pushcrypt.filter").setLevel(logging.CRITICAL)
with FOLDER:
    asyncio.run(main())
