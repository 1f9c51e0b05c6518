"""A client of the long-lived filter `pushcrypt seal --batch`, as a child process: `Docs/ProviderPipelines.md`.

    async with AsyncFilter(["pushcrypt", "--store", "P", "seal", "--batch"]) as sealing:
        answer = await sealing.seal(Message(to="phone1", payload={"aps": {"alert": "Hello"}}, id="table-17"))

Nothing is lost: a message is answered, or its caller gets an exception. If the child dies, another gets what was not
answered; give each message an `id`, so that a phone shows it once whatever happens.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import itertools
import json
import logging
import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._errors import Code
from ._json import minify, parse_object, write_object
from .keys import DevicePublicKey
from .messages import Person
from .sealing import PushType

__all__ = ["Answer", "AsyncFilter", "Filter", "FilterError", "Message", "Refusal"]

#: The member by which answers are matched.
NUMBER = "pushcrypt-number"
#: Members of a line, by the names that Python allows.
NAMES = {"push_type": "push-type", "collapse_id": "collapse-id", "person": "from"}
OPTIONS = ("id", "topic", "ttl", "placeholder", "push_type", "withdraw", "drop", "person", "collapse_id", "priority")
OWN = {"to", "to-user", "payload", NUMBER, *(NAMES.get(name, name) for name in OPTIONS)}
LONGEST_ANSWER = 1 << 22
WRITTEN_AT_ONCE = 64
FAILURES = 5
MISUSE = 64

log = logging.getLogger("pushcrypt.filter")


@dataclass(frozen=True, kw_only=True)
class Message:
    """A line of `seal --batch`. What is `None` is as the command's options say.

    `to` is a device's id in the store, its public key, or `None` for a device without a key. A payload given as bytes or
    text is kept but for white space. All of `passed` comes back with the answer: tokens, receipts.
    """

    to: DevicePublicKey | str | None
    payload: bytes | str | dict[str, Any]
    #: The message's name, the same in every retry.
    id: str | None = None
    topic: str | None = None
    #: Seconds, or text such as "2h".
    ttl: int | str | None = None
    #: A title, or an object with title, sound and clear.
    placeholder: str | dict[str, Any] | None = None
    push_type: PushType | None = None
    #: Names of earlier messages.
    withdraw: Sequence[str] | None = None
    drop: bool | None = None
    #: Whom the notification is from: the member `from`.
    person: str | Person | None = None
    collapse_id: str | None = None
    priority: int | None = None
    passed: Mapping[str, Any] = field(default_factory=dict)

    def _line(self) -> bytes:
        """The line without its last brace, so that the number can follow."""
        if taken := OWN & self.passed.keys():
            raise ValueError(f"these cannot be passed through: {', '.join(sorted(taken))}")
        to = str(self.to) if isinstance(self.to, DevicePublicKey) else self.to
        line: dict[str, Any] = {**self.passed, "to": to}
        for name in OPTIONS:
            value = getattr(self, name)
            if value is not None:
                line[NAMES.get(name, name)] = value.members() if isinstance(value, Person) else value
        if isinstance(self.payload, dict):
            return write_object({**line, "payload": self.payload}, 0)[:-1]
        payload = self.payload.encode("utf-8", "surrogatepass") if isinstance(self.payload, str) else bytes(self.payload)
        # Checked, so that nothing in it can end the member.
        parse_object(payload, Code.MALFORMED_PAYLOAD)
        return write_object(line, 0)[:-1] + b',"payload":' + minify(payload)


@dataclass(frozen=True)
class Refusal:
    """Why a message is refused. `pushcrypt explain CODE` has the cause and the fix."""

    code: str
    text: str


@dataclass(frozen=True)
class Answer:
    """The command's answer: either `payload`, what to send, or `error`."""

    payload: dict[str, Any] | None
    error: Refusal | None
    #: All other members: those of the message, and with --emit request the headers.
    members: dict[str, Any]


class FilterError(Exception):
    """The filter cannot run. What was waiting for an answer is not sealed, and can be submitted again."""


class AsyncFilter:
    """The filter for asyncio. One may serve all tasks of a loop."""

    def __init__(self, command: Sequence[str], *, window: int = 1000) -> None:
        """Starts nothing yet. At most `window` messages are under way; then `seal` waits.

        The command has to be `pushcrypt … seal --batch …` without input and output files.
        """
        if isinstance(command, str) or "--batch" not in command:
            raise ValueError("the command is a list of arguments, with --batch")
        if window < 1:
            raise ValueError("the window is at least 1")
        self._command, self.window = list(command), window
        self._slots = asyncio.Semaphore(window)
        self._numbers = itertools.count()
        # What waits for its answer, in order, and which of that is not yet written to the present child.
        self._waiting: dict[int, tuple[bytes, asyncio.Future[Answer]]] = {}
        self._unwritten: collections.deque[int] = collections.deque()
        self._more = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._error: FilterError | None = None
        self._closing = False

    async def __aenter__(self) -> AsyncFilter:
        self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def pid(self) -> int | None:
        """The child's process id; `None` while there is no child."""
        return None if self._process is None else self._process.pid

    async def seal(self, message: Message) -> Answer:
        """Seals one message; returns its answer."""
        return await (await self.submit(message))

    async def submit(self, message: Message) -> asyncio.Future[Answer]:
        """Waits for room, and returns the future of the answer, so that many messages can be under way."""
        line = message._line()
        await self._slots.acquire()
        if self._closing or self._error is not None:
            self._slots.release()
            raise self._error or FilterError("the filter is closed")
        self._start()
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = (line + b',"%s":%d}\n' % (NUMBER.encode(), number), answer)
        self._unwritten.append(number)
        self._more.set()
        return answer

    async def seal_all(
        self, messages: Iterable[Message] | AsyncIterable[Message]
    ) -> AsyncIterator[tuple[Message, Answer]]:
        """Seals many messages; yields each with its answer, in order, and reads no more than the window ahead."""
        under_way: collections.deque[tuple[Message, asyncio.Future[Answer]]] = collections.deque()
        try:
            async for message in each(messages):
                while under_way and (len(under_way) >= self.window or under_way[0][1].done()):
                    before, answer = under_way.popleft()
                    yield before, await answer
                under_way.append((message, await self.submit(message)))
            while under_way:
                before, answer = under_way.popleft()
                yield before, await answer
        finally:
            for _, answer in under_way:
                answer.cancel()

    async def aclose(self) -> None:
        """Waits until everything submitted is answered, and ends the child."""
        self._closing = True
        self._more.set()
        if self._task is not None:
            await self._task

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        """One child after the other."""
        failures = 0
        try:
            while not (self._closing and not self._waiting):
                answered, code, said = await self._run_child()
                if not self._waiting and self._closing:
                    break
                failures = 0 if answered else failures + 1
                if code == MISUSE or failures == FAILURES:
                    raise FilterError(f"{self._command[0]} ended with {code}: {said}")
                log.warning("%s ended with %s and starts again; %d messages wait", self._command[0], code, len(self._waiting))
                if failures:
                    await asyncio.sleep(min(0.1 * 2**failures, 5))
        except FilterError as error:
            self._fail(error)
        except OSError as error:
            self._fail(FilterError(f"{self._command[0]} cannot be started: {error}"))
        except BaseException:
            self._fail(FilterError("the filter was cancelled"))
            raise

    def _fail(self, error: FilterError) -> None:
        self._error = error
        waiting, self._waiting = self._waiting, {}
        for _, answer in waiting.values():
            self._slots.release()
            if not answer.done():
                answer.set_exception(error)
                # Not everyone who submitted may still be there.
                answer.exception()

    async def _run_child(self) -> tuple[bool, int, str]:
        """Runs a child to its end. Returns whether it answered anything, its exit code, and its last words."""
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_ANSWER,
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        # Everything that no child has answered, in order.
        self._unwritten = collections.deque(self._waiting)
        self._more.set()
        said: collections.deque[str] = collections.deque(maxlen=10)
        writing = asyncio.create_task(self._write(process.stdin))
        listening = asyncio.create_task(listen(process.stderr, said))
        try:
            answered = await self._read(process.stdout)
            code = await process.wait()
            await listening
        finally:
            self._process = None
            writing.cancel()
            listening.cancel()
            process.stdin.close()
            if process.returncode is None:
                process.kill()
                await process.wait()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await writing
            # A broken pipe is the reader's matter.
            with contextlib.suppress(OSError):
                await process.stdin.wait_closed()
        return answered, code, " ".join(said)

    async def _write(self, stdin: asyncio.StreamWriter) -> None:
        """Writes what waits; a full pipe stops it. A child that no longer reads is the reader's matter."""
        with contextlib.suppress(OSError):
            while True:
                while self._unwritten:
                    numbers = [self._unwritten.popleft() for _ in range(min(WRITTEN_AT_ONCE, len(self._unwritten)))]
                    stdin.write(b"".join(self._waiting[number][0] for number in numbers if number in self._waiting))
                    await stdin.drain()
                if self._closing and not self._unwritten:
                    stdin.close()
                    return
                self._more.clear()
                await self._more.wait()

    async def _read(self, stdout: asyncio.StreamReader) -> bool:
        """Hands out answers until the child ends. Half a line at its end is none."""
        answered = False
        while True:
            try:
                line = await stdout.readuntil(b"\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                return answered
            try:
                members = json.loads(line)
                number, error, payload = members.pop(NUMBER), members.pop("error", None), members.pop("payload", None)
                answer = Answer(payload, None if error is None else Refusal(error["code"], error["message"]), members)
                waiting = self._waiting.pop(number, None)
            except (ValueError, AttributeError, KeyError, TypeError):
                waiting = None
            if waiting is None:
                raise FilterError("an answer belongs to no message; the command has to be pushcrypt seal --batch")
            answered = True
            self._slots.release()
            if not waiting[1].done():
                waiting[1].set_result(answer)


class Filter:
    """The filter for programs without asyncio. One may serve all threads."""

    def __init__(self, command: Sequence[str], *, window: int = 1000) -> None:
        """As `AsyncFilter`."""
        self._filter = AsyncFilter(command, window=window)
        self.window, self._slots = window, threading.Semaphore(window)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pushcrypt filter", daemon=True)
        self._thread.start()

    def _call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def __enter__(self) -> Filter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The child's process id; `None` while there is no child."""
        return self._filter.pid

    def submit(self, message: Message) -> concurrent.futures.Future[Answer]:
        """Waits for room, and returns the future of the answer, so that many messages can be under way."""
        self._slots.acquire()
        answer = asyncio.run_coroutine_threadsafe(self._filter.seal(message), self._loop)
        answer.add_done_callback(lambda _: self._slots.release())
        return answer

    def seal(self, message: Message) -> Answer:
        """Seals one message, and waits for the answer."""
        return self.submit(message).result()

    def seal_all(self, messages: Iterable[Message]) -> Iterator[tuple[Message, Answer]]:
        """Seals many messages; yields each with its answer, in order, and reads no more than the window ahead."""
        under_way: collections.deque[tuple[Message, concurrent.futures.Future[Answer]]] = collections.deque()
        for message in messages:
            if len(under_way) >= self.window:
                before, answer = under_way.popleft()
                yield before, answer.result()
            under_way.append((message, self.submit(message)))
        while under_way:
            before, answer = under_way.popleft()
            yield before, answer.result()

    def close(self) -> None:
        """Waits until everything submitted is answered, and ends the child."""
        if not self._loop.is_closed():
            self._call(self._filter.aclose())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


async def each(messages: Iterable[Message] | AsyncIterable[Message]) -> AsyncIterator[Message]:
    if isinstance(messages, AsyncIterable):
        async for message in messages:
            yield message
    else:
        for message in messages:
            yield message


async def listen(stderr: asyncio.StreamReader, said: collections.deque[str]) -> None:
    """Passes the child's messages on to the log."""
    while line := await stderr.readline():
        said.append(line.decode(errors="replace").strip())
        log.info("%s", said[-1])
