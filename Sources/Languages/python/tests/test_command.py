"""Certificates with the command, which PUSHCRYPT or PATH names."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from datetime import timedelta

import pytest

from pushcrypt import Certificate, CertificateRequest, Credential, ProviderKey, Sealer, SigningKey

PROGRAM = os.environ.get("PUSHCRYPT") or shutil.which("pushcrypt")
pytestmark = [
    pytest.mark.command, pytest.mark.skipif(PROGRAM is None, reason="PUSHCRYPT names no command, and PATH has none"),
]
PROVIDER = ProviderKey(bytes([1]) * 32)


def pushcrypt(*words: str | pathlib.Path, given: str = "") -> str:
    done = subprocess.run([str(PROGRAM), *map(str, words)], input=given, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_command_certifies_a_request(tmp_path: pathlib.Path) -> None:
    """The provider key is where the command is, the signing key here."""
    key, file = SigningKey.generate(), tmp_path / "provider.key"
    file.touch(0o600)
    file.write_text(PROVIDER.secret_text())
    request = CertificateRequest(topic="a", provider=PROVIDER.public_key, signing_key=key.public_bytes(), lifetime=timedelta(days=1))
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
    (tmp_path / "certificate.json").write_text(request.certify(provider))
    shown = pushcrypt("--store", store, "key", "rotate", "--install", tmp_path / "certificate.json", "--json")
    certificate = json.loads(shown)["certificate"]
    assert Certificate.parse(certificate).epoch > request.current.epoch
    assert certificate == json.loads((tmp_path / "certificate.json").read_text())["certificate"]
