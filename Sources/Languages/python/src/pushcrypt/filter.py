"""A client of the long-lived filter `pushcrypt seal --batch`, as a child process: `Docs/ProviderPipelines.md`.

    async with AsyncFilter(["pushcrypt", "--store", "P", "seal", "--batch"]) as sealing:
        answer = await sealing.seal(Message(to="phone1", payload={"aps": {"alert": "Hello"}}, id="table-17"))

Nothing is lost: a message is answered, or its caller gets an exception. If the child dies, or answers nothing for 30 seconds, another
gets what was not answered; give each message an `id`, so that a phone shows it once. If five children in a row answer nothing, or one
cannot be started, what waits gets a `FilterError`, and the next message another child. Only exit code 64, for wrong options, is final.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence

from ._engine import CLOSED, Engine
from ._format import FILTER_ANSWER_TIMEOUT, FILTER_WINDOW
from ._lines import REFUSED, Answer, FilterError, Message, Refusal, refused
from ._types import check_type

ANSWER_TIMEOUT: float = FILTER_ANSWER_TIMEOUT / 1000

__all__ = ["Answer", "AsyncFilter", "Filter", "FilterError", "Message", "Refusal"]


class _Filter:
    """What both filters have."""

    _engine: Engine

    @property
    def window(self) -> int:
        """How many messages may be under way."""
        return self._engine.window

    @property
    def pid(self) -> int | None:
        """The child's process id; `None` while there is no child."""
        return None if self._engine.child is None else self._engine.child.transport.get_pid()


class AsyncFilter(_Filter):
    """The filter for asyncio. One may serve all tasks of a loop."""

    def __init__(self, command: Sequence[str], *, window: int = FILTER_WINDOW, answer_timeout: float = ANSWER_TIMEOUT) -> None:
        """Starts nothing yet; raises `FileNotFoundError` if there is no such program.

        Args:
            command: `pushcrypt … seal --batch …`, as a program and its arguments, without input and output files.
            window: How many messages are under way; then `seal` waits.
            answer_timeout: Seconds. A child for which messages wait, and that answers none for so long, is killed, and another gets them.
        """
        self._engine = Engine(command, window, answer_timeout, self._wake)
        #: Who waits for room.
        self._waiters: collections.deque[asyncio.Future[None]] = collections.deque()

    async def __aenter__(self) -> AsyncFilter:
        self._engine.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def seal(self, message: Message) -> Answer:
        """Seals one message; returns its answer, which may be an error. Raises a `FilterError` if the command does not answer, and a
        `PushcryptError` if the message cannot be a line.
        """
        return await (await self.submit(message))

    async def submit(self, message: Message) -> asyncio.Future[Answer]:
        """Waits for room, and returns the future of the answer, so that many messages can be under way."""
        check_type(message, Message, "the message")
        line, engine = message._line(), self._engine
        engine.start()
        failures = engine.failures
        while len(engine.waiting) >= engine.window:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()
                raise
        return self._add(line, failures)

    def _add(self, line: bytes, failures: int) -> asyncio.Future[Answer]:
        self._engine.check(failures)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._engine.add(line, answer)
        return answer

    def _wake(self) -> None:
        """An answer makes room for one."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    async def seal_all(self, messages: Iterable[Message] | AsyncIterable[Message]) -> AsyncIterator[tuple[Message, Answer]]:
        """Seals many messages; yields each with its answer, in order, and reads no more than the window ahead.

        An answer is yielded when it is there, also while the source waits. A message that cannot be a line has an answer with `error`.
        """
        under_way: collections.deque[tuple[Message, asyncio.Future[Answer]]] = collections.deque()
        try:
            if isinstance(messages, AsyncIterable):
                async for pair in self._seal_live(messages):
                    yield pair
                return
            for message in messages:
                while under_way and (len(under_way) >= self.window or under_way[0][1].done()):
                    before, answer = under_way.popleft()
                    yield before, await answer
                under_way.append((message, await self._submit(message)))
            while under_way:
                before, answer = under_way.popleft()
                yield before, await answer
        finally:
            for _, answer in under_way:
                answer.cancel()

    async def _submit(self, message: Message) -> asyncio.Future[Answer]:
        """Submits one of many. What is wrong with it alone is its answer."""
        check_type(message, Message, "a message")
        try:
            return await self.submit(message)
        except REFUSED as error:
            answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            answer.set_result(refused(message, error))
            return answer

    async def _seal_live(self, messages: AsyncIterable[Message]) -> AsyncIterator[tuple[Message, Answer]]:
        """The same of a source that may wait for its next message: a task reads it."""
        under_way: asyncio.Queue[tuple[Message, asyncio.Future[Answer]] | None] = asyncio.Queue()
        room = asyncio.Semaphore(self.window)

        async def take() -> None:
            async for message in messages:
                await room.acquire()
                under_way.put_nowait((message, await self._submit(message)))

        taking = asyncio.get_running_loop().create_task(take())
        taking.add_done_callback(lambda _: under_way.put_nowait(None))
        try:
            while pair := await under_way.get():
                yield pair[0], await pair[1]
                room.release()
            await taking
        finally:
            taking.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await taking

    async def aclose(self, timeout: float | None = None) -> None:
        """Waits until everything submitted is answered, and ends the child. After `timeout` seconds what waits gets a `FilterError`."""
        await self._engine.close(timeout)


class Filter(_Filter):
    """The filter for programs without asyncio. One may serve all threads of a process; a forked process needs its own."""

    def __init__(self, command: Sequence[str], *, window: int = FILTER_WINDOW, answer_timeout: float = ANSWER_TIMEOUT) -> None:
        """As `AsyncFilter`."""
        self._engine = Engine(command, window, answer_timeout, lambda: self._slots.release())
        self._slots = threading.Semaphore(window)
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
            self._engine.start()
            if self._engine.is_over:
                self._slots.release()
                answer.set_exception(self._engine.error or FilterError(CLOSED, False))
            else:
                self._engine.add(line, answer)

    def seal(self, message: Message) -> Answer:
        """Seals one message, and waits for the answer: see `AsyncFilter.seal`."""
        return self.submit(message).result()

    def seal_all(self, messages: Iterable[Message]) -> Iterator[tuple[Message, Answer]]:
        """As `AsyncFilter.seal_all`, for a source that does not wait: answers are yielded only when it gives the next message or ends."""
        under_way: collections.deque[tuple[Message, concurrent.futures.Future[Answer]]] = collections.deque()
        for message in messages:
            check_type(message, Message, "a message")
            while under_way and (len(under_way) >= self.window or under_way[0][1].done()):
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
        """As `AsyncFilter.aclose`. In a forked process it does nothing."""
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
