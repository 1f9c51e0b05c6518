from __future__ import annotations

import time
import types
import warnings
from collections.abc import Callable

import pytest

import vectors
from pushcrypt import PushcryptError, _envelope


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A skip of the kit is not to be overlooked."""
    if not vectors.FOLDER.is_dir():
        terminalreporter.section("NOT TESTED", red=True, bold=True)
        terminalreporter.line(vectors.MISSING, red=True)


def pytest_configure() -> None:
    # A sealer that is made for a topic with .voip warns; tests of the kit make such.
    warnings.filterwarnings("ignore", message="the topic is the app's bundle id", category=UserWarning)


def clock_at(now: int) -> types.SimpleNamespace:
    return types.SimpleNamespace(time_ns=lambda: now * 1_000_000)


# The clock of all tests, and of their modules, but those of the command.
_envelope.time = clock_at(1_767_225_600_000)  # type: ignore[attr-defined, assignment]


@pytest.fixture(autouse=True)
def set_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the package's clock, in milliseconds."""
    if request.module.__name__ == "test_command":
        monkeypatch.setattr(_envelope, "time", time)
    return lambda now: monkeypatch.setattr(_envelope, "time", clock_at(now))


class Refused:
    """Runs calls that have to be refused with a code, in a text that quotes nothing of what was given."""

    def __call__(self, code: str, function: object, *arguments: object, **named: object) -> PushcryptError:
        with pytest.raises(PushcryptError) as caught:
            function(*arguments, **named)  # type: ignore[operator]
        assert caught.value.code == code
        assert "secret-word" not in str(caught.value)
        return caught.value


@pytest.fixture
def refused() -> Refused:
    return Refused()
