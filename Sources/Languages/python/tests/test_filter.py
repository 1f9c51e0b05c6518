"""The client of the filter, with a child that stops, dies, prints garbage or answers late: nothing is lost, and nothing waits for ever."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from pushcrypt import Code, Person, PushcryptError
from pushcrypt.filter import Answer, AsyncFilter, Filter, FilterError, Message, Refusal
from vectors import label

FAKE = [sys.executable, "-S", "-E", str(pathlib.Path(__file__).with_name("fake_seal.py")), "--batch"]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
logging.getLogger("pushcrypt.filter").setLevel(logging.CRITICAL)


def message(number: int = 0) -> Message:
    return Message(to="phone1", payload={"aps": {"alert": "a"}, "number": number}, id=f"n-{number}", passed={"token": number})


def check(given: Message, answer: Answer) -> None:
    number = given.passed["token"]
    assert answer.payload == {"was": {"aps": {"alert": "a"}, "number": number}} and answer.error is None
    assert answer.members == {"token": number, "id": f"n-{number}", "to": "phone1"}


def shell(script: str) -> list[str]:
    return ["sh", "-c", script, "--batch"]


def run(main: Any, patience: float = 30) -> Any:
    return asyncio.run(asyncio.wait_for(main, patience))


@pytest.fixture(autouse=True)
def no_children_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        children = subprocess.run(["ps", "-o", "pid=,stat=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout
        if not [line for line in children.splitlines() if "Z" not in line and "R" not in line]:
            break
        time.sleep(0.05)
    else:
        raise AssertionError(f"children left: {children}")
    assert {thread for thread in set(threading.enumerate()) - before if "pushcrypt" in thread.name} == set()


# A child that fails


@pytest.mark.parametrize("how, timeout", [("stop=3", 2), ("die=3", 30), ("garbage=3", 30)])
def test_a_child_that_fails_once(how: str, timeout: float, tmp_path: pathlib.Path) -> None:
    """Another child gets what was not answered, once and in order. A child that stands still is killed after `answer_timeout`."""
    once = tmp_path / "once"
    once.touch()

    async def main() -> list[int]:
        async with AsyncFilter([*FAKE, how, f"once={once}"], answer_timeout=timeout) as sealing:
            seen = []
            async for given, answer in sealing.seal_all(message(number) for number in range(20)):
                check(given, answer)
                seen.append(given.passed["token"])
            return seen

    assert run(main()) == list(range(20)) and not once.exists()


@pytest.mark.parametrize("how", ["stop=0", "die=0", "garbage=0"])
def test_a_child_that_always_fails(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five in a row, and what waits gets an error that says whether trying again can help."""
    monkeypatch.setattr("pushcrypt._engine.LONGEST_PAUSE", 0.2)

    async def main() -> None:
        sealing = AsyncFilter([*FAKE, how], answer_timeout=0.2 if how == "stop=0" else 30, window=2)
        results = await asyncio.gather(*(sealing.seal(message(number)) for number in range(3)), return_exceptions=True)
        words = {"stop=0": "answered nothing for 0.2 seconds", "die=0": "ended with 3", "garbage=0": "belongs to no message"}[how]
        for error in results:
            assert isinstance(error, FilterError) and error.retryable and error.code is Code.FILTER_ENDED and words in str(error)
        await sealing.aclose()

    run(main())


@pytest.mark.parametrize("answer", [
    "{}", '{"pushcrypt-number":0}', '{"pushcrypt-number":0,"payload":7}', '{"pushcrypt-number":0,"error":{"code":5,"message":""}}',
    '{"pushcrypt-number":0,"error":{"code":"a","message":5}}', '{"pushcrypt-number":false,"payload":{}}',
    '{"pushcrypt-number":0.0,"payload":{}}', '{"pushcrypt-number":7,"payload":{}}', "null", "[" * 100_000, "é",
    '{"pushcrypt-number":0,"payload":{"a":"\udcff"}}', '{"pushcrypt-number":0,"payload":{}} {}',
], ids=label)
def test_what_is_no_answer(answer: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushcrypt._engine.FILTER_MOST_ENDS", 1)
    monkeypatch.setattr("pushcrypt._engine.LONGEST_PAUSE", 0.1)
    (tmp_path / "answer").write_bytes(f"{answer}\n".encode("utf-8", "surrogateescape"))

    async def main() -> None:
        sealing = AsyncFilter(shell(f"cat '{tmp_path}/answer'; exec sleep 20"))
        with pytest.raises(FilterError, match="belongs to no message"):
            await sealing.seal(message())
        await sealing.aclose()

    run(main())


def test_an_answer_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pushcrypt._engine.FILTER_MOST_ENDS", 1)
    monkeypatch.setattr("pushcrypt._engine.LONGEST_PAUSE", 0.1)

    async def main() -> None:
        sealing = AsyncFilter(shell("tr '\\0' a </dev/zero"))
        with pytest.raises(FilterError, match="belongs to no message"):
            await sealing.seal(message())
        await sealing.aclose()

    run(main())


def test_an_error_is_an_answer() -> None:
    async def main() -> None:
        script = """read line; echo '{"pushcrypt-number":0,"error":{"code":"store-busy","message":"later"},"token":1}'; cat >/dev/null"""
        async with AsyncFilter(shell(script)) as sealing:
            answer = await sealing.seal(message())
            assert answer.error == Refusal("store-busy", "later") and answer.error.retryable and answer.members == {"token": 1}
            assert not Refusal("nothing-to-show", "").retryable and not Refusal("unheard-of", "").retryable

    run(main())


def test_a_wrong_program_is_told_at_once() -> None:
    start, before = time.monotonic(), set(threading.enumerate())
    for kind in (AsyncFilter, Filter):
        for program in ("/nowhere/pushcrypt", "pushcrpyt", str(pathlib.Path(__file__).parent), ""):
            with pytest.raises(FileNotFoundError):
                kind([program, "seal", "--batch"])
    assert time.monotonic() - start < 10 and set(threading.enumerate()) == before


def test_a_program_that_goes_away(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told at once too; and when it is back, the next message is sealed."""
    monkeypatch.setattr("pushcrypt._engine.LONGEST_PAUSE", 0.3)
    program = tmp_path / "seal"

    def install() -> None:
        program.write_text(f'#!/bin/sh\nexec {" ".join(FAKE)}\n')
        program.chmod(0o700)

    async def main() -> None:
        install()
        sealing = AsyncFilter([str(program), "--batch"])
        program.unlink()
        start = time.monotonic()
        with pytest.raises(FilterError, match="cannot be started") as caught:
            await sealing.seal(message())
        assert time.monotonic() - start < 20 and caught.value.retryable
        install()
        check(message(), await sealing.seal(message()))
        await sealing.aclose()

    run(main())


def test_misuse_is_final(tmp_path: pathlib.Path) -> None:
    tried = tmp_path / "tried"

    async def main() -> None:
        async with AsyncFilter(shell(f"echo a >>'{tried}'; exit 64")) as sealing:
            for _ in range(2):
                with pytest.raises(FilterError, match="ended with 64") as caught:
                    await sealing.seal(message())
                assert not caught.value.retryable
        with Filter(shell("echo unknown option >&2; exit 64")) as blocking:
            for _ in range(2):
                with pytest.raises(FilterError, match="ended with 64: unknown option"):
                    blocking.seal(message())

    run(main())
    assert tried.read_text() == "a\n"


def test_a_child_for_which_nothing_waits_is_not_tried_again(tmp_path: pathlib.Path) -> None:
    """Until there is a message."""
    tried = tmp_path / "tried"

    async def main() -> None:
        async with AsyncFilter(shell(f"test -e '{tried}' && exec {' '.join(FAKE)}; echo a >>'{tried}'; exit 1")) as sealing:
            await asyncio.sleep(1)
            assert sealing.pid is None
            check(message(), await sealing.seal(message()))

    run(main())
    assert tried.read_text() == "a\n"


# Closing


def test_closing_waits_for_answers() -> None:
    async def main() -> None:
        sealing = AsyncFilter([*FAKE, "late=0.05"])
        answers = [await sealing.submit(message(number)) for number in range(5)]
        await sealing.aclose()
        for number, answer in enumerate(answers):
            check(message(number), answer.result())
        with pytest.raises(FilterError) as caught:
            await sealing.seal(message())
        assert not caught.value.retryable
        await sealing.aclose()

    run(main())


def test_waiting_for_the_close_does_not_poison_it() -> None:
    """`wait_for` cancels what it waits for; the answers still come, and so does the end."""
    async def main() -> None:
        sealing = AsyncFilter([*FAKE, "late=0.3"])
        answers = [await sealing.submit(message(number)) for number in range(3)]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(sealing.aclose(), 0.1)
        for number, answer in enumerate(answers):
            check(message(number), await answer)
        await sealing.aclose()
        assert sealing.pid is None

    run(main())


def test_closing_with_a_timeout() -> None:
    async def main() -> None:
        sealing = AsyncFilter([*FAKE, "stop=1"])
        answers = [await sealing.submit(message(number)) for number in range(3)]
        check(message(0), await answers[0])
        start = time.monotonic()
        await sealing.aclose(timeout=0.3)
        assert 0.2 < time.monotonic() - start < 20
        for answer in answers[1:]:
            with pytest.raises(FilterError):
                await answer

    run(main())
    blocking = Filter([*FAKE, "stop=0"])
    waiting = blocking.submit(message())
    blocking.close(timeout=0.3)
    with pytest.raises(FilterError):
        waiting.result()
    for _ in range(2):
        with pytest.raises(FilterError):
            blocking.submit(message())
        blocking.close()


def test_closing_what_never_started() -> None:
    async def main() -> None:
        await AsyncFilter(FAKE).aclose()
        await AsyncFilter(FAKE).aclose(timeout=0)

    run(main())
    Filter(FAKE).close()


def test_closing_does_not_wait_for_a_grandchild() -> None:
    """A process that the command left holds its output open."""
    sealing = Filter(["sh", "-c", 'sleep 40 & exec "$@"', "-", *FAKE])
    check(message(), sealing.seal(message()))
    start = time.monotonic()
    sealing.close()
    assert time.monotonic() - start < 30


def test_a_message_that_is_cancelled() -> None:
    async def main() -> None:
        async with AsyncFilter([*FAKE, "late=0.05"], window=2) as sealing:
            tasks = [asyncio.ensure_future(sealing.seal(message(number))) for number in range(6)]
            await asyncio.sleep(0.02)
            for task in tasks[::2]:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            for number, result in enumerate(results):
                if number % 2:
                    check(message(number), result)
                else:
                    assert isinstance(result, asyncio.CancelledError)
            # Every place is free again.
            again = await asyncio.gather(*(sealing.seal(message(number)) for number in range(4)))
            assert len(again) == 4

    run(main())


def test_another_event_loop() -> None:
    async def start() -> AsyncFilter:
        sealing = AsyncFilter(FAKE)
        check(message(), await sealing.seal(message()))
        return sealing

    async def use() -> None:
        with pytest.raises(FilterError) as caught:
            await sealing.seal(message())
        assert not caught.value.retryable

    loop = asyncio.new_event_loop()
    sealing = loop.run_until_complete(start())
    # While its loop is there, when it is closed, and when the loop is gone.
    run(use())
    loop.run_until_complete(sealing.aclose())
    loop.close()
    run(use())


def test_a_loop_that_ends_ends_the_child() -> None:
    pids = []

    async def main() -> None:
        sealing = AsyncFilter([*FAKE, "late=60"])
        await sealing.submit(message())
        while sealing.pid is None:
            await asyncio.sleep(0.01)
        pids.append(sealing.pid)

    run(main())
    deadline = time.monotonic() + 5
    while pathlib.Path(f"/proc/{pids[0]}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    stat = pathlib.Path(f"/proc/{pids[0]}/stat")
    assert not stat.exists() or stat.read_text().split()[2] == "Z"


# Order, room, sources


def test_the_window_holds_back() -> None:
    taken = 0

    async def counted() -> AsyncIterator[Message]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield message(number)

    async def main() -> None:
        async with AsyncFilter(FAKE, window=10) as sealing:
            check(message(), await sealing.seal(message()))
            assert sealing.pid is not None
            os.kill(sealing.pid, signal.SIGSTOP)
            submitting = [asyncio.ensure_future(sealing.submit(message(number))) for number in range(20)]
            await asyncio.sleep(0.2)
            assert sum(task.done() for task in submitting) == 10
            os.kill(sealing.pid, signal.SIGCONT)
            for number, task in enumerate(submitting):
                check(message(number), await (await task))
            os.kill(sealing.pid, signal.SIGSTOP)
            results = sealing.seal_all(counted())
            reading = asyncio.ensure_future(anext(results))
            await asyncio.sleep(0.2)
            assert taken <= 12
            os.kill(sealing.pid, signal.SIGCONT)
            check(*await reading)
            async for given, answer in results:
                check(given, answer)

    run(main())
    assert taken == 100


def test_an_answer_does_not_wait_for_the_next_message() -> None:
    asked = asyncio.Event()

    async def queue() -> AsyncIterator[Message]:
        yield Message(to="phone1", payload={"value": float("nan")}, passed={"token": "a"})
        yield Message(to="phone1", payload={}, passed={"ttl": 1})
        yield Message(to="phone1", payload=1_500_000_000, passed={"token": "b"})  # type: ignore[arg-type]
        yield message()
        await asked.wait()
        yield message(1)

    async def main() -> None:
        async with AsyncFilter(FAKE) as sealing:
            results = sealing.seal_all(queue())
            for code in ("malformed-payload", "invalid-request", "invalid-request"):
                given, answer = await anext(results)
                assert answer.error is not None and answer.error.code == code and answer.members == given.passed
            check(*await anext(results))
            asked.set()
            check(*await anext(results))
            with pytest.raises(StopAsyncIteration):
                await anext(results)

    run(main())


def test_a_source_that_fails() -> None:
    async def source() -> AsyncIterator[Message]:
        yield message()
        raise OSError("the queue is away")

    async def main() -> None:
        async with AsyncFilter(FAKE) as sealing:
            results = sealing.seal_all(source())
            check(*await anext(results))
            with pytest.raises(OSError, match="away"):
                await anext(results)
            with pytest.raises(TypeError):
                async for _ in sealing.seal_all([message(), "a"]):  # type: ignore[list-item]
                    pass
            # One that is given up holds no place.
            async for _ in sealing.seal_all(message(number) for number in range(3000)):
                break
            check(message(), await sealing.seal(message()))

    run(main())


def test_threads() -> None:
    answered = []
    with Filter(FAKE, window=20) as sealing:

        def work(part: int) -> None:
            for given, answer in sealing.seal_all(message(number) for number in range(part, 200, 4)):
                check(given, answer)
                answered.append(given.passed["token"])
                if len(answered) == 50 and sealing.pid is not None:
                    os.kill(sealing.pid, signal.SIGKILL)

        workers = [threading.Thread(target=work, args=(part,)) for part in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(30)
        results = list(sealing.seal_all([Message(to="phone1", payload={}, passed={"ttl": 1}), message()]))
        assert results[0][1].error is not None and results[0][1].error.code == "invalid-request"
        check(*results[1])
        with pytest.raises(TypeError):
            sealing.submit("a")  # type: ignore[arg-type]
    assert sorted(answered) == list(range(200))


def test_a_done_callback_does_not_wait_for_itself() -> None:
    errors: list[BaseException] = []

    def call(work: Any) -> None:
        try:
            work()
        except FilterError as error:
            errors.append(error)

    with Filter(FAKE, window=1) as sealing:
        for work in (lambda: sealing.submit(message()), sealing.close):
            for number in range(2):
                sealing.submit(message(number)).add_done_callback(lambda _, work=work: call(work))  # type: ignore[misc]
        check(message(), sealing.seal(message()))
    assert errors


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_gets_an_error_and_holds_nothing() -> None:
    with Filter(FAKE, window=1) as sealing:
        check(message(), sealing.seal(message()))
        process = os.fork()
        if process == 0:
            try:
                sealing.submit(message())
            except FilterError:
                sealing.close()
                time.sleep(30)
            os._exit(1)
        time.sleep(0.2)
    assert os.waitpid(process, os.WNOHANG) == (0, 0)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


# Types


@pytest.mark.parametrize("kind", [AsyncFilter, Filter])
@pytest.mark.parametrize("command, named", [
    ("pushcrypt seal --batch", {}), (b"--batch", {}), (7, {}), ([b"pushcrypt", "--batch"], {}), (FAKE, {"window": "1"}), (FAKE, {"window": True}),
    (FAKE, {"window": 1.5}), (FAKE, {"answer_timeout": "30"}), (FAKE, {"answer_timeout": None}),
], ids=label)
def test_filters_of_another_type(kind: Any, command: Any, named: dict[str, Any]) -> None:
    before = set(threading.enumerate())
    with pytest.raises(TypeError):
        kind(command, **named)
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("kind", [AsyncFilter, Filter])
@pytest.mark.parametrize("command, named", [
    ([], {}), (["--batch"], {}), ([sys.executable, "seal"], {}), (FAKE, {"window": 0}), (FAKE, {"window": -1}), (FAKE, {"answer_timeout": 0}),
    (FAKE, {"answer_timeout": float("inf")}), (FAKE, {"answer_timeout": float("nan")}),
], ids=label)
def test_filters_that_cannot_work(kind: Any, command: Any, named: dict[str, Any]) -> None:
    before = set(threading.enumerate())
    with pytest.raises(ValueError):
        kind(command, **named)
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("error, wrong", [
    (ValueError, {"payload": {}, "passed": {"to_user": "alice"}}), (ValueError, {"payload": {}, "passed": {"collapse_id": "a"}}),
    (PushcryptError, {"payload": b'{}},"to":"x"'}), (PushcryptError, {"payload": {"a": b""}}), (PushcryptError, {"payload": "[]"}),
    (PushcryptError, {"payload": "{}", "to": "\ud800"}), (PushcryptError, {"payload": "{}", "passed": {"token": float("nan")}}),
    (PushcryptError, {"payload": "{}", "passed": {"token": b""}}), (PushcryptError, {"payload": "{}", "passed": {7: 1}}),
    (TypeError, {"payload": 1_500_000_000}), (TypeError, {"payload": None}), (TypeError, {"payload": [1]}), (PushcryptError, {"payload": "{}", "to": object()}),
    (PushcryptError, {"payload": "[" * 10_000_000}),
], ids=label)
def test_what_breaks_the_line(error: Any, wrong: dict[str, Any]) -> None:
    async def main() -> None:
        sealing = AsyncFilter(FAKE)
        with pytest.raises(error):
            await sealing.seal(Message(**{"to": "phone1"} | wrong))
        with pytest.raises(TypeError):
            await sealing.seal(wrong)  # type: ignore[arg-type]
        assert sealing.pid is None

    run(main())


def test_every_option_is_in_the_line() -> None:
    options: dict[str, Any] = {
        "topic": "a", "ttl": "2h", "placeholder": {"title": "b"}, "push_type": "alert", "withdraw": ["c"], "drop": True, "collapse_id": "d",
        "priority": 5,
    }

    async def main() -> None:
        async with AsyncFilter(FAKE) as sealing:
            answer = await sealing.seal(Message(to=None, payload=' {"aps" : {}} ', person=Person(name="Anna"), **options))
            assert answer.members == {**options, "to": None, "from_name": {"name": "Anna"}}
            assert answer.payload == {"was": {"aps": {}}}
        with pytest.raises(TypeError):
            Message(to="phone1", payload={}, tll=60)  # type: ignore[call-arg]

    run(main())


def test_a_future_of_a_thread_is_not_cancelled() -> None:
    with Filter([*FAKE, "late=0.1"]) as sealing:
        future = sealing.submit(message())
        assert not future.cancel() and isinstance(future, concurrent.futures.Future)
        check(message(), future.result())
