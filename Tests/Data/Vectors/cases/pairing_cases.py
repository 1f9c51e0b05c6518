"""pairing.json: codes, requests and replies, and those that do not open."""

import json

from cryptography.exceptions import InvalidTag
from reference import keys, pairing
from reference.keys import Kind

from .material import PHONE, PROVIDER, SECOND_PROVIDER, SIGNING, TOPIC, Case, Pair, certify, epoch_of, seed
from .vector import base64url, certificate_text, provider_text

SECRET = seed("pairing secret")[:16]
URL = "https://home.example.net/pair"
RECORD = {
    "device": "5d0f" * 8,
    "public_key": keys.text_form(Kind.DEVICE_PUBLIC, PHONE.public),
    "topic": TOPIC,
    "token": seed("token").hex(),
    "environment": "production",
}


def compact(members: dict[str, object]) -> str:
    return json.dumps(members, separators=(",", ":"))


def reply_record(provider: Pair) -> str:
    return compact({
        "version": 1,
        "acknowledged": RECORD["public_key"],
        "provider": provider_text(provider.public),
        "certificate": certificate_text(certify(epoch_of(1), SIGNING[0])),
        "push_key": base64url(SIGNING[4].public),
    })


def pairing_case(name: str, *, secret: bytes = SECRET, url: str = URL, topic: str = TOPIC, provider: Pair = PROVIDER, reply: str | None = None) -> Case:
    salt, where = seed(f"salt of the pairing: {name}")[:16], pairing.scene(url, topic, provider.public)
    record, answer = compact(RECORD | {"topic": topic}), reply or reply_record(provider)
    request = pairing.seal_request(secret, salt, where, record.encode())
    sealed = pairing.seal_reply(secret, salt, where, request, answer.encode())
    assert pairing.open_request(secret, where, request) == record.encode()
    assert pairing.open_reply(secret, where, request, sealed) == answer.encode()
    return {
        "name": name,
        "secret": secret.hex(),
        "url": url,
        "topic": topic,
        "provider": provider_text(provider.public),
        "code": pairing.code(secret, provider.public, url),
        "id": pairing.pairing_id(secret).hex(),
        "salt": salt.hex(),
        "record": record,
        "request": base64url(request),
        "replyRecord": answer,
        "reply": base64url(sealed),
    }


def pairing_cases() -> list[Case]:
    return [
        pairing_case("a phone pairs"),
        pairing_case("with another secret", secret=bytes(16)),
        pairing_case("at another address", url="http://192.168.1.20:8080/pair?a=b&c=d"),
        pairing_case("of another app", topic="com.example.other"),
        pairing_case("with another provider", provider=SECOND_PROVIDER),
        pairing_case("a code that was used", reply=compact({"version": 1, "refused": "pairing-used"})),
    ]


def refused_cases() -> list[Case]:
    """What opens neither as the request nor as the reply of the first pairing."""
    good = pairing_case("a phone pairs")
    request, reply = (pairing.base64.urlsafe_b64decode(str(good[name]) + "==") for name in ("request", "reply"))

    def case(name: str, *, url: str = URL, topic: str = TOPIC, provider: Pair = PROVIDER, request: bytes = request, reply: bytes = reply, request_opens: bool = False) -> Case:
        where = pairing.scene(url, topic, provider.public)
        for open_it, opens in ((lambda: pairing.open_request(SECRET, where, request), request_opens), (lambda: pairing.open_reply(SECRET, where, request, reply), False)):
            try:
                open_it()
                assert opens, name
            except InvalidTag:
                assert not opens, name
        return {
            "name": name, "secret": SECRET.hex(), "url": url, "topic": topic, "provider": provider_text(provider.public), "request": base64url(request),
            "requestOpens": request_opens, "reply": base64url(reply),
        }

    def changed(data: bytes, place: int) -> bytes:
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    other = pairing.seal_request(SECRET, bytes(16), pairing.scene(URL, TOPIC, PROVIDER.public), compact(RECORD).encode())
    return [
        case("at another address", url=URL + "/"),
        case("of another app", topic="com.example.other"),
        case("with another provider key", provider=SECOND_PROVIDER),
        case("a changed salt", request=changed(request, 8)),
        case("a changed id", request=changed(request, 0)),
        case("a changed record", request=changed(request, 30)),
        case("a changed reply", reply=changed(reply, 3), request_opens=True),
        case("the reply to another request", request=other, request_opens=True),
        case("the request as its reply", reply=request[24:], request_opens=True),
    ]
