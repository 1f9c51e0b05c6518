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
    sealed = pairing.seal_reply(secret, where, request, answer.encode())
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
        pairing_case("an address of 1,024 characters", url="https://a/".ljust(1024, "~")),
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
        case("a changed reply", reply=changed(reply, 20), request_opens=True),
        case("a changed salt of the reply", reply=changed(reply, 3), request_opens=True),
        case("the reply to another request", request=other, request_opens=True),
        case("the request as its reply", reply=request[8:], request_opens=True),
    ]


GOOD_URLS = [
    "https://home.example.net", "https://home.example.net/pair?a=b&c=d", "https://HOME.example.net:8443?x@y:z", "https://192.0.2.1/", "https://[2001:db8::1]:1/",
    "http://localhost/", "http://LOCALHOST:65535", "http://10.0.0.0", "http://127.255.255.255", "http://169.254.0.1/", "http://172.16.0.1", "http://172.31.255.255",
    "http://192.168.1.20:8080/pair", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[fc00::]", "http://[FDFF:1::2]", "http://[fe80::1]", "http://[febf::1]",
    "https://a/".ljust(1024, "~"),
]
BAD_URLS = [
    "", "https://", "https:///pair", "https:home", "HTTPS://home", "Http://10.0.0.1", "ftp://10.0.0.1", "pushcrypt:1", "//home", "https://user@home/", "https://u:p@home",
    "https://home/#f", "https://home/a b", "https://home/\u00e9", "https://h\u00f6me/", "https://home\\@other/", "https://home/\n", "https://ho_me/", "https://home:",
    "https://home:0", "https://home:65536", "https://home:+1", "https://home:80a", "https://[::1", "https://::1/", "https://[::1]a", "https://[::1%25en0]/",
    "https://[1:2:3]/", "https://[::ffff:10.0.0.1]/", "https://[10.0.0.1]/", "https://[]/", "https://a/".ljust(1025, "~"), "http://home.example.net",
    "http://localhost.example.net", "http://home.local", "http://nas", "http://192.0.2.1", "http://9.255.255.255", "http://11.0.0.1", "http://126.0.0.1",
    "http://128.0.0.1", "http://100.64.0.1", "http://169.253.0.1", "http://172.15.0.1", "http://172.32.0.1", "http://192.167.1.1", "http://192.169.1.1", "http://0.0.0.0",
    "http://10.0.1", "http://10.0.0.0.1", "http://10.0.0.256", "http://10.0.0.01", "http://010.0.0.1", "http://0x0a.0.0.1", "http://10.0.0.1.", "http://167772161",
    "http://10.0.0.1.example.net", "http://[::]", "http://[::2]", "http://[fbff::1]", "http://[fe00::1]", "http://[fe7f::1]", "http://[fec0::1]", "http://[2001:db8::1]",
    "http://[::ffff:a00:1]", "http://[fc::1]",
]


def url_cases() -> list[Case]:
    def case(url: str, is_good: bool) -> Case:
        assert pairing.is_url(url) == is_good, url
        return {"name": f"{'accepted' if is_good else 'refused'}: {url[:60]!r} {len(url)}", "url": url, "accepted": is_good}

    return [*(case(url, True) for url in GOOD_URLS), *(case(url, False) for url in BAD_URLS)]
