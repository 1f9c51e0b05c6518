from __future__ import annotations

import warnings

import pytest

import vectors
from pushcrypt import PushcryptError


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A skip of the kit is not to be overlooked."""
    if not vectors.FOLDER.is_dir():
        terminalreporter.section("NOT TESTED", red=True, bold=True)
        terminalreporter.line(vectors.MISSING, red=True)


def pytest_configure() -> None:
    # A sealer that is made for a topic with .voip warns; tests of the kit make such.
    warnings.filterwarnings("ignore", message="the topic is the app's bundle id", category=UserWarning)


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
