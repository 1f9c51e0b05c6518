"""The child processes of a filter, one after the other."""

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
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Union

from ._format import (
    FILTER_FIRST_PAUSE, FILTER_LAST_WORDS, FILTER_LONGEST_ANSWER, FILTER_LONGEST_PAUSE, FILTER_MISUSE, FILTER_MOST_ENDS,
)
from ._lines import NUMBER, Answer, FilterError, Refusal
from ._types import check_type, checked_tuple

NUMBERED = b',"' + NUMBER.encode() + b'":%d}\n'
WRITTEN_AT_ONCE = 64
#: Seconds before the next child: twice as long after each end in a row.
FIRST_PAUSE, LONGEST_PAUSE = FILTER_FIRST_PAUSE / 1000, FILTER_LONGEST_PAUSE / 1000
#: Seconds for the child's last words: a process that it started may hold its output open.
LAST_WORDS = FILTER_LAST_WORDS / 1000

DECODER = json.JSONDecoder()

log = logging.getLogger("pushcrypt.filter")

AnyFuture = Union["asyncio.Future[Answer]", "concurrent.futures.Future[Answer]"]
CLOSED = "the filter is closed, or belongs to another process or event loop"


class Child(asyncio.SubprocessProtocol):
    """One child process, of an engine that writes to it and gets its answers."""

    def __init__(self, engine: Engine) -> None:
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
        lines, newline, rest = data.rpartition(b"\n")
        lines, self.rests[fd] = (self.rests[fd] + lines, rest) if newline else (b"", self.rests[fd] + rest)
        try:
            texts = lines.decode(errors="replace" if fd == 2 else "strict").split("\n") if newline else []
        except UnicodeDecodeError:
            # No answer.
            texts = [""]
        if fd == 2:
            for text in texts:
                self.said.append(text.strip())
                log.info("%s", text)
            self.rests[fd] = self.rests[fd][-FILTER_LONGEST_ANSWER:]
        elif not all(map(self.engine.answered, texts)) or len(self.rests[fd]) > FILTER_LONGEST_ANSWER:
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


class Engine:
    """Children of one event loop, one after the other, and the messages that wait. Its owner limits their number."""

    def __init__(self, command: Sequence[str], window: int, answer_timeout: float, release: Callable[[], object]) -> None:
        words = checked_tuple(command, str, "the command")
        check_type(window, int, "the window")
        check_type(answer_timeout, (int, float), "answer_timeout")
        if "--batch" not in words[1:] or window < 1 or not 0 < answer_timeout < float("inf"):
            raise ValueError("the command is a program and its arguments, with --batch; window and answer_timeout are above 0")
        if shutil.which(words[0]) is None:
            raise FileNotFoundError(f"there is no program {words[0]} to run; give its path, or set PATH")
        self.command, self.window, self.answer_timeout, self.release = words, window, answer_timeout, release
        self.numbers = itertools.count()
        # What waits for its answer, in order, and which of that is not yet written to the present child.
        self.waiting: dict[int, tuple[bytes, AnyFuture]] = {}
        self.unwritten: collections.deque[int] = collections.deque()
        self.wakes, self.closing = asyncio.Event(), asyncio.Event()
        self.is_over = self.will_write = False
        #: Ends in a row without an answer, and how often all that waited got an error.
        self.ends, self.failures = 0, 0
        self.error: FilterError | None = None
        self.child: Child | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.task: asyncio.Task[None] | None = None
        self.last_answer = 0.0
        ENGINES.add(self)

    def start(self) -> None:
        if self.task is None:
            self.loop = asyncio.get_running_loop()
            self.task = self.loop.create_task(self.run())
        elif self.loop is not asyncio.get_running_loop():
            raise FilterError(CLOSED, False)

    def check(self, failures: int) -> None:
        """Refuses a message after the end, or if what waited got an error since."""
        if self.closing.is_set() or self.is_over or self.failures != failures:
            raise self.error if self.error is not None and not self.closing.is_set() else FilterError(CLOSED, False)

    def add(self, line: bytes, answer: AnyFuture) -> None:
        if not self.waiting:
            self.last_answer = time.monotonic()
        number = next(self.numbers)
        self.waiting[number] = (line + NUMBERED % number, answer)
        self.unwritten.append(number)
        # All messages of one turn of the loop are written at once.
        if not self.will_write:
            self.will_write = True
            asyncio.get_running_loop().call_soon(self.write)

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
        if self.closing.is_set() and not self.unwritten:
            child.input.close()

    def answered(self, line: str) -> bool:
        """Hands out an answer. Returns false if it belongs to no message."""
        try:
            members, end = DECODER.raw_decode(line)
            number, error, payload = members.pop(NUMBER), members.pop("error", None), members.pop("payload", None)
            refusal = None if error is None else Refusal(error["code"], error["message"])
            is_good = isinstance(payload, dict) if refusal is None else type(refusal.code) is type(refusal.text) is str
            # True and 0.0 are equal to numbers of messages.
            if type(number) is not int or not is_good or end < len(line):
                return False
            _, answer = self.waiting.pop(number)
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            return False
        self.ends, self.last_answer = 0, time.monotonic()
        self.release()
        if not answer.done():
            answer.set_result(Answer(payload, refusal, members))
        return True

    async def run(self) -> None:
        """One child after the other."""
        try:
            while True:
                code, reason = await self.run_child()
                if self.closing.is_set() and not self.waiting:
                    break
                await self.count_end(code, f"{self.command[0]} {reason}")
                while not (self.waiting or self.closing.is_set() or self.is_over):
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
        loop = asyncio.get_running_loop()
        try:
            _, child = await loop.subprocess_exec(lambda: Child(self), *self.command)
        except OSError as error:
            # It does not help to try again soon.
            self.ends = FILTER_MOST_ENDS
            return None, f"cannot be started: {error}"
        self.child, self.last_answer = child, time.monotonic()
        try:
            # Everything that no child has answered, in order.
            self.unwritten = collections.deque(self.waiting)
            self.write()
            while not child.ended.done():
                rest = self.answer_timeout - (time.monotonic() - self.last_answer if self.waiting else 0)
                # It stands still, or waits for something that does not come.
                if rest <= 0:
                    child.end(f"answered nothing for {self.answer_timeout:g} seconds")
                await asyncio.wait([child.ended], timeout=max(rest, 0))
            return child.ended.result()
        finally:
            self.child = None
            child.end("is not needed")
            await asyncio.wait([child.gone], timeout=LAST_WORDS)

    async def count_end(self, code: int | None, reason: str) -> None:
        """Counts an end for which something waits, and pauses."""
        self.ends += 1 if self.waiting else 0
        self.is_over = code == FILTER_MISUSE
        pause = min(FIRST_PAUSE * 2**self.ends, LONGEST_PAUSE)
        if self.is_over or self.ends >= FILTER_MOST_ENDS:
            self.fail(FilterError(reason, not self.is_over))
            pause = 0 if self.is_over else LONGEST_PAUSE
        log.warning("%s; %d messages wait", reason, len(self.waiting))
        if self.waiting:
            await asyncio.sleep(pause)
        else:
            # Closing needs no other child.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.closing.wait(), pause)

    def fail(self, error: FilterError) -> None:
        self.error = self.error if self.closing.is_set() and self.error else error
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
        self.closing.set()
        if self.task is not None:
            self.start()
            self.write()
            await asyncio.wait([self.task], timeout=timeout)
            if not self.task.done():
                self.task.cancel()
                await asyncio.wait([self.task])


#: All engines of the process.
ENGINES: weakref.WeakSet[Engine] = weakref.WeakSet()


def after_fork() -> None:
    """In a forked process, which must not hold the input of a child open."""
    for engine in list(ENGINES):
        if engine.child is not None and 0 in engine.child.open:
            engine.child.input.get_extra_info("pipe").close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork)
