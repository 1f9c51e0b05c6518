"""Certificates and their requests."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from pushcrypt import (
    Certificate, CertificateRequest, Credential, ProviderKey, Sealer, SigningKey, issue_certificate,
)
from pushcrypt._envelope import encode, moment
from vectors import label

NOW = moment(1_767_225_600_000)
PROVIDER, KEY = ProviderKey(bytes([1]) * 32), SigningKey(bytes([2]) * 32)
PIN = PROVIDER.public_key
OTHER = ProviderKey(bytes([3]) * 32)


def issued(**named: Any) -> Certificate:
    return issue_certificate(PROVIDER, KEY.public_bytes(), **{"topic": "a", "at": NOW} | named)


FIRST = issued()
SECOND = issued(current=FIRST, stolen=True, at=NOW + timedelta(milliseconds=5_000))


# Requests


def request(**named: Any) -> CertificateRequest:
    return CertificateRequest(**{"topic": "a", "provider": PIN, "signing_key": KEY.public_bytes()} | named)


def test_a_rotation_in_two_steps() -> None:
    asked = request(current=FIRST, past=[(None, NOW - timedelta(milliseconds=1000))], lifetime=timedelta(days=1))
    text = asked.to_json()
    assert CertificateRequest.from_json(text) == asked and "SECRET" not in text
    answer = CertificateRequest.from_json(text).certify(PROVIDER, at=NOW)
    credential = asked.install(KEY, answer, at=NOW)
    made = credential.certificate
    assert (made.epoch, made.floor, made.expires_at) == (FIRST.epoch + 1, 0, NOW + timedelta(milliseconds=86_400_000))
    assert made == issued(current=FIRST, past=[(None, NOW - timedelta(milliseconds=1000))], lifetime=timedelta(days=1))
    assert (credential.key, credential.provider) == (KEY, PIN)
    Sealer(credential, topic="a")


def test_the_members_are_those_of_the_command() -> None:
    asked = request(current=FIRST, past=[(None, NOW), (FIRST, NOW)], proven=SECOND, stolen=True, lifetime=timedelta(minutes=1))
    assert json.loads(asked.to_json()) == {
        "version": 1, "topic": "a", "provider": str(PIN), "signing_key": encode(KEY.public_bytes()), "expires": 60, "stolen": True, "current": str(FIRST),
        "past": [{"replaced": 1_767_225_600_000}, {"certificate": str(FIRST), "replaced": 1_767_225_600_000}], "proven": str(SECOND),
    }
    assert list(json.loads(request().to_json())) == ["version", "topic", "provider", "signing_key"]


def test_only_the_provider_key_certifies(refused: Any) -> None:
    refused("wrong-certificate", request().certify, OTHER, at=NOW)
    for wrong in (None, str(PIN), KEY, PIN, ProviderKey):
        with pytest.raises(TypeError):
            request().certify(wrong, at=NOW)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            issue_certificate(wrong, KEY.public_bytes(), topic="a")  # type: ignore[arg-type]


@pytest.mark.parametrize("code, asked, at", [
    ("wrong-certificate", CertificateRequest(topic="a", provider=OTHER.public_key, signing_key=KEY.public_bytes()), NOW),
    ("bad-certificate-signature", request(topic="b", current=FIRST), NOW),
    ("bad-certificate-signature", request(topic="b", proven=FIRST), NOW),
    ("bad-certificate-signature", request(topic="b", past=[(FIRST, NOW)]), NOW),
    ("weak-key", request(signing_key=PROVIDER.public_bytes()), NOW),
    ("invalid-time", request(), moment(0) - timedelta(milliseconds=1)),
    ("implausible-time", request(), NOW + timedelta(days=1, milliseconds=1)),
    ("implausible-time", request(), NOW - timedelta(days=1, milliseconds=1)),
], ids=label)
def test_what_is_not_certified(code: str, asked: CertificateRequest, at: Any, refused: Any) -> None:
    refused(code, asked.certify, PROVIDER, at=at)


def test_what_is_not_installed(refused: Any) -> None:
    answer = request().certify(PROVIDER, at=NOW)
    for asked in (
        request(topic="b"), request(signing_key=SigningKey(bytes([7]) * 32).public_bytes()), request(provider=OTHER.public_key),
        request(current=SECOND), request(proven=SECOND),
    ):
        refused("wrong-certificate", asked.install, KEY, answer, at=NOW)
    refused("wrong-certificate", request().install, SigningKey(bytes([7]) * 32), answer, at=NOW)
    ending = request(lifetime=timedelta(minutes=1)).certify(PROVIDER, at=NOW)
    refused("wrong-certificate", request().install, KEY, ending, at=NOW + timedelta(milliseconds=60_000))
    assert request().install(KEY, ending, at=NOW + timedelta(milliseconds=59_999)).certificate.expires_at == NOW + timedelta(milliseconds=60_000)
    # Installing it again changes nothing.
    assert request(current=Certificate.parse(json.loads(answer)["certificate"])).install(KEY, answer, at=NOW).certificate == FIRST
    with pytest.raises(TypeError):
        request().install(KEY.secret_text(), answer)  # type: ignore[arg-type]


def test_files_that_are_refused(refused: Any) -> None:
    asked, answer = request(), request().certify(PROVIDER, at=NOW)
    good, signed = json.loads(asked.to_json()), json.loads(answer)
    refused("malformed-request", CertificateRequest.from_json, answer)
    refused("malformed-request", asked.install, KEY, asked.to_json())
    for change in (
        {"version": 2}, {"version": None}, {"topic": "a b"}, {"topic": None}, {"provider": "pcs1"}, {"provider": None},
        {"provider": "pcs1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqd3u8zu"}, {"signing_key": "AA"},
        {"signing_key": None}, {"expires": "60"}, {"stolen": 1}, {"past": {}}, {"past": [7]}, {"past": [{}]}, {"past": [{"replaced": -1}]},
        {"past": [{"replaced": 1}] * 65}, {"current": 7},
    ):
        refused("malformed-request", CertificateRequest.from_json, json.dumps(good | change))
    for code, change in (
        ("malformed-certificate", {"current": "AA"}), ("malformed-certificate", {"past": [{"certificate": "AA", "replaced": 1}]}),
        ("weak-key", {"signing_key": "A" * 43}),
    ):
        refused(code, CertificateRequest.from_json, json.dumps(good | change))
    for code, change in (
        ("malformed-request", {"certificate": None}), ("malformed-certificate", {"certificate": "AA"}), ("malformed-request", {"version": 0}),
        ("bad-certificate-signature", {"topic": "b"}), ("bad-certificate-signature", {"provider": str(OTHER.public_key)}),
    ):
        refused(code, asked.install, KEY, json.dumps(signed | change))
    for read in (CertificateRequest.from_json, lambda wrong: asked.install(KEY, wrong)):
        for wrong in (1_500_000_000, None, {}, 7.5):
            with pytest.raises(TypeError):
                read(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("named", [
    {"topic": b"a"}, {"provider": str(PIN)}, {"signing_key": "a" * 32}, {"signing_key": KEY}, {"current": str(FIRST)}, {"proven": b"a"},
    {"stolen": "no"}, {"lifetime": 1.5}, {"lifetime": 60}, {"past": [(str(FIRST), NOW)]}, {"past": [(FIRST, 5)]}, {"past": [(FIRST, NOW.replace(tzinfo=None))]}, {"past": [(FIRST, "5")]}, {"past": [FIRST]}, {"past": 5},
], ids=label)
def test_requests_of_another_type(named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        request(**named)


def test_requests_that_are_refused(refused: Any) -> None:
    refused("malformed-key", request, signing_key=bytes(31))
    refused("weak-key", request, signing_key=bytes(32))
    for lifetime in (timedelta(0), timedelta(seconds=-1), timedelta(milliseconds=1500)):
        refused("invalid-time", request, lifetime=lifetime)
    refused("wrong-topic", request, topic="")


def test_times_of_past_epochs(refused: Any) -> None:
    """One before 1973 or after 2100 was in another unit."""
    for at in (moment(1_767_225_600), moment(99_999_999_999), moment(4_102_444_800_001), moment(1_767_225_600_000_000)):
        refused("implausible-time", issued, past=[(None, at)])
        refused("implausible-time", request, past=[(None, at)])
    assert request(past=[(None, moment(100_000_000_000)), (FIRST, moment(4_102_444_800_000))])


def test_only_the_last_64_past_epochs_are_asked() -> None:
    assert [at for _, at in request(past=[(None, NOW - timedelta(days=70 - day)) for day in range(70)]).past] == [NOW - timedelta(days=70 - day) for day in range(6, 70)]


# Credentials


def test_a_signing_key_file(refused: Any) -> None:
    credential = Credential(KEY, FIRST, PIN)
    text = credential.secret_text()
    assert Credential.parse(text).secret_text() == Credential.parse(text[:-1]).secret_text() == text
    refused("malformed-key", Credential.parse, text.rsplit("\n", 2)[0])
    refused("malformed-key", Credential.parse, "\n" * 10_000_000)
    refused("wrong-certificate", Credential, SigningKey(bytes([7]) * 32), FIRST, PIN)
    for wrong in ((KEY.secret_text(), FIRST, PIN), (KEY, str(FIRST), PIN), (KEY, FIRST, str(PIN))):
        with pytest.raises(TypeError):
            Credential(*wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Credential.parse(text.encode())  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "A", "A" * 161, "A" * 162, "é" * 162, "A" * 10_000_000])
def test_texts_that_are_no_certificate(text: str, refused: Any) -> None:
    refused("malformed-certificate", Certificate.parse, text)


def test_certificates_of_another_type() -> None:
    for wrong in (str(FIRST), 121, None):
        with pytest.raises(TypeError):
            Certificate(wrong)  # type: ignore[arg-type]
    for wrong in (FIRST.data, 121, None):
        with pytest.raises(TypeError):
            Certificate.parse(wrong)  # type: ignore[arg-type]
    for arguments in ((str(PIN), "a"), (PIN, b"a"), (None, "a")):
        with pytest.raises(TypeError):
            FIRST.check(*arguments)  # type: ignore[arg-type]
    assert Certificate.parse(str(FIRST)) == FIRST and eval(repr(FIRST)) == FIRST
