"""A client of the long-lived filter `pushcrypt seal --batch`, as a child process: `Docs/ProviderPipelines.md`.

    async with AsyncFilter(["pushcrypt", "--store", "P", "seal", "--batch"]) as sealing:
        answer = await sealing.seal(Message(to="phone1", payload={"aps": {"alert": "Hello"}}, id="table-17"))

Nothing is lost: a message is answered, or its caller gets an exception. If the child dies, another gets what was not
answered, after a pause; give each message an `id`, so that a phone shows it once whatever happens. If five children in a
row answer nothing, or cannot be started, `FilterError` is the answer of all that waits, and the next message has another
child started, 5 seconds later. Only a child that ends with 64, which the command never accepts, ends the filter.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import itertools
import json
import logging
import os
import threading
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._errors import Code, PushcryptError
from ._json import minify, parse_object, write_object
from .keys import DevicePublicKey
from .messages import Person
from .sealing import PushType

__all__ = ["Answer", "AsyncFilter", "Filter", "FilterError", "Message", "Refusal"]

#: The member by which answers are matched.
NUMBER = "pushcrypt-number"
#: Members of a line, by the names that Python allows.
NAMES = {"person": "from_name"}
OPTIONS = ("id", "topic", "ttl", "placeholder", "push_type", "withdraw", "drop", "person", "collapse_id", "priority")
OWN = {"to", "to_user", "payload", NUMBER, *(NAMES.get(name, name) for name in OPTIONS)}
LONGEST_ANSWER = 1 << 22
WRITTEN_AT_ONCE = 64
#: Ends in a row without an answer after which what waits gets an error.
MOST_ENDS = 5
#: Seconds before the next child: twice as long after each end in a row.
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
#: Seconds for the child's last words: a process that it started may hold its standard error open.
LAST_WORDS = 1.0
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
    #: Whom the notification is from: the member `from_name`.
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
            payload = write_object(self.payload)
        else:
            given = self.payload.encode("utf-8", "surrogatepass") if isinstance(self.payload, str) else bytes(self.payload)
            # Checked, so that nothing in it can end the member.
            parse_object(given, Code.MALFORMED_PAYLOAD)
            payload = minify(given)
        try:
            members = write_object(line, 0)
        except PushcryptError:
            raise PushcryptError(Code.INVALID_REQUEST, "a member beside the payload has a value that JSON cannot express") from None
        return members[:-1] + b',"payload":' + payload


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
    """The command does not answer, or the filter is closed. The message can be submitted again, with its `id`."""


#: What is wrong with a message alone.
REFUSED = (PushcryptError, ValueError)
CLOSED = "the filter is closed, or was made before a fork"


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
        #: Ends in a row without an answer, and how often all that waited got an error.
        self._ends, self._failures = 0, 0
        self._error: FilterError | None = None
        self._is_over = False
        self._closing = asyncio.Event()
        FILTERS.add(self)

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
        return self._give(await self._room(message._line()))

    async def _room(self, line: bytes) -> bytes:
        """Waits for a slot. If what waits gets an error meanwhile, so does this."""
        failures = self._failures
        await self._slots.acquire()
        if self._closing.is_set() or self._is_over or self._failures != failures:
            self._slots.release()
            raise FilterError(CLOSED) if self._closing.is_set() or self._error is None else self._error
        return line

    def _give(self, line: bytes) -> asyncio.Future[Answer]:
        self._start()
        number, answer = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = (line + b',"%s":%d}\n' % (NUMBER.encode(), number), answer)
        self._unwritten.append(number)
        self._more.set()
        return answer

    async def seal_all(
        self, messages: Iterable[Message] | AsyncIterable[Message]
    ) -> AsyncIterator[tuple[Message, Answer]]:
        """Seals many messages; yields each with its answer, in order, and reads no more than the window ahead.

        An answer is yielded when it is there, also while an asynchronous source waits for its next message. A message
        that is refused here has an answer with `error` as one that the command refuses.
        """
        source, taking = each(messages), None
        under_way: collections.deque[tuple[Message, asyncio.Future[Answer]]] = collections.deque()
        is_over, failure = False, None
        try:
            while True:
                if taking is None and not is_over and len(under_way) < self.window:
                    taking = asyncio.ensure_future(self._take(source))
                head = under_way[0][1] if under_way else None
                if head is None and taking is None:
                    break
                if not (head is not None and head.done()):
                    await asyncio.wait([one for one in (head, taking) if one is not None], return_when=asyncio.FIRST_COMPLETED)
                if taking is not None and taking.done():
                    taken, taking = taking, None
                    try:
                        under_way.append(taken.result())
                    except StopAsyncIteration:
                        is_over = True
                    except Exception as error:
                        is_over, failure = True, error
                if under_way and under_way[0][1].done():
                    before, answer = under_way.popleft()
                    yield before, await answer
            if failure is not None:
                raise failure
        finally:
            if taking is not None:
                taking.add_done_callback(lambda task: task.cancelled() or task.exception())
                taking.cancel()
            for _, answer in under_way:
                answer.cancel()

    async def _take(self, source: AsyncIterator[Message]) -> tuple[Message, asyncio.Future[Answer]]:
        """Submits the next message."""
        message = await source.__anext__()
        try:
            line = message._line()
        except REFUSED as error:
            answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            answer.set_result(refused(message, error))
            return message, answer
        return message, self._give(await self._room(line))

    async def aclose(self) -> None:
        """Waits until everything submitted is answered, and ends the child."""
        self._closing.set()
        self._more.set()
        if self._task is not None:
            await self._task

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        """One child after the other."""
        try:
            while True:
                code, reason = await self._run_child()
                if self._closing.is_set() and not self._waiting:
                    break
                await self._ended(code, f"{self._command[0]} {reason}")
                while not self._waiting and not self._closing.is_set() and not self._is_over:
                    self._more.clear()
                    await self._more.wait()
                if self._is_over or not self._waiting:
                    break
        except BaseException:
            self._is_over = True
            self._fail(FilterError("the filter was cancelled"))
            raise

    async def _ended(self, code: int | None, reason: str) -> None:
        """Counts an end for which something waits, and pauses."""
        self._ends += 1 if self._waiting else 0
        self._is_over = code == MISUSE
        pause = min(FIRST_PAUSE * 2**self._ends, LONGEST_PAUSE)
        if self._is_over or self._ends >= MOST_ENDS:
            self._fail(FilterError(reason))
            pause = LONGEST_PAUSE
        if self._is_over:
            return
        log.warning("%s; %d messages wait", reason, len(self._waiting))
        if self._waiting:
            await asyncio.sleep(pause)
        else:
            # Closing needs no other child.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._closing.wait(), pause)

    def _fail(self, error: FilterError) -> None:
        self._error = error
        self._failures += 1
        waiting, self._waiting = self._waiting, {}
        for _, answer in waiting.values():
            self._slots.release()
            if not answer.done():
                answer.set_exception(error)
                # Not everyone who submitted may still be there.
                answer.exception()

    async def _run_child(self) -> tuple[int | None, str]:
        """Runs a child to its end. Returns its exit code and how it ended, with its last words."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE, limit=LONGEST_ANSWER,
            )
        except OSError as error:
            return None, f"cannot be started: {error}"
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        # Everything that no child has answered, in order.
        self._unwritten = collections.deque(self._waiting)
        self._more.set()
        said: collections.deque[str] = collections.deque(maxlen=10)
        writing = asyncio.create_task(self._write(process.stdin))
        listening = asyncio.create_task(listen(process.stderr, said))
        try:
            if not await self._read(process.stdout):
                return None, "answers what belongs to no message; the command has to be pushcrypt seal --batch"
            await asyncio.wait([listening], timeout=LAST_WORDS)
            # Some versions of Python wait for the pipes too, and another process may hold the other end of this one.
            getattr(process, "_transport").get_pipe_transport(2).close()
            code = await process.wait()
            return code, f"ended with {code}: {' '.join(said)}"
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
            getattr(process, "_transport").close()

    async def _write(self, stdin: asyncio.StreamWriter) -> None:
        """Writes what waits; a full pipe stops it. A child that no longer reads is the reader's matter."""
        with contextlib.suppress(OSError):
            while True:
                while self._unwritten:
                    numbers = [self._unwritten.popleft() for _ in range(min(WRITTEN_AT_ONCE, len(self._unwritten)))]
                    stdin.write(b"".join(self._waiting[number][0] for number in numbers if number in self._waiting))
                    await stdin.drain()
                if self._closing.is_set() and not self._unwritten:
                    stdin.close()
                    return
                self._more.clear()
                await self._more.wait()

    async def _read(self, stdout: asyncio.StreamReader) -> bool:
        """Hands out answers until the child ends. Half a line at its end is none. Returns false if it answers something else."""
        while True:
            try:
                line = await stdout.readuntil(b"\n")
            except (asyncio.IncompleteReadError, OSError):
                return True
            except asyncio.LimitOverrunError:
                return False
            try:
                members = json.loads(line)
                number, error, payload = members.pop(NUMBER), members.pop("error", None), members.pop("payload", None)
                refusal = None if error is None else Refusal(error["code"], error["message"])
                is_good = isinstance(payload, dict) if refusal is None else {type(refusal.code), type(refusal.text)} == {str}
                # True and 0.0 are equal to numbers of messages.
                if type(number) is not int or not is_good:
                    return False
                answer = Answer(payload, refusal, members)
                waiting = self._waiting.pop(number, None)
            except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
                waiting = None
            if waiting is None:
                return False
            self._ends = 0
            self._slots.release()
            if not waiting[1].done():
                waiting[1].set_result(answer)

    def _after_fork(self) -> None:
        """In a forked process, which must not hold the child's input open."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.get_extra_info("pipe").close()


#: All filters of the process.
FILTERS: weakref.WeakSet[AsyncFilter] = weakref.WeakSet()


def after_fork() -> None:
    for sealing in list(FILTERS):
        sealing._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)


class Filter:
    """The filter for programs without asyncio. One may serve all threads of a process; a forked process needs its own."""

    def __init__(self, command: Sequence[str], *, window: int = 1000) -> None:
        """As `AsyncFilter`."""
        self._filter = AsyncFilter(command, window=window)
        self.window, self._slots = window, threading.Semaphore(window)
        self._process, self._lock, self._closed = os.getpid(), threading.Lock(), False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pushcrypt filter", daemon=True)
        self._thread.start()

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
        failures = self._filter._failures
        if self._closed or self._process != os.getpid():
            raise FilterError(CLOSED)
        # A done callback runs in the thread that reads the answers, which must not wait for one.
        if not self._slots.acquire(blocking=threading.current_thread() is not self._thread):
            raise FilterError("a done callback cannot wait for room; submit from another thread")
        try:
            with self._lock:
                if self._closed:
                    raise FilterError(CLOSED)
                if self._filter._failures != failures and self._filter._error is not None:
                    raise self._filter._error
                answer = asyncio.run_coroutine_threadsafe(self._filter.seal(message), self._loop)
        except BaseException:
            self._slots.release()
            raise
        answer.add_done_callback(lambda _: self._slots.release())
        return answer

    def seal(self, message: Message) -> Answer:
        """Seals one message, and waits for the answer."""
        return self.submit(message).result()

    def seal_all(self, messages: Iterable[Message]) -> Iterator[tuple[Message, Answer]]:
        """Seals many messages; yields each with its answer, in order, and reads no more than the window ahead.

        It is for a source that does not wait: answers are yielded only when `messages` gives the next one or ends. For a
        queue use `submit`, or `AsyncFilter`. A message that is refused here has an answer with `error`, as one that the
        command refuses.
        """
        under_way: collections.deque[tuple[Message, concurrent.futures.Future[Answer]]] = collections.deque()
        for message in messages:
            while under_way and (len(under_way) >= self.window or under_way[0][1].done()):
                yield result(*under_way.popleft())
            under_way.append((message, self.submit(message)))
        while under_way:
            yield result(*under_way.popleft())

    def close(self) -> None:
        """Waits until everything submitted is answered, and ends the child. In a forked process it does nothing."""
        if self._process != os.getpid():
            return
        if threading.current_thread() is self._thread:
            raise FilterError("a done callback cannot close the filter; close it from another thread")
        with self._lock:
            was_closed, self._closed = self._closed, True
        if not was_closed:
            asyncio.run_coroutine_threadsafe(self._filter.aclose(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def result(message: Message, answer: concurrent.futures.Future[Answer]) -> tuple[Message, Answer]:
    try:
        return message, answer.result()
    except REFUSED as error:
        return message, refused(message, error)


def refused(message: Message, error: PushcryptError | ValueError) -> Answer:
    """The answer to a message that the command was not asked to seal."""
    code = error.code if isinstance(error, PushcryptError) else Code.INVALID_REQUEST
    return Answer(None, Refusal(str(code), str(error).removeprefix(f"{code}: ")), {**message.passed})


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
