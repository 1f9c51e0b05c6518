"""A client of the long-lived filter `pushcrypt seal --batch`, as a child process: `Docs/ProviderPipelines.md`.

    async with AsyncFilter(["pushcrypt", "--store", "P", "seal", "--batch"]) as sealing:
        answer = await sealing.seal(Message(to="phone1", payload={"aps": {"alert": "Hello"}}, id="table-17"))

Nothing is lost: a message is answered, or its caller gets an exception. If the child dies, or answers nothing for 30 seconds, another
gets what was not answered, after a pause; give each message an `id`, so that a phone shows it once whatever happens. If five children
in a row answer nothing, or one cannot be started, `FilterError` is the answer of all that waits, and the next message has another child
started, 5 seconds later. Only a child that ends with 64, which the command never accepts, ends the filter.
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
import shutil
import threading
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from ._errors import Code, PushcryptError
from ._format import (
    FILTER_ANSWER_TIMEOUT,
    FILTER_FIRST_PAUSE,
    FILTER_LAST_WORDS,
    FILTER_LONGEST_ANSWER,
    FILTER_LONGEST_PAUSE,
    FILTER_MISUSE,
    FILTER_MOST_ENDS,
    FILTER_WINDOW,
    RETRYABLE,
)
from ._json import minify, parse_object, write_object
from ._types import check_type, checked_tuple, utf8
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
WRITTEN_AT_ONCE = 64
ANSWER_TIMEOUT = FILTER_ANSWER_TIMEOUT / 1000
#: Seconds before the next child: twice as long after each end in a row.
FIRST_PAUSE, LONGEST_PAUSE = FILTER_FIRST_PAUSE / 1000, FILTER_LONGEST_PAUSE / 1000
#: Seconds for the child's last words: a process that it started may hold its output open.
LAST_WORDS = FILTER_LAST_WORDS / 1000

log = logging.getLogger("pushcrypt.filter")


@dataclass(frozen=True, kw_only=True)
class Message:
    """A line of `seal --batch`. What is `None` is as the command's options say."""

    #: A device's id in the store, its public key, or `None` for a device without a key.
    to: DevicePublicKey | str | None
    #: The APNs payload. One given as bytes or text is kept but for white space.
    payload: bytes | str | dict[str, Any]
    #: The message's name, the same in every retry.
    id: str | None = None
    #: The app's bundle id.
    topic: str | None = None
    #: Seconds, or text such as "2h".
    ttl: int | str | None = None
    #: A title, or an object with title, sound and clear.
    placeholder: str | dict[str, Any] | None = None
    #: What the push will be sent as.
    push_type: PushType | None = None
    #: The ids of earlier messages that it takes off the screen.
    withdraw: Sequence[str] | None = None
    #: Whether nothing is to be shown.
    drop: bool | None = None
    #: Whom the notification is from: the member `from_name`.
    person: str | Person | None = None
    #: With --emit request: pushes of this name replace each other.
    collapse_id: str | None = None
    #: With --emit request: 10, 5 or 1.
    priority: int | None = None
    #: What comes back with the answer, such as the token.
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
            given = utf8(self.payload, "the payload, unless it is a dict,")
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
    """Why a message is refused."""

    #: For programs; `pushcrypt explain CODE` has the cause and the fix. Most are a `Code` of this package.
    code: str
    #: For people.
    text: str

    @property
    def retryable(self) -> bool:
        """Whether the same message may be sealed later: a signer, the store or the disk failed."""
        return self.code in RETRYABLE


@dataclass(frozen=True)
class Answer:
    """The command's answer: either `payload` or `error`."""

    #: What to send, as JSON of any form.
    payload: dict[str, Any] | None
    #: Why nothing is to be sent.
    error: Refusal | None
    #: All other members: those of the message, and with --emit request the headers.
    members: dict[str, Any]


class FilterError(Exception):
    """The command does not answer, or the filter is closed.

    It is not known whether the message was sealed: submit it again with its `id`, and a phone shows it once.
    """

    #: The reason, for programs.
    code = Code.FILTER_ENDED

    def __init__(self, text: str, retryable: bool = True) -> None:
        super().__init__(text)
        #: Whether this filter may answer later. Otherwise it is closed, or its command is one that pushcrypt does not accept.
        self.retryable = retryable


AnyFuture = Union["asyncio.Future[Answer]", "concurrent.futures.Future[Answer]"]
#: What is wrong with a message alone.
REFUSED = (PushcryptError, ValueError, TypeError)
CLOSED = "the filter is closed, or belongs to another process or event loop"


class _Child(asyncio.SubprocessProtocol):
    """One child process, of an engine that writes to it and gets its answers."""

    def __init__(self, engine: _Engine) -> None:
        self.engine, self.loop = engine, asyncio.get_running_loop()
        self.ended: asyncio.Future[tuple[int | None, str]] = self.loop.create_future()
        self.gone: asyncio.Future[None] = self.loop.create_future()
        self.said: collections.deque[str] = collections.deque(maxlen=10)
        self.rests = {1: b"", 2: b""}
        self.is_full, self.open = False, {0, 1, 2}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self.transport = transport

    @property
    def input(self) -> asyncio.WriteTransport:
        pipe = self.transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        return pipe

    def pause_writing(self) -> None:
        self.is_full = True

    def resume_writing(self) -> None:
        self.is_full = False
        self.engine.write()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        *lines, self.rests[fd] = (self.rests[fd] + data).split(b"\n")
        if fd == 2:
            for line in lines:
                self.said.append(line.decode(errors="replace").strip())
                log.info("%s", self.said[-1])
            self.rests[fd] = self.rests[fd][-FILTER_LONGEST_ANSWER:]
        elif not all(map(self.engine.answered, lines)) or len(self.rests[fd]) > FILTER_LONGEST_ANSWER:
            self.end("answers what belongs to no message; the command has to be pushcrypt seal --batch")

    def pipe_connection_lost(self, fd: int, _: Exception | None) -> None:
        self.open.discard(fd)
        if fd == 1:
            self.loop.call_later(LAST_WORDS, self.end)
        self.process_exited(False)

    def process_exited(self, is_new: bool = True) -> None:
        if self.transport.get_returncode() is not None:
            if not self.open & {1, 2}:
                self.end()
            elif is_new:
                self.loop.call_later(LAST_WORDS, self.end)

    def connection_lost(self, _: Exception | None) -> None:
        self.gone.set_result(None)

    def end(self, reason: str | None = None) -> None:
        """Kills it, unless it has ended. Half a line at its end is no answer."""
        if not self.ended.done():
            code = self.transport.get_returncode() if reason is None else None
            self.ended.set_result((code, reason or f"ended with {code}: {' '.join(self.said)}"))
            self.transport.close()


class _Engine:
    """Children of one event loop, one after the other, and the messages that wait. Its owner limits their number."""

    def __init__(self, command: Sequence[str], answer_timeout: float, release: Callable[[], object]) -> None:
        self.command, self.answer_timeout, self.release = command, answer_timeout, release
        self.numbers = itertools.count()
        # What waits for its answer, in order, and which of that is not yet written to the present child.
        self.waiting: dict[int, tuple[bytes, AnyFuture]] = {}
        self.unwritten: collections.deque[int] = collections.deque()
        self.wakes = asyncio.Event()
        self.is_closing = self.is_over = self.will_write = False
        #: Ends in a row without an answer, and how often all that waited got an error.
        self.ends, self.failures = 0, 0
        self.error: FilterError | None = None
        self.child: _Child | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.task: asyncio.Task[None] | None = None
        self.last_answer = 0.0

    def start(self) -> None:
        if self.task is None:
            self.loop = asyncio.get_running_loop()
            self.task = self.loop.create_task(self.run())
        elif self.loop is not asyncio.get_running_loop():
            raise FilterError(CLOSED, False)

    def check(self, failures: int) -> None:
        """Refuses a message after the end, or if what waited got an error since."""
        if self.is_closing or self.is_over or self.failures != failures:
            raise self.error if self.error is not None and not self.is_closing else FilterError(CLOSED, False)

    def add(self, line: bytes, answer: AnyFuture) -> None:
        self.start()
        assert self.loop is not None
        if not self.waiting:
            self.last_answer = self.loop.time()
        number = next(self.numbers)
        self.waiting[number] = (line + b',"%s":%d}\n' % (NUMBER.encode(), number), answer)
        self.unwritten.append(number)
        # All messages of one turn of the loop are written at once.
        if not self.will_write:
            self.will_write = True
            self.loop.call_soon(self.write)

    def write(self) -> None:
        """Writes what waits; a full pipe stops it."""
        self.will_write = False
        self.wakes.set()
        child = self.child
        if child is None or child.ended.done() or 0 not in child.open:
            return
        while self.unwritten and not child.is_full:
            numbers = [self.unwritten.popleft() for _ in range(min(WRITTEN_AT_ONCE, len(self.unwritten)))]
            child.input.write(b"".join(self.waiting[number][0] for number in numbers))
        if self.is_closing and not self.unwritten:
            child.input.close()

    def answered(self, line: bytes) -> bool:
        """Hands out an answer. Returns false if it belongs to no message."""
        try:
            members = json.loads(line)
            number, error, payload = members.pop(NUMBER), members.pop("error", None), members.pop("payload", None)
            refusal = None if error is None else Refusal(error["code"], error["message"])
            is_good = isinstance(payload, dict) if refusal is None else type(refusal.code) is type(refusal.text) is str
            # True and 0.0 are equal to numbers of messages.
            if type(number) is not int or not is_good:
                return False
            _, answer = self.waiting.pop(number)
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            return False
        self.ends, self.last_answer = 0, self.loop.time() if self.loop else 0.0
        self.release()
        if not answer.done():
            answer.set_result(Answer(payload, refusal, members))
        return True

    async def run(self) -> None:
        """One child after the other."""
        try:
            while True:
                code, reason = await self.run_child()
                if self.is_closing and not self.waiting:
                    break
                await self.count_end(code, f"{self.command[0]} {reason}")
                while not (self.waiting or self.is_closing or self.is_over):
                    self.wakes.clear()
                    await self.wakes.wait()
                if self.is_over or not self.waiting:
                    break
        finally:
            if not self.is_over:
                self.is_over = True
                self.fail(FilterError("the filter ended before it answered", False))

    async def run_child(self) -> tuple[int | None, str]:
        """Runs a child to its end. Returns its exit code and how it ended, with its last words."""
        assert self.loop is not None
        try:
            _, child = await self.loop.subprocess_exec(lambda: _Child(self), *self.command)
        except OSError as error:
            # It does not help to try again soon.
            self.ends = FILTER_MOST_ENDS
            return None, f"cannot be started: {error}"
        self.child, self.last_answer = child, self.loop.time()
        watching = self.loop.create_task(self.watch(child))
        try:
            # Everything that no child has answered, in order.
            self.unwritten = collections.deque(self.waiting)
            self.write()
            return await asyncio.shield(child.ended)
        finally:
            self.child = None
            watching.cancel()
            child.end("is not needed")
            await asyncio.wait([child.gone], timeout=LAST_WORDS)

    async def watch(self, child: _Child) -> None:
        """Ends a child that answers nothing: it stands still, or waits for something that does not come."""
        assert self.loop is not None
        while True:
            rest = self.answer_timeout - (self.loop.time() - self.last_answer if self.waiting else 0)
            if rest <= 0:
                child.end(f"answered nothing for {self.answer_timeout:g} seconds")
                return
            await asyncio.sleep(rest)

    async def count_end(self, code: int | None, reason: str) -> None:
        """Counts an end for which something waits, and pauses."""
        self.ends += 1 if self.waiting else 0
        self.is_over = code == FILTER_MISUSE
        pause = min(FIRST_PAUSE * 2**self.ends, LONGEST_PAUSE)
        if self.is_over or self.ends >= FILTER_MOST_ENDS:
            self.fail(FilterError(reason, not self.is_over))
            pause = LONGEST_PAUSE
        if self.is_over:
            return
        log.warning("%s; %d messages wait", reason, len(self.waiting))
        # Closing needs no other child, unless something waits.
        end = asyncio.get_running_loop().time() + pause
        while (rest := end - asyncio.get_running_loop().time()) > 0 and (self.waiting or not self.is_closing):
            self.wakes.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.wakes.wait(), rest)

    def fail(self, error: FilterError) -> None:
        self.error = self.error if self.is_closing and self.error else error
        self.failures += 1
        waiting, self.waiting = self.waiting, {}
        self.unwritten.clear()
        for _, answer in waiting.values():
            self.release()
            if not answer.done():
                answer.set_exception(error)
                # Not everyone who submitted may still be there.
                answer.exception()

    async def close(self, timeout: float | None) -> None:
        """Waits for the last answer. If the caller is cancelled, the answers still come."""
        self.is_closing = True
        if self.task is not None:
            self.start()
            self.write()
            await asyncio.wait([self.task], timeout=timeout)
            if not self.task.done():
                self.task.cancel()
                await asyncio.wait([self.task])

    def after_fork(self) -> None:
        """In a forked process, which must not hold the child's input open."""
        if self.child is not None and 0 in self.child.open:
            self.child.input.get_extra_info("pipe").close()


#: All engines of the process.
ENGINES: weakref.WeakSet[_Engine] = weakref.WeakSet()


def after_fork() -> None:
    for engine in list(ENGINES):
        engine.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)


def new_engine(command: Sequence[str], window: int, answer_timeout: float, release: Callable[[], object]) -> _Engine:
    """Checks what a filter is made from."""
    words = checked_tuple(command, str, "the command")
    check_type(window, int, "the window")
    check_type(answer_timeout, (int, float), "answer_timeout")
    if "--batch" not in words[1:]:
        raise ValueError("the command is a program and its arguments, with --batch")
    if window < 1 or not 0 < answer_timeout < float("inf"):
        raise ValueError("the window is at least 1, and answer_timeout more than 0 seconds")
    if shutil.which(words[0]) is None:
        raise FileNotFoundError(f"there is no program {words[0]} to run; give its path, or set PATH")
    engine = _Engine(words, answer_timeout, release)
    ENGINES.add(engine)
    return engine


class AsyncFilter:
    """The filter for asyncio. One may serve all tasks of a loop."""

    def __init__(
        self, command: Sequence[str], *, window: int = FILTER_WINDOW, answer_timeout: float = ANSWER_TIMEOUT
    ) -> None:
        """Starts nothing yet.

        Args:
            command: `pushcrypt … seal --batch …`, as a program and its arguments, without input and output files.
            window: How many messages are under way; then `seal` waits.
            answer_timeout: Seconds. A child for which messages wait, and that answers none for so long, is killed, and another gets them.

        Raises:
            FileNotFoundError: If there is no such program.
        """
        self._slots = asyncio.Semaphore(window)
        self._engine = new_engine(command, window, answer_timeout, self._slots.release)
        self._window = window

    async def __aenter__(self) -> AsyncFilter:
        self._engine.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def window(self) -> int:
        """How many messages may be under way."""
        return self._window

    @property
    def pid(self) -> int | None:
        """The child's process id; `None` while there is no child."""
        return None if self._engine.child is None else self._engine.child.transport.get_pid()

    async def seal(self, message: Message) -> Answer:
        """Seals one message; returns its answer.

        Raises:
            PushcryptError: If the message cannot be a line; what the command refuses is an answer.
            FilterError: If the command does not answer.
        """
        return await (await self.submit(message))

    async def submit(self, message: Message) -> asyncio.Future[Answer]:
        """Waits for room, and returns the future of the answer, so that many messages can be under way."""
        check_type(message, Message, "the message")
        return await self._submit(message._line())

    async def _submit(self, line: bytes) -> asyncio.Future[Answer]:
        engine = self._engine
        engine.start()
        failures = engine.failures if self._slots.locked() else None
        await self._slots.acquire()
        try:
            engine.check(engine.failures if failures is None else failures)
            answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            engine.add(line, answer)
        except BaseException:
            self._slots.release()
            raise
        return answer

    async def seal_all(self, messages: Iterable[Message] | AsyncIterable[Message]) -> AsyncIterator[tuple[Message, Answer]]:
        """Seals many messages; yields each with its answer, in order, and reads no more than the window ahead.

        An answer is yielded when it is there, also while an asynchronous source waits for its next message. A message
        that is refused here has an answer with `error` as one that the command refuses.
        """
        under_way: asyncio.Queue[tuple[Message, asyncio.Future[Answer]] | None] = asyncio.Queue(self._window)

        async def take() -> None:
            try:
                async for message in each(messages):
                    check_type(message, Message, "a message")
                    try:
                        answer = await self._submit(message._line())
                    except REFUSED as error:
                        answer = asyncio.get_running_loop().create_future()
                        answer.set_result(refused(message, error))
                    await under_way.put((message, answer))
            finally:
                await under_way.put(None)

        taking = asyncio.get_running_loop().create_task(take())
        try:
            while pair := await under_way.get():
                yield pair[0], await pair[1]
            await taking
        finally:
            taking.cancel()
            while not under_way.empty():
                if pair := under_way.get_nowait():
                    pair[1].cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await taking

    async def aclose(self, timeout: float | None = None) -> None:
        """Waits until everything submitted is answered, and ends the child.

        Args:
            timeout: Seconds, after which the child is killed, and what waits gets a `FilterError`; by default none.
        """
        await self._engine.close(timeout)


class Filter:
    """The filter for programs without asyncio. One may serve all threads of a process; a forked process needs its own."""

    def __init__(
        self, command: Sequence[str], *, window: int = FILTER_WINDOW, answer_timeout: float = ANSWER_TIMEOUT
    ) -> None:
        """As `AsyncFilter`."""
        self._engine = new_engine(command, window, answer_timeout, lambda: self._slots.release())
        self._window, self._slots = window, threading.Semaphore(window)
        self._process, self._lock, self._closed = os.getpid(), threading.Lock(), False
        # What the loop's thread has not taken yet.
        self._given: collections.deque[tuple[bytes, concurrent.futures.Future[Answer]]] = collections.deque()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pushcrypt filter", daemon=True)
        self._thread.start()

    def __enter__(self) -> Filter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def window(self) -> int:
        """How many messages may be under way."""
        return self._window

    @property
    def pid(self) -> int | None:
        """The child's process id; `None` while there is no child."""
        return None if self._engine.child is None else self._engine.child.transport.get_pid()

    def submit(self, message: Message) -> concurrent.futures.Future[Answer]:
        """Waits for room, and returns the future of the answer, so that many messages can be under way.

        It cannot be cancelled. Its done callbacks run in the thread that reads the answers, where nothing may wait.
        """
        check_type(message, Message, "the message")
        line, failures = message._line(), self._engine.failures
        if self._closed or self._process != os.getpid():
            raise FilterError(CLOSED, False)
        # A done callback runs in the thread that reads the answers, which must not wait for one.
        if not self._slots.acquire(blocking=threading.current_thread() is not self._thread):
            raise FilterError("a done callback cannot wait for room; submit from another thread")
        answer: concurrent.futures.Future[Answer] = concurrent.futures.Future()
        answer.set_running_or_notify_cancel()
        try:
            with self._lock:
                self._engine.check(failures)
                is_first = not self._given
                self._given.append((line, answer))
                if is_first:
                    self._loop.call_soon_threadsafe(self._take)
        except BaseException:
            self._slots.release()
            raise
        return answer

    def _take(self) -> None:
        with self._lock:
            given, self._given = self._given, collections.deque()
        for line, answer in given:
            if self._engine.is_over:
                self._slots.release()
                answer.set_exception(self._engine.error or FilterError(CLOSED, False))
            else:
                self._engine.add(line, answer)

    def seal(self, message: Message) -> Answer:
        """Seals one message, and waits for the answer: see `AsyncFilter.seal`."""
        return self.submit(message).result()

    def seal_all(self, messages: Iterable[Message]) -> Iterator[tuple[Message, Answer]]:
        """Seals many messages; yields each with its answer, in order, and reads no more than the window ahead.

        It is for a source that does not wait: answers are yielded only when `messages` gives the next one or ends. For a
        queue use `submit`, or `AsyncFilter`. A message that is refused here has an answer with `error`, as one that the
        command refuses.
        """
        under_way: collections.deque[tuple[Message, concurrent.futures.Future[Answer]]] = collections.deque()
        for message in messages:
            check_type(message, Message, "a message")
            while under_way and (len(under_way) >= self._window or under_way[0][1].done()):
                earlier, answer = under_way.popleft()
                yield earlier, answer.result()
            try:
                under_way.append((message, self.submit(message)))
            except REFUSED as error:
                answer = concurrent.futures.Future()
                answer.set_result(refused(message, error))
                under_way.append((message, answer))
        for earlier, answer in under_way:
            yield earlier, answer.result()

    def close(self, timeout: float | None = None) -> None:
        """Waits until everything submitted is answered, and ends the child. In a forked process it does nothing.

        Args:
            timeout: Seconds, after which the child is killed, and what waits gets a `FilterError`; by default none.
        """
        if self._process != os.getpid():
            return
        if threading.current_thread() is self._thread:
            raise FilterError("a done callback cannot close the filter; close it from another thread")
        with self._lock:
            was_closed, self._closed = self._closed, True
        if not was_closed:
            asyncio.run_coroutine_threadsafe(self._close(timeout), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _close(self, timeout: float | None) -> None:
        self._take()
        await self._engine.close(timeout)


def refused(message: Message, error: Exception) -> Answer:
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
