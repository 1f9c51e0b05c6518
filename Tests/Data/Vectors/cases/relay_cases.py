"""relay.json: grants, and signed requests to a relay."""

from reference import relay

from .material import DAY, HOUR, SENT_AT, TOPIC, Case, Pair, seed

ORIGIN = "https://push.example.com"
OLD_KEY, RELAY_KEY, STRANGE_KEY = (seed(f"relay key {number}") for number in (1, 2, 3))
SERVER = Pair(seed("push key of a server"))
TOKEN = seed("token")
LIFE = 180 * DAY


def grant_case(
    name: str,
    *,
    relay_key: bytes = RELAY_KEY,
    origin: str = ORIGIN,
    environment: str = "production",
    topic: str = TOPIC,
    token: bytes = TOKEN,
    kinds: tuple[str, ...] = ("alert",),
    expires: int = SENT_AT + LIFE,
) -> Case:
    random = seed(f"random bytes of the grant: {name}")[:16]
    plaintext = relay.grant_plaintext(environment, topic, token, SERVER.public, list(kinds), SENT_AT, expires)
    sealed = relay.seal(relay_key, origin, plaintext, random)
    grant = relay.encode(sealed)
    assert plaintext.startswith(relay.open_grant([OLD_KEY, relay_key], origin, grant)) and len(grant) == 592
    return {
        "name": name,
        "relayKey": relay_key.hex(),
        "origin": origin,
        "environment": environment,
        "topic": topic,
        "token": token.hex(),
        "pushKey": relay.encode(SERVER.public),
        "kinds": list(kinds),
        "issued": SENT_AT,
        "expires": expires,
        "random": random.hex(),
        "grant": grant,
        "secret": relay.encode(relay.secret(relay_key, sealed)),
    }


def grant_cases() -> list[Case]:
    return [
        grant_case("a grant for alerts"),
        grant_case("for alerts and background pushes", kinds=("alert", "background")),
        grant_case("for background pushes alone", kinds=("background",)),
        grant_case("of the development environment", environment="development"),
        grant_case("of another relay key", relay_key=OLD_KEY),
        grant_case("of an origin with a port", origin="https://push.example.com:8443"),
        grant_case("for the longest topic and the longest token", topic="a" * 255, token=b"\xff" * 100),
        grant_case("for the shortest topic and the shortest token", topic="a", token=b"\x00"),
        grant_case("until the largest time", expires=2**53 - 1),
    ]


def refused_grant(
    name: str, code: str, grant: bytes | str, *, origin: str = ORIGIN, relay_keys: tuple[bytes, ...] = (RELAY_KEY, OLD_KEY)
) -> Case:
    text = grant if isinstance(grant, str) else relay.encode(grant)
    try:
        relay.open_grant(list(relay_keys), origin, text)
        raise AssertionError(name)
    except relay.RelayRefusal as refusal:
        assert refusal.code == code, (name, refusal)
    return {"name": name, "relayKeys": [key.hex() for key in relay_keys], "origin": origin, "grant": text, "code": code}


def refused_grant_cases() -> list[Case]:
    plaintext = relay.grant_plaintext("production", TOPIC, TOKEN, SERVER.public, ["alert"], SENT_AT, SENT_AT + LIFE)

    def sealed(plain: bytes = plaintext, key: bytes = RELAY_KEY, origin: str = ORIGIN) -> bytes:
        return relay.seal(key, origin, plain, seed("random bytes of a refused grant")[:16])

    good, text = sealed(), relay.encode(sealed())
    malformed, unknown = "malformed-grant", "grant-unknown-key"

    def changed(place: int) -> bytes:
        return good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :]

    return [
        refused_grant("an empty text", malformed, ""),
        refused_grant("a text that was cut", malformed, text[:-1]),
        refused_grant("a text with a character more", malformed, text + "A"),
        refused_grant("a text with padding", malformed, text[:-2] + "=="),
        refused_grant("a text with a character of base64", malformed, "+" + text[1:]),
        refused_grant("a byte fewer", malformed, good[:-1]),
        refused_grant("a byte more", malformed, good + b"\x00"),
        refused_grant("a plaintext of 406 bytes, sealed well", malformed, sealed(plaintext[:-1])),
        refused_grant("a plaintext of 408 bytes, sealed well", malformed, sealed(plaintext + b"\x00")),
        refused_grant("another version", malformed, b"\x02" + good[1:]),
        refused_grant("a changed relay key id", unknown, changed(1)),
        refused_grant("a changed grant id", malformed, changed(5)),
        refused_grant("a changed ciphertext", malformed, changed(30)),
        refused_grant("a changed tag", malformed, changed(443)),
        refused_grant("a grant of another origin", malformed, sealed(origin="https://push.example.org")),
        refused_grant("a grant of a relay key that was removed", unknown, sealed(), relay_keys=(OLD_KEY,)),
        refused_grant("a grant of another relay", unknown, sealed(key=STRANGE_KEY)),
        refused_grant("environment 0", malformed, sealed(b"\x00" + plaintext[1:])),
        refused_grant("environment 3", malformed, sealed(b"\x03" + plaintext[1:])),
        refused_grant("no kinds", malformed, sealed(plaintext[:1] + b"\x00" + plaintext[2:])),
        refused_grant("a third kind", malformed, sealed(plaintext[:1] + b"\x04" + plaintext[2:])),
        refused_grant("a byte after the token", malformed, sealed(plaintext[:-1] + b"\x01")),
        refused_grant("a token that is longer than the grant", malformed, sealed(plaintext[:50] + b"\xff" + b"a" * 255 + b"\x65" + bytes(100))),
    ]


def message_case(name: str, text: str, is_good: bool = False) -> Case:
    try:
        relay.check_message(text)
        assert is_good, name
    except relay.RelayRefusal as refusal:
        assert not is_good, (name, refusal)
        return {"name": name, "message": text, "code": refusal.code}
    return {"name": name, "message": text}


def message_cases() -> list[Case]:
    """R-14: what a message of a request may have, before its grant is looked at."""

    def with_member(name: str, member: str, is_good: bool = False) -> Case:
        return message_case(name, '{"grant":"…","data":"…",' + member + "}", is_good)

    return [
        with_member("the earliest end", '"expiration":0', True),
        with_member("the latest end", '"expiration":4294967295', True),
        with_member("an end of 2^32", '"expiration":4294967296'),
        with_member("an end with an exponent", '"expiration":1e3'),
        with_member("an end with a fraction", '"expiration":1.0'),
        with_member("an end of -0", '"expiration":-0'),
        with_member("a priority", '"priority":5', True),
        with_member("a priority with an exponent", '"priority":1e1'),
        with_member("a priority with a fraction", '"priority":5.0'),
        with_member("a priority that is a text", '"priority":"5"'),
        with_member("a member that nobody knows", '"later":1'),
        message_case("no grant", '{"data":"…"}'),
    ]


def collapse_cases() -> list[Case]:
    """R-22: what APNs gets."""
    other = Pair(seed("push key of another server"))
    return [
        {"name": name, "pushKey": relay.encode(server.public), "collapseID": given, "apns": relay.apns_collapse_id(server.public, given)}
        for name, server, given in [
            ("a collapse id", SERVER, "chat-c41"),
            ("another server's", other, "chat-c41"),
            ("the longest", SERVER, "~" * 64),
        ]
    ]


BODY = '{"messages":[{"grant":"…","data":"…"}]}'


def request_case(name: str, *, origin: str = ORIGIN, path: str = "/v1/push", time: int = SENT_AT, body: str = BODY) -> Case:
    signature = relay.sign(SERVER.seed, origin, path, SERVER.public, time, body.encode())
    case = {
        "name": name,
        "seed": SERVER.seed.hex(),
        "origin": origin,
        "path": path,
        "time": time,
        "body": body,
        "pushKey": relay.encode(SERVER.public),
        "signature": relay.encode(signature),
    }
    headers = {"Pushcrypt-Key": relay.encode(SERVER.public), "Pushcrypt-Time": str(time), "Pushcrypt-Signature": relay.encode(signature)}
    assert relay.verify(origin, path, headers, body.encode(), time + HOUR) == SERVER.public
    return case


def request_cases() -> list[Case]:
    return [
        request_case("a request"),
        request_case("to an origin with a port", origin="https://push.example.com:8443"),
        request_case("at another time", time=SENT_AT + 1),
        request_case("at the largest time", time=2**53 - 1),
        request_case("with an empty body", body=""),
        request_case("with another body", body=BODY + " "),
        request_case("that takes answers", path="/v1/answers/take", body='{"wait":25,"done":[]}'),
    ]


def refused_request(name: str, code: str = "bad-signature", *, origin: str = ORIGIN, path: str = "/v1/push", now: int = SENT_AT, body: str = BODY, **headers: str | None) -> Case:
    signature = relay.sign(SERVER.seed, ORIGIN, "/v1/push", SERVER.public, SENT_AT, BODY.encode())
    given = {"key": relay.encode(SERVER.public), "time": str(SENT_AT), "signature": relay.encode(signature)} | headers
    sent = {f"Pushcrypt-{name.capitalize()}": value for name, value in given.items() if value is not None}
    try:
        relay.verify(origin, path, sent, body.encode(), now)
        raise AssertionError(name)
    except relay.RelayRefusal as refusal:
        assert refusal.code == code, (name, refusal)
    return {"name": name, "origin": origin, "path": path, "now": now, "headers": sent, "body": body, "code": code}


def refused_request_cases() -> list[Case]:
    stranger = Pair(seed("push key of a stranger"))
    good = relay.encode(relay.sign(SERVER.seed, ORIGIN, "/v1/push", SERVER.public, SENT_AT, BODY.encode()))
    other_path = relay.sign(SERVER.seed, ORIGIN, "/v1/grants", SERVER.public, SENT_AT, BODY.encode())
    return [
        refused_request("another body", body=BODY + " "),
        refused_request("another origin", origin="https://push.example.org"),
        refused_request("a push that takes answers", path="/v1/answers/take"),
        refused_request("a changed body before another hour", "clock", body=BODY + " ", now=SENT_AT + HOUR + 1),
        refused_request("a signature that was cut before another hour", signature=good[:-1], now=SENT_AT + HOUR + 1),
        refused_request("a signature for another path", signature=relay.encode(other_path)),
        refused_request("another push key", key=relay.encode(stranger.public)),
        refused_request("another time", time=str(SENT_AT + 1)),
        refused_request("a time with a zero before it", time=f"0{SENT_AT}"),
        refused_request("a time with a sign", time=f"+{SENT_AT}"),
        refused_request("a time beyond 2^53", time=str(2**53)),
        refused_request("a time that is empty", time=""),
        refused_request("no time", time=None),
        refused_request("no push key", key=None),
        refused_request("no signature", signature=None),
        refused_request("a push key that was cut", key=relay.encode(SERVER.public)[:-1]),
        refused_request("a signature that was cut", signature=good[:-1]),
        refused_request("a signature with padding", signature=good + "=="),
        refused_request("a signature whose last character has unused bits", signature=good[:-1] + chr(ord(good[-1]) + 1)),
        refused_request("a signature of zeros", signature=relay.encode(bytes(64))),
        refused_request(
            "the identity as key and as R, which everybody can sign with", key=relay.encode(b"\x01" + bytes(31)), signature=relay.encode(b"\x01" + bytes(63))
        ),
        refused_request("the wrong time before a wrong signature", "clock", now=SENT_AT + HOUR + 1, signature=relay.encode(bytes(64))),
        refused_request("no signature before the wrong time", now=SENT_AT + HOUR + 1, signature=None),
        refused_request("a millisecond more than an hour ago", "clock", now=SENT_AT + HOUR + 1),
        refused_request("a millisecond more than an hour ahead", "clock", now=SENT_AT - HOUR - 1),
    ]


def answer_cases() -> list[Case]:
    """How a server acknowledges the texts that it took."""
    return [{"name": f"an answer of {len(text)} characters", "answer": text, "done": relay.done(text)} for text in ("A", "AQAB" * 41, "_-" * 3072)]
