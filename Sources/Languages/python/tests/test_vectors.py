"""The vectors beside the kit: the same bytes, from the same random bytes."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pushcrypt import Certificate, Credential, DevicePublicKey, Placeholder, ProviderKey, ProviderPublicKey, Sealer, SigningKey
from pushcrypt._attachments import seal_chunks
from pushcrypt._certificates import certify, claimed
from pushcrypt._envelope import moment, named_message
from pushcrypt._hpke import setup_base_s
from pushcrypt._identity import Hedge
from pushcrypt._sealing import collapse_hash
from vectors import base64url, cases, joined, stored

PAYLOAD = b'{"aps":{"alert":"a"}}'


def key_of(case: dict[str, Any]) -> ProviderKey | Credential:
    if case.get("epoch", 0) == 0:
        return ProviderKey(bytes.fromhex(case.get("providerSeed") or case["signingSeed"]))
    provider = ProviderPublicKey(bytes.fromhex(case["providerPublic"]))
    return Credential(SigningKey(bytes.fromhex(case["signingSeed"])), Certificate(bytes.fromhex(case["certificate"])), provider)


def sealer_of(case: dict[str, Any]) -> Sealer:
    sound = {"": None, None: "matching"}.get(case.get("clearSound"), case.get("clearSound"))
    placeholder = Placeholder(title=case.get("title", "New message"), sound=sound, clear=tuple(case.get("kept", ())))
    return Sealer(key_of(case), topic=case["topic"], placeholder=placeholder)


@pytest.mark.parametrize("case", cases("envelopes.json", "seal"))
def test_seals(case: dict[str, Any]) -> None:
    sealer, key = sealer_of(case), DevicePublicKey(bytes.fromhex(case["devicePublic"]))
    drawn = bytes.fromhex(case.get("rMessageID") or "00" * 32), bytes.fromhex(case["rEphemeral"])
    push = sealer._seal(
        case["payload"], stored(key, case["topic"]), case.get("pushType", "alert"), case.get("callerID"),
        case["ttl"], case["sentAt"], (), None, None, (), False, False, None, drawn, case["ttl"],
    )
    assert push.payload.decode() == case["push"]
    assert (push.message_id.hex(), push.widest) == (case["messageID"], case["widestLength"])
    assert collapse_hash(sealer.provider, case["topic"], key, push.message_id, case.get("device"), case.get("collapseName")) == case["collapseID"]
    if case.get("device") is not None:
        named = dataclasses.replace(push, device=stored(key, case["topic"], device=case["device"]))
        assert sealer.request(named, collapse_name=case.get("collapseName")).collapse_id == case["collapseID"]


@pytest.mark.parametrize("case", cases("requests.json", "collapse"))
def test_collapse_ids(case: dict[str, Any]) -> None:
    if "devicePublic" not in case:
        pytest.skip("this package seals to no device without a key")
    device, provider = DevicePublicKey(bytes.fromhex(case["devicePublic"])), ProviderPublicKey(bytes.fromhex(case["providerPublic"]))
    found = collapse_hash(provider, case["topic"], device, named_message(case["callerID"]), case.get("device"), case.get("collapseName"))
    assert found == case["collapseID"]


@pytest.mark.parametrize("case", cases("requests.json", "expiration"))
def test_expirations(case: dict[str, Any], set_clock: Callable[[int], None]) -> None:
    set_clock(case["sentAt"])
    sealer = Sealer(ProviderKey(bytes(32)), topic="a")
    device = DevicePublicKey.parse("pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx")
    push = sealer.seal(PAYLOAD, stored(device), push_type=case["pushType"], time_to_live=timedelta(seconds=case["requested"]))
    assert push.expires_at == moment(case["sentAt"] + 1000 * case["ttl"])
    assert sealer.request(push).expiration == case["expiration"]


@pytest.mark.parametrize("case", cases("trust.json", "certificates"))
def test_certificates(case: dict[str, Any]) -> None:
    provider, key = ProviderKey(bytes.fromhex(case["providerSeed"])), SigningKey(bytes.fromhex(case["signingSeed"]))
    numbers = [case[name] for name in ("epoch", "floor", "graceUntil", "expiresAt")]
    made = certify(provider, case["topic"], *numbers, key.public_bytes())
    assert (made.data.hex(), str(made)) == (case["certificate"], case["text"])
    assert base64url(str(made)) == made.data
    assert [made.epoch, made.floor, int.from_bytes(made.data[9:17], "big"), made.expiry] == numbers
    if "signed" in case:
        assert claimed(provider.public_key, case["topic"], made.claim).hex() == case["signed"]


@pytest.mark.parametrize("case", cases("attachments.json", "seal"))
def test_files(case: dict[str, Any]) -> None:
    sealed = io.BytesIO()
    file = seal_chunks(io.BytesIO(joined(case["plain"])), sealed, Hedge.of(key_of(case)), bytes.fromhex(case["r"]))
    assert (file.key.hex(), file.size, file.sha256.hex()) == (case["key"], case["size"], case["sha256"])
    assert len(sealed.getvalue()) == case["size"]


@pytest.mark.parametrize("case", cases("hpke.json", "vectors"))
def test_hpke(case: dict[str, Any]) -> None:
    assert (case["kem_id"], case["kdf_id"], case["aead_id"], case["mode"]) == (0x20, 1, 3, 0)
    first = case["encryptions"][0]
    enc, aead, nonce = setup_base_s(bytes.fromhex(case["pkRm"]), bytes.fromhex(case["info"]), bytes.fromhex(case["ikmE"]))
    assert (enc.hex(), aead.encrypt(nonce, bytes.fromhex(first["pt"]), bytes.fromhex(first["aad"])).hex()) == (case["enc"], first["ct"])


@pytest.mark.parametrize("case", cases("hpke.json", "refusedRecipients"))
def test_refused_recipients(case: dict[str, Any], refused: Any) -> None:
    refused("authentication-failed", setup_base_s, bytes.fromhex(case["pkRm"]), b"", bytes.fromhex(case["ikmE"]))
