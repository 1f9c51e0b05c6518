"""pairing.json: codes, requests and replies, and those that do not open."""

import json

from cryptography.exceptions import InvalidTag
from reference import keys, pairing, posts
from reference.keys import Kind
from reference.trust import Certificate

from .forge import flip
from .material import NOW, PHONE, PROVIDER, SECOND_PROVIDER, SENT_AT, SIGNING, STRANGER, TOPIC, Case, Pair, certify, epoch_of, seed
from .vector import base64url, certificate_text, provider_text

SECRET = seed("pairing secret")[:16]
URL = "https://home.example.net/pair"
RECORD = {
    "device": "5d0f" * 8,
    "public_key": keys.text_form(Kind.DEVICE_PUBLIC, PHONE.public),
    "topic": TOPIC,
    "token": seed("token").hex(),
    "environment": "production",
    "update_key": base64url(Pair(seed("update key 1")).public),
    "sequence": SENT_AT,
    "nonce": base64url(seed("nonce")[:16]),
}
PUSH_KEY = {"push_key": base64url(SIGNING[4].public)}
USED = {"refused": "pairing-used"}


def compact(members: dict[str, object]) -> str:
    return json.dumps(members, separators=(",", ":"))


def certificate_of(provider: Pair, topic: str) -> Certificate:
    return certify(epoch_of(1), SIGNING[0], provider=provider, topic=topic)


def signed_reply(
    record: str, outcome: dict[str, object] | None = None, *, provider: Pair = PROVIDER, topic: str = TOPIC, certificate: Certificate | None = None, by: Pair | None = None,
    named: Pair | None = None,
) -> tuple[str, str]:
    """The reply record and the signed reply; at epoch 0 without a certificate. `by` signs instead, `named` is named instead."""
    one = {"acknowledged": RECORD["public_key"]} | PUSH_KEY if outcome is None else outcome
    shown = {"certificate": certificate_text(certificate)} if certificate else {}
    reply = compact({"version": 1} | one | {"provider": provider_text((named or provider).public)} | shown)
    key = SIGNING[0] if certificate else provider
    to_sign = posts.reply_to_sign(topic, provider.public, key.public, certificate.epoch if certificate else 0, record.encode(), reply.encode())
    return reply, posts.signed_reply(reply.encode(), keys.sign((by or key).seed, to_sign)).decode()


def pairing_case(
    name: str, *, secret: bytes = SECRET, url: str = URL, topic: str = TOPIC, provider: Pair = PROVIDER, outcome: dict[str, object] | None = None,
    is_certified: bool = True, changes: dict[str, object] | None = None,
) -> Case:
    salt, where = seed(f"salt of the pairing: {name}")[:16], pairing.scene(url, topic, provider.public)
    record = compact(RECORD | {"topic": topic} | (changes or {}))
    certificate = certificate_of(provider, topic) if is_certified else None
    reply, signed = signed_reply(record, outcome, provider=provider, topic=topic, certificate=certificate)
    request = pairing.seal_request(secret, salt, where, record.encode())
    sealed = pairing.seal_reply(secret, where, request, signed.encode())
    assert pairing.open_request(secret, where, request) == record.encode()
    assert pairing.open_reply(secret, where, request, sealed) == signed.encode()
    assert pairing.believed(signed.encode(), record.encode(), pairing.fingerprint(provider.public), topic, NOW)
    return {
        "name": name,
        "secret": secret.hex(),
        "url": url,
        "topic": topic,
        "providerSeed": provider.seed.hex(),
        "signingSeed": SIGNING[0].seed.hex() if certificate else None,
        "provider": provider_text(provider.public),
        "code": pairing.code(secret, provider.public, url),
        "id": pairing.pairing_id(secret).hex(),
        "salt": salt.hex(),
        "record": record,
        "request": base64url(request),
        "post": compact({"pairing": base64url(request)}),
        "replyRecord": reply,
        "signedReply": signed,
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
        pairing_case("with a provider at epoch 0", is_certified=False),
        pairing_case("a code that was used", outcome=USED),
        pairing_case("a code that was used, at epoch 0", outcome=USED, is_certified=False),
        pairing_case("a record that breaks a rule", outcome={"refused": "malformed-record"}, changes={"sequence": 0}),
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


def belief_cases() -> list[Case]:
    """Signed replies that came out of the seal: which of them a phone believes that posted `record`."""
    record = compact(RECORD)
    certificate = certificate_of(PROVIDER, TOPIC)

    def case(name: str, is_believed: bool, signed: str, asked: str = record) -> Case:
        fingerprint = pairing.fingerprint(PROVIDER.public)
        assert (pairing.believed(signed.encode(), asked.encode(), fingerprint, TOPIC, NOW) is not None) == is_believed, name
        return {
            "name": name, "topic": TOPIC, "now": NOW, "fingerprint": fingerprint.hex(), "record": asked, "signedReply": signed, "believed": is_believed,
        }

    reply, good = signed_reply(record, certificate=certificate)
    parts = json.loads(good)
    _, unnamed = signed_reply(record, USED, certificate=certificate)
    without = json.loads(posts.decode(json.loads(unnamed)["reply"], 0, posts.MAXIMUM_RECORD))
    without.pop("provider")
    nameless = compact(without).encode()
    to_sign = posts.reply_to_sign(TOPIC, PROVIDER.public, SIGNING[0].public, certificate.epoch, record.encode(), nameless)
    return [
        case("a reply", True, good),
        case("a reply at epoch 0", True, signed_reply(record)[1]),
        case("a refusal", True, unnamed),
        case("a reply that is not signed", False, reply),
        case("a reply with a signature of zeros", False, compact(parts | {"signature": base64url(bytes(64))})),
        case("a reply with a changed signature", False, compact(parts | {"signature": base64url(flip(9)(posts.decode(parts["signature"], 64, 64)))})),
        case("a reply to another record", False, good, compact(RECORD | {"sequence": SENT_AT + 1})),
        case("a reply for another app", False, signed_reply(record, topic="com.example.other")[1]),
        case("a reply of a provider without the code's fingerprint", False, signed_reply(record, provider=STRANGER)[1]),
        case("a reply of another provider that names the code's", False, signed_reply(record, provider=STRANGER, named=PROVIDER)[1]),
        case("a reply that names another provider than signs", False, signed_reply(record, named=STRANGER)[1]),
        case("a reply signed by a stranger at epoch 0", False, signed_reply(record, by=STRANGER)[1]),
        case("a reply with a certificate of another provider", False, signed_reply(record, certificate=certificate_of(STRANGER, TOPIC))[1]),
        case("a reply by another key than its certificate's", False, signed_reply(record, certificate=certificate, by=SIGNING[1])[1]),
        case("a reply of a provider that has expired", False, signed_reply(record, certificate=certify(epoch_of(1), SIGNING[0], expires_at=NOW - 1))[1]),
        case("a refusal without a provider", False, posts.signed_reply(nameless, keys.sign(SIGNING[0].seed, to_sign)).decode()),
    ]


GOOD_URLS = [
    "https://home.example.net", "https://home.example.net/pair?a=b&c=d", "https://HOME.example.net:8443?x@y:z", "https://192.0.2.1/", "https://[2001:db8::1]:1/",
    "http://localhost/", "http://LOCALHOST:65535", "http://10.0.0.0", "http://127.255.255.255", "http://169.254.0.1/", "http://172.16.0.1", "http://172.31.255.255",
    "http://192.168.1.20:8080/pair", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[fc00::]", "http://[FDFF:1::2]", "http://[fe80::1]", "http://[febf::1]",
    "https://a/".ljust(1024, "~"), "http://100.64.0.1/", "http://100.127.255.255:1", "http://home.local", "http://a.b.HOME.Arpa:8080/pair", "http://x.internal/",
    "http://nas.lan/pair", "http://nas.tail1234.ts.net/", "http://fritz.box", "http://FRITZ.box/", "http://nas.fritz.box?a", "http://1.lan", "http://10.0.0.1.lan",
    "https://10.0.1/", "https://home.1/", "https://home./",
]
BAD_URLS = [
    "", "https://", "https:///pair", "https:home", "HTTPS://home", "Http://10.0.0.1", "ftp://10.0.0.1", "pushcrypt:1", "//home", "https://user@home/", "https://u:p@home",
    "https://home/#f", "https://home/a b", "https://home/\u00e9", "https://h\u00f6me/", "https://home\\@other/", "https://home/\n", "https://ho_me/", "https://home:",
    "https://home:0", "https://home:65536", "https://home:+1", "https://home:80a", "https://[::1", "https://::1/", "https://[::1]a", "https://[::1%25en0]/",
    "https://[1:2:3]/", "https://[::ffff:10.0.0.1]/", "https://[10.0.0.1]/", "https://[]/", "https://a/".ljust(1025, "~"), "http://home.example.net",
    "http://localhost.example.net", "http://nas", "http://192.0.2.1", "http://9.255.255.255", "http://11.0.0.1", "http://126.0.0.1",
    "http://128.0.0.1", "http://100.63.255.255", "http://100.128.0.1", "http://169.253.0.1", "http://172.15.0.1", "http://172.32.0.1", "http://192.167.1.1", "http://192.169.1.1", "http://0.0.0.0",
    "http://10.0.1", "http://10.0.0.0.1", "http://10.0.0.256", "http://10.0.0.01", "http://010.0.0.1", "http://0x0a.0.0.1", "http://10.0.0.1.", "http://167772161",
    "http://10.0.0.1.example.net", "http://[::]", "http://[::2]", "http://[fbff::1]", "http://[fe00::1]", "http://[fe7f::1]", "http://[fec0::1]", "http://[2001:db8::1]",
    "http://[::ffff:a00:1]", "http://[fc::1]", "http://home.local.", "http://local", "http://.local", "http://homelocal", "http://home.locals", "http://home.local.example.net",
    "http://home.arpa", "http://x.arpa", "http://homehome.arpa", "http://internal", "http://lan", "http://ts.net", "http://xts.net", "http://notfritz.box", "http://box",
    "http://fritz.box.", "http://fritz.box.example.net", "http://localhost.", "http://x.localhost", "http://home.local@example.net", "http://home_.local",
]


def url_cases() -> list[Case]:
    def case(url: str, is_good: bool) -> Case:
        assert pairing.is_url(url) == is_good, url
        return {"name": f"{'accepted' if is_good else 'refused'}: {url[:60]!r} {len(url)}", "url": url, "accepted": is_good}

    return [*(case(url, True) for url in GOOD_URLS), *(case(url, False) for url in BAD_URLS)]
