"""The filter with the real command, which PUSHCRYPT or PATH names: what it seals opens, and nothing is lost when it is killed."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pushcrypt import CertificateRequest, Credential, Person, ProviderKey, Sealer, SignedCertificate, SigningKey
from pushcrypt.filter import Answer, AsyncFilter, Filter, Message
from pushcrypt.testing import DeviceKey, Opened, Trust, open_push

PROGRAM = os.environ.get("PUSHCRYPT") or shutil.which("pushcrypt")
pytestmark = [
    pytest.mark.command, pytest.mark.skipif(PROGRAM is None, reason="PUSHCRYPT names no command, and PATH has none"),
]
PROVIDER, PHONE = ProviderKey(bytes([1]) * 32), DeviceKey(bytes([2]) * 32)
COUNT = 1500


@pytest.fixture
def command(tmp_path: pathlib.Path) -> list[str]:
    key = tmp_path / "provider.key"
    key.touch(0o600)
    key.write_text(PROVIDER.secret_text())
    return [str(PROGRAM), "seal", "--batch", "--signing-key-file", str(key), "--topic", "a"]


def messages(count: int) -> Iterator[Message]:
    for number in range(count):
        payload: Any = {"aps": {"alert": f"Hello {number}"}, "number": number, "fill": "é" * (number % 300)}
        if number % 3 == 0:
            payload = json.dumps(payload, indent=1).encode()
        yield Message(to=PHONE.public_key, payload=payload, id=f"n-{number}", passed={"token": number})


def opened(payload: object) -> Opened:
    return open_push(json.dumps(payload), topic="a", devices=[PHONE], trust=Trust([PROVIDER.public_key]))


def check(message: Message, answer: Answer) -> None:
    """The answer is that of the message: the phone opens its payload."""
    number = message.passed["token"]
    assert answer.members == {"token": number, "id": f"n-{number}", "to": str(message.to)}
    assert json.loads(opened(answer.payload).payload)["number"] == number


def test_a_child_that_is_killed_again_and_again(command: list[str]) -> None:
    async def main() -> tuple[int, list[int]]:
        kills, seen = 0, []
        async with AsyncFilter(command, window=100, answer_timeout=5) as sealing:
            async for message, answer in sealing.seal_all(messages(COUNT)):
                check(message, answer)
                seen.append(message.passed["token"])
                if len(seen) % 250 == 0 and sealing.pid is not None:
                    os.kill(sealing.pid, (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGSTOP)[kills % 4])
                    kills += 1
        return kills, seen

    kills, seen = asyncio.run(asyncio.wait_for(main(), 300))
    assert seen == list(range(COUNT)) and kills >= 4


def test_refusals_and_options(command: list[str]) -> None:
    async def main() -> None:
        async with AsyncFilter(command) as sealing:
            to = PHONE.public_key
            answer = await sealing.seal(Message(to=to, payload={"aps": {}}, passed={"token": 1}))
            assert answer.error is not None and answer.error.code == "nothing-to-show" and answer.members["token"] == 1
            assert not answer.error.retryable
            options: dict[str, Any] = {
                "topic": "a", "ttl": "2h", "placeholder": {"title": "b"}, "push_type": "alert", "withdraw": ["c"], "drop": True,
                "person": Person(name="Anna"), "collapse_id": "d", "priority": 5,
            }
            got = opened((await sealing.seal(Message(to=to, payload={"aps": {"alert": "a"}}, **options))).payload)
            assert (got.person and got.person.name, got.is_dropped, len(got.withdraws)) == ("Anna", True, 1)
            deep = b'{"aps":{"alert":"a"},"own":' + b"[" * 31 + b"]" * 31 + b"}"
            for payload in (deep, deep.decode(), json.loads(deep)):
                assert (await sealing.seal(Message(to=to, payload=payload))).error is None
            answer = await sealing.seal(Message(to=7, payload={"aps": {"alert": "a"}}))  # type: ignore[arg-type]
            assert answer.error is not None

    asyncio.run(asyncio.wait_for(main(), 60))


def test_threads(command: list[str]) -> None:
    seen: list[int] = []
    with Filter(command, window=50) as sealing:

        def work(part: int) -> None:
            for message, answer in sealing.seal_all(one for one in messages(400) if one.passed["token"] % 4 == part):
                check(message, answer)
                seen.append(message.passed["token"])
                if len(seen) % 100 == 50 and sealing.pid is not None:
                    os.kill(sealing.pid, signal.SIGKILL)

        workers = [threading.Thread(target=work, args=(part,)) for part in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
    assert sorted(seen) == list(range(400))


def pushcrypt(*words: str | pathlib.Path, given: str = "") -> str:
    done = subprocess.run([str(PROGRAM), *map(str, words)], input=given, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_command_certifies_a_request(tmp_path: pathlib.Path) -> None:
    """The provider key is where the command is, the signing key here."""
    key, file = SigningKey.generate(), tmp_path / "provider.key"
    file.touch(0o600)
    file.write_text(PROVIDER.secret_text())
    request = CertificateRequest(topic="a", provider=PROVIDER.public_key, signing_key=key.public_bytes(), lifetime=86_400)
    (tmp_path / "request.json").write_text(request.to_json())
    answer = pushcrypt("key", "certify", tmp_path / "request.json", "--provider-key-file", file, "--yes")
    credential = request.install(key, answer)
    assert isinstance(credential, Credential)
    Sealer(credential, topic="a")


def test_a_request_of_the_command_is_certified(tmp_path: pathlib.Path) -> None:
    """The signing key is in the command's store, the provider key here."""
    store = tmp_path / "store"
    pushcrypt("--store", store, "init")
    pushcrypt("--store", store, "key", "new", "provider", "--topic", "a", "--offline", "-o", tmp_path / "provider.key")
    provider = ProviderKey.parse((tmp_path / "provider.key").read_text())
    request = CertificateRequest.from_json(pushcrypt("--store", store, "key", "rotate", "--request"))
    assert request.provider == provider.public_key and request.current is not None
    (tmp_path / "certificate.json").write_text(request.certify(provider).to_json())
    shown = pushcrypt("--store", store, "key", "rotate", "--install", tmp_path / "certificate.json", "--json")
    certificate = json.loads(shown)["certificate"]
    assert SignedCertificate.from_json((tmp_path / "certificate.json").read_text()).certificate.epoch > request.current.epoch
    assert certificate == json.loads((tmp_path / "certificate.json").read_text())["certificate"]
