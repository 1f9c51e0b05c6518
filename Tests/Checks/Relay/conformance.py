#!/usr/bin/python3
"""Whether a relay follows Docs/Relay.md.

    conformance.py URL TOPIC FOLDER PORT [ORIGIN]

URL is the relay, ORIGIN what it calls itself if that differs. It has to post to the local APNs that this program runs at PORT, with the
credentials that it writes to FOLDER (Docs/ApnsMock.md), have the default limits, and offer `alert`, and best `background`, with the sound
`default`. relay_test.py runs the same rules against the relay of this project, and others that need its files and its process.
"""
import concurrent.futures, inspect, json, os, re, socket, sys, threading, time, traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Send")]
from client import LIFE, Client, PushKey, decode, encode, envelope, grant_plaintext, milliseconds, seal_grant, seal_plaintext  # noqa: E402
from mock import Fault  # noqa: E402

HOUR = 3_600_000
UNAVAILABLE = (503, "relay-unavailable", "relay", "no")
rules = []


def rule(function):
    rules.append(function)
    return function


def slow(function):
    """It takes longer than a second."""
    function.slow = True
    return rule(function)


def alone(function):
    """It breaks the relay's connection to APNs, which other rules use."""
    function.alone = True
    return rule(function)


class Apns:
    """The local APNs: what it got for a token, and what it is to do with the next requests for one."""

    def __init__(self, mock):
        self.mock, self.plans, self.seen = mock, {}, {}
        mock.fault = self.fault

    def fault(self, number, request):
        token = request.path.rsplit("/", 1)[-1]
        self.seen[token] = self.seen.get(token, 0) + 1
        plan = self.plans.get(token, [])
        return plan.pop(0) if plan else None

    def taken(self, token):
        return [request for request in list(self.mock.taken) if request.path == f"/3/device/{token}"]


class World:
    """A relay and its APNs. Of a relay of this project also its relay key, and what it can tell."""

    def __init__(self, client, apns, relay_key=None, tells_unread=True, cuts=True):
        self.client, self.apns, self.relay_key, self.tells_unread, self.cuts = client, apns, relay_key, tells_unread, cuts

    def phone(self, kinds=("alert",)):
        """A client from an address of its own, a token, a push key and a grant."""
        client, token, key = self.client.fresh(), os.urandom(32).hex(), PushKey()
        return client, token, key, client.grant(token, key, kinds)

    def sealed(self, token, key, origin=None, topic=None, relay_key=None, **more):
        """A grant that the relay did not make, but could have."""
        return seal_grant(relay_key or self.relay_key, origin or self.client.origin, token, self.client.environment, topic or self.client.topic, key.public, **more)


def same(found, wanted, what=""):
    assert found == wanted, f"{what}: {found!r}, and not {wanted!r}"


def refused(answer, status, code, sent="no"):
    same((answer["status"], answer.get("code"), answer["from"], answer["sent"]), (status, code, "relay", sent))


def accepted(answer):
    same((answer["status"], answer["from"]), (200, "apns"), answer)


# What it says of itself, and what it grants


@rule
def it_says_who_it_is(world):
    answer = world.client.fresh().send("GET", "/v1/relay")
    same(answer.status, 200)
    same(set(answer.json), {"version", "origin", "now", "max_messages", "kinds", "data_format"})
    same((answer.json["version"], answer.json["origin"], answer.json["data_format"]), (1, world.client.origin, "pushcrypt"))
    same(abs(answer.json["now"] - milliseconds()) < HOUR, True)


@rule
def other_paths_and_methods_are_refused(world):
    client = world.client.fresh()
    same((client.send("GET", "/v1/other").status, client.send("GET", "/v1/other").code), (404, "not-found"))
    same((client.send("GET", "/v1/push").status, client.send("GET", "/v1/grants").code), (405, "wrong-method"))
    same(client.send("POST", "/v1/relay", b"{}").status, 405)
    same(client.send("POST", "/v1/constructor", b"{}").status, 404)


@rule
def grants_are_opaque_equally_long_and_live_180_days(world):
    client, lengths, before = world.client.fresh(), set(), milliseconds()
    for token in ("0a" * 4, os.urandom(32).hex(), "ff" * 100):
        answer = client.post("/v1/grants", client.phone(token, push_key=PushKey().text, kinds=["alert"]))
        same((answer.status, set(answer.json)), (200, {"grant", "expires"}))
        same(before < answer.json["expires"] <= milliseconds() + LIFE + HOUR, True, "its end")
        lengths.add(len(answer.json["grant"]))
        same(token in answer.json["grant"] or bytes.fromhex(token) in decode(answer.json["grant"]), False, "it is readable")
    same((len(lengths), max(lengths) <= 1024), (1, True), lengths)


def misread(body):
    """A good body, and what must not be taken for it."""
    text = json.dumps(body).encode()
    first = next(iter(body))
    yield from (b"", text[:-1], text + text, b"[]", b"null", text + b"x", b"\xef\xbb\xbf" + text, text.replace(b"{", b"{\"\xff\":1,", 1))
    yield b"[" * 100_000
    yield json.dumps(body | {"unknown": 1}).encode()
    yield b'{"__proto__":{},' + text[1:]
    yield text[:-1] + b',"%s":%s}' % (first.encode(), json.dumps(body[first]).encode())


@rule
def what_is_not_a_request_for_a_grant_is_refused(world):
    client, token, key = world.client.fresh(), os.urandom(32).hex(), PushKey()
    good = client.phone(token, push_key=key.text, kinds=["alert"])
    wrong = list(misread(good)) + [{name: value for name, value in good.items() if name != left} for left in good]
    values = {
        "token": ["", "0", "0A" * 32, "0g", "ff" * 101, 7, None, ["0a"]], "environment": ["", "sandbox", "Production", 1, None],
        "push_key": ["", key.text[:-1], key.text + "=", key.text + "A", "+" + key.text[1:], key.text[:-1] + "_", 7, None, encode(b"\0" * 31)],
        "kinds": [[], "alert", ["alert", "alert"], ["voip"], [1], None, {"alert": 1}], "topic": ["", "a b", "a" * 256, 7, None, "../x"],
        "proof": [7, None, "a" * 8193],
    }
    wrong += [good | {name: value} for name in values for value in values[name]]
    for body in wrong:
        answer = world.client.fresh().post("/v1/grants", body)
        same((answer.status, answer.code), (400, "malformed-request"), body)
    for topic in ("com.example.other", "constructor", world.client.topic + ".voip", world.client.topic.upper()):
        same(client.post("/v1/grants", good | {"topic": topic}).code, "unknown-topic")
    same(client.post("/v1/grants", good | {"proof": "anything"}).status, 200)


# Requests to push


@rule
def a_push_is_what_the_publisher_and_the_protocol_say(world):
    client, token, key, grant = world.phone()
    data = envelope(2816)
    answer = client.one(key, {"grant": grant, "data": data, "priority": 5, "expiration": 4_294_967_295, "collapse_id": "a" * 64, "sound": "default", "content_available": True})
    accepted(answer)
    same(set(answer), {"status", "from", "apns_id", "grant_expires"})
    [request] = world.apns.taken(token)
    headers, body = dict(request.headers), json.loads(request.body)
    for name, value in {"topic": client.topic, "push-type": "alert", "priority": "5", "expiration": "4294967295", "collapse-id": "a" * 64}.items():
        same(headers.get("apns-" + name), value, name)
    same((body["aps"].pop("mutable-content"), body["aps"].pop("sound"), body["aps"].pop("content-available"), body.pop("ENCRYPTED_DATA")), (1, "default", 1, data))
    same((list(body["aps"]), list(body), len(request.body) <= 4096), (["alert"], ["aps"], True))


@rule
def what_a_message_leaves_out_is_not_there(world):
    client, token, key, grant = world.phone()
    accepted(client.one(key, {"grant": grant, "data": envelope(1728, 2), "content_available": False}))
    [request] = world.apns.taken(token)
    headers, aps = dict(request.headers), json.loads(request.body)["aps"]
    same((set(aps), headers["apns-priority"], headers["apns-expiration"], "apns-collapse-id" in headers), ({"mutable-content", "alert"}, "10", "0", False))


@rule
def a_background_push_shows_nothing(world):
    client, token, key, grant = world.phone(("alert", "background"))
    accepted(client.one(key, {"grant": grant, "data": envelope(), "kind": "background"}))
    [request] = world.apns.taken(token)
    same((json.loads(request.body)["aps"], dict(request.headers)["apns-priority"]), ({"content-available": 1}, "5"))
    same(dict(request.headers)["apns-push-type"], "background")


@rule
def many_messages_are_answered_in_order(world):
    phones = [world.phone() for _ in range(2)]
    client, key = phones[0][0], phones[0][2]
    grants = [client.grant(os.urandom(32).hex(), key) for _ in range(10)]
    messages = [{"grant": grants[at % 10] if at % 3 else "bad", "data": envelope()} for at in range(45)]
    answers = client.push(key, *messages).json["answers"]
    same([one["status"] for one in answers], [200 if at % 3 else 400 for at in range(45)])
    for wrong in ([], messages + messages[:1]):
        answer = client.push(key, *wrong)
        same((answer.status, answer.code), (400, "malformed-request"), len(wrong))


def unsigned(answer):
    same((answer.status, answer.code), (401, "bad-signature"))


@rule
def only_the_push_key_signs(world):
    client, token, key, grant = world.phone()
    message, other = {"grant": grant, "data": envelope()}, PushKey()
    body = json.dumps({"messages": [message]}).encode()
    headers = key.headers(client.origin, body)
    for name in headers:
        unsigned(client.post("/v1/push", body, {other: value for other, value in headers.items() if other != name}))
    unsigned(client.post("/v1/push", body, headers | {"Pushcrypt-Key": other.text}))
    unsigned(client.post("/v1/push", body + b" ", headers))
    unsigned(client.post("/v1/push", body, headers | {"Pushcrypt-Time": str(int(headers["Pushcrypt-Time"]) + 1)}))
    unsigned(client.post("/v1/push", body, headers | {"Pushcrypt-Time": "0" + headers["Pushcrypt-Time"]}))
    unsigned(client.post("/v1/push", body, headers | {"Pushcrypt-Signature": encode(bytes(64))}))
    for wrong in (headers["Pushcrypt-Signature"][:-1], headers["Pushcrypt-Signature"] + "=", headers["Pushcrypt-Signature"][:-1] + "_", ""):
        unsigned(client.post("/v1/push", body, headers | {"Pushcrypt-Signature": wrong}))
    unsigned(client.push(key, message, path="/v1/grants"))
    unsigned(client.push(key, message, path=""))
    # It is verified before the body is parsed.
    unsigned(client.post("/v1/push", b"{", headers))
    unsigned(client.send("POST", "/v1/push", b"{"))
    same(client.send("POST", "/v1/push", body, {name.lower(): value for name, value in headers.items()}).status, 200)
    same(len(world.apns.taken(token)), 1)


@rule
def the_origin_is_configured_and_not_taken_from_host(world):
    client, token, key, grant = world.phone()
    message = {"grant": grant, "data": envelope()}
    for other in ("https://evil.example.com", client.origin + "/", client.origin.upper(), client.origin + ":443", ""):
        unsigned(client.push(key, message, origin=other or " "))
    unsigned(client.push(key, message, origin="https://evil.example.com", headers={"Host": "evil.example.com"}))
    if client.is_local:
        accepted(client.one(key, message, headers={"Host": "evil.example.com"}))


@rule
def a_key_that_everybody_can_sign_with_signs_nothing(world):
    client = world.client.fresh()
    identity = encode(b"\1" + bytes(31))
    headers = {"Pushcrypt-Key": identity, "Pushcrypt-Time": str(milliseconds()), "Pushcrypt-Signature": encode(b"\1" + bytes(63))}
    unsigned(client.post("/v1/push", b'{"messages":[]}', headers))


@rule
def the_time_is_within_an_hour(world):
    client, token, key, grant = world.phone()
    message = {"grant": grant, "data": envelope()}
    for offset in (-HOUR - 60_000, HOUR + 60_000, -milliseconds()):
        answer = client.push(key, message, at=milliseconds() + offset)
        same((answer.status, answer.code), (401, "clock"), offset)
        same(abs(answer.json["now"] - milliseconds()) < HOUR, True)
    for offset in (-HOUR + 60_000, HOUR - 60_000):
        accepted(client.one(key, message, at=milliseconds() + offset))


@rule
def what_is_not_a_request_to_push_is_refused(world):
    client, token, key, grant = world.phone()
    good = {"messages": [{"grant": grant, "data": envelope()}]}
    for body in [*misread(good), b'{"messages":1}', b'{"messages":{"0":{}}}', b"{}"]:
        answer = client.push(key, body=body)
        same((answer.status, answer.code), (400, "malformed-request"), body[:60])
    same(world.apns.taken(token), [])


@rule
def long_bodies_are_not_read(world):
    client, _, key, _ = world.phone()
    for path in ("/v1/push", "/v1/grants", "/v1/revoke"):
        # Announced, and not announced.
        with _closing(client.connection()) as connection:
            connection.putrequest("POST", path)
            connection.putheader("Content-Length", str(1 << 40))
            connection.endheaders()
            connection.send(b" " * 600_000)
            same(refused_body(world, connection), 413, path)
        with _closing(client.connection()) as connection:
            connection.putrequest("POST", path)
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            try:
                for _ in range(70):
                    connection.send(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
            except OSError:
                pass
            same(refused_body(world, connection), 413, path)
    body = json.dumps({"messages": []}).encode().ljust(524_288)
    same(client.push(key, body=body).code, "malformed-request")
    same(client.push(key, body=body + b" ").status, 413)


class _closing:
    def __init__(self, connection):
        self.connection = connection

    def __enter__(self):
        return self.connection

    def __exit__(self, *_):
        self.connection.close()


def refused_body(world, connection):
    """The status. A proxy may end the connection while the client still sends, so that the answer is lost."""
    try:
        return connection.getresponse().status
    except OSError:
        if world.cuts:
            raise
        return 413


# Messages


@rule
def members_of_messages_are_checked(world):
    client, token, key, grant = world.phone(("alert", "background"))
    good = {"grant": grant, "data": envelope()}
    values = {
        "grant": [7, None, [grant]], "data": [7, None, {}], "kind": ["voip", "Alert", 1, None], "priority": [0, 2, 11, "10", 10.5, None, True],
        "expiration": [-1, 2**32, 1.5, "0", None], "collapse_id": ["", "a" * 65, "a b", "é", "a\r\nb: c", 7, None], "sound": [7, None, "other.caf", "", {"critical": 1}],
        "content_available": [1, 0, "true", None], "unknown": [1], "alert": ["a word"], "title": ["a word"], "mutable_content": [0],
    }
    wrong = [good | {name: value} for name in values for value in values[name]] + [{"grant": grant}, {"data": good["data"]}, {}, [], "a", None, 7]
    wrong += [good | {"kind": "background"} | more for more in ({"priority": 10}, {"priority": 1}, {"sound": "default"}, {"content_available": True}, {"content_available": False})]
    for at in range(0, len(wrong), 40):
        for message, answer in zip(wrong[at : at + 40], client.push(key, *wrong[at : at + 40]).json["answers"]):
            refused(answer, 400, "malformed-message")
    same(world.apns.taken(token), [])


@rule
def grants_are_of_this_relay_and_unchanged(world):
    client, token, key, grant = world.phone()
    data, raw = envelope(), decode(grant)
    for wrong in ("", "a", grant[:-1], grant + "A", grant[:-4] + "====", "+" + grant[1:], encode(b"\2" + raw[1:]), encode(raw[:-1]), encode(raw + b"\0")):
        refused(client.one(key, {"grant": wrong, "data": data}), 400, "malformed-grant")
    for place in (5, 20, 21, 22, 60, 200, len(raw) - 17, len(raw) - 1):
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        refused(client.one(key, {"grant": encode(changed), "data": data}), 400, "malformed-grant")
    same(world.apns.taken(token), [])


@rule
def grants_of_other_origins_and_relay_keys_are_refused(world):
    if not world.relay_key:
        return "relay key"
    client, token, key, _ = world.phone()
    data = envelope()
    for origin in ("https://other.example.com", client.origin + "0"):
        refused(client.one(key, {"grant": world.sealed(token, key, origin=origin), "data": data}), 400, "malformed-grant")
    refused(client.one(key, {"grant": world.sealed(token, key, relay_key=os.urandom(32)), "data": data}), 410, "grant-unknown-key")
    accepted(client.one(key, {"grant": world.sealed(token, key), "data": data}))
    padded = grant_plaintext(token, "production", client.topic, key.public, ["alert"], milliseconds(), milliseconds() + LIFE)
    padded = padded[:-1] + b"\1"
    refused(client.one(key, {"grant": seal_plaintext(world.relay_key, client.origin, padded), "data": data}), 400, "malformed-grant")


@rule
def a_grant_is_for_one_push_key(world):
    client, token, key, grant = world.phone()
    refused(client.one(PushKey(), {"grant": grant, "data": envelope()}), 403, "wrong-key")
    same(world.apns.taken(token), [])


@rule
def grants_end(world):
    if not world.relay_key:
        return "relay key"
    client, token, key, _ = world.phone()
    now = milliseconds()
    refused(client.one(key, {"grant": world.sealed(token, key, issued=now - LIFE - 1000, expires=now - 1000), "data": envelope()}), 410, "grant-expired")
    accepted(client.one(key, {"grant": world.sealed(token, key, issued=now - LIFE + 60_000, expires=now + 60_000), "data": envelope()}))
    refused(client.one(key, {"grant": world.sealed(token, key, topic="com.example.gone"), "data": envelope()}), 410, "grant-revoked")


@rule
def a_grant_names_its_kinds(world):
    client, token, key, grant = world.phone()
    refused(client.one(key, {"grant": grant, "data": envelope(), "kind": "background"}), 400, "kind-not-granted")
    silent = client.grant(token, key, ["background"])
    refused(client.one(key, {"grant": silent, "data": envelope()}), 400, "kind-not-granted")
    accepted(client.one(key, {"grant": silent, "data": envelope(), "kind": "background"}))


@rule
def data_is_an_envelope(world):
    client, token, key, grant = world.phone()
    good, long = envelope(), envelope(2816)
    wrong = ["", "a", "hello", good[:-1], good + "A", good + "=", good.replace(good[50], "+"), good[:50] + " " + good[51:], good[:50] + "é" + good[51:], long + "AAAA"]
    wrong += [envelope(suite=suite) for suite in (0, 3, 255)] + [envelope(256, 1, 1), envelope(255), envelope(1728, 1), envelope(2816, 2), envelope(3584)]
    # The last character's unused bits.
    middle = envelope(512)
    wrong += [middle[:-1] + chr(ord(middle[-1]) + 1)]
    wrong += [json.dumps({"alert": "a word"}), 'a","aps":{"alert":"a word"}']
    for data, answer in zip(wrong, client.push(key, *({"grant": grant, "data": data} for data in wrong)).json["answers"]):
        refused(answer, 400, "malformed-envelope")
    for data in (good, middle, long, envelope(1728, 2)):
        accepted(client.one(key, {"grant": grant, "data": data}))
    same(len(world.apns.taken(token)), 4)


# Revocation


@rule
def a_revoked_grant_has_ended_and_others_have_not(world):
    client, token, key, grant = world.phone()
    other = client.grant(token, key)
    for _ in range(2):
        answer = client.revoke(token, grant)
        same((answer.status, answer.json), (200, {}))
    refused(client.one(key, {"grant": grant, "data": envelope()}), 410, "grant-revoked")
    accepted(client.one(key, {"grant": other, "data": envelope()}))


@rule
def all_grants_of_a_token_end_at_once_and_later_ones_work(world):
    client, token, key, grant = world.phone()
    _, foreign, _, _ = world.phone()
    kept = client.grant(foreign, key)
    for _ in range(5):
        other = client.grant(token, key)
        same(client.revoke(token).status, 200)
        for ended in (grant, other):
            refused(client.one(key, {"grant": ended, "data": envelope()}), 410, "grant-revoked")
        # At once, in the same millisecond.
        grant = client.grant(token, key)
        accepted(client.one(key, {"grant": grant, "data": envelope()}))
    accepted(client.one(key, {"grant": kept, "data": envelope()}))


@rule
def who_revokes_knows_the_token(world):
    client, token, key, grant = world.phone()
    other = "development" if client.environment == "production" else "production"
    for more in ({"token": os.urandom(32).hex()}, {"token": token[:-2]}, {"environment": other}, {"topic": client.topic + ".x"}):
        answer = client.revoke(token, grant, **more)
        same((answer.status, answer.code), (403, "wrong-token"), more)
    for more in ({"grant": "a"}, {"grant": grant[:-1]}, {"grant": grant[:-4] + "AAAA"}):
        same(client.revoke(token, **more).code, "malformed-grant")
    # All of another environment: not of this one.
    same(client.revoke(token, environment=other).status, 200)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))
    good = client.phone(token, grant=grant)
    wrong = list(misread(good)) + [{name: value for name, value in good.items() if name != left} for left in ("token", "environment", "topic")]
    wrong += [good | more for more in ({"push_key": key.text}, {"token": "0"}, {"environment": "sandbox"}, {"environment": 1}, {"topic": "a b"}, {"grant": 7})]
    wrong += [client.phone(token) | more for more in ({"environment": "sandbox"}, {"topic": "a b"}, {"proof": 7})]
    for body in wrong:
        same(client.fresh().post("/v1/revoke", body).code, "malformed-request", body)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


@rule
def what_has_ended_is_revoked_without_a_word(world):
    if not world.relay_key:
        return "relay key"
    client, token, key, _ = world.phone()
    for grant in (world.sealed(token, key, issued=0, expires=1), world.sealed(token, key, relay_key=os.urandom(32))):
        answer = client.revoke(token, grant)
        same((answer.status, answer.json), (200, {}))


# Limits


@rule
def a_push_key_has_60_pushes_a_minute_for_a_token_whatever_its_grants(world):
    client, token, key, grant = world.phone()
    renewed, data = client.grant(token, key), envelope()
    first = client.push(key, *[{"grant": grant, "data": data}] * 45).json["answers"]
    second = client.push(key, *[{"grant": renewed, "data": data}] * 20).json["answers"]
    same([one["status"] for one in first + second], [200] * 60 + [429] * 5)
    refused(second[-1], 429, "grant-limit")
    same(1 <= second[-1]["retry_after"] <= 86_400, True)
    # Another server of the same phone is not slowed, and neither is another phone of the same server.
    other = PushKey()
    accepted(client.one(other, {"grant": client.grant(token, other), "data": data}))
    accepted(client.one(key, {"grant": client.grant(os.urandom(32).hex(), key), "data": data}))


@rule
def a_token_has_300_pushes_a_minute(world):
    client, token, _, _ = world.phone()
    keys, data, statuses = [PushKey() for _ in range(6)], envelope(), []
    for key in keys:
        grant = client.grant(token, key)
        for count in (45, 10):
            statuses += [one["status"] for one in client.push(key, *[{"grant": grant, "data": data}] * count).json["answers"]]
    same((statuses.count(200), statuses.count(429)), (300, 30))


@rule
def a_token_has_three_background_pushes_an_hour_of_a_server(world):
    client, token, key, grant = world.phone(("alert", "background"))
    answers = client.push(key, *[{"grant": grant, "data": envelope(), "kind": "background"}] * 4).json["answers"]
    same([one["status"] for one in answers], [200, 200, 200, 429])
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


@rule
def an_address_gets_60_grants_a_minute(world):
    if not world.client.is_local:
        return "own addresses"
    for path, value in (("/v1/grants", {"push_key": PushKey().text, "kinds": ["alert"]}), ("/v1/revoke", {})):
        client = world.client.fresh()
        answers = [client.post(path, client.phone(os.urandom(32).hex()) | value) for _ in range(62)]
        same([one.status for one in answers], [200] * 60 + [429] * 2, path)
        same((answers[-1].code, 1 <= int(answers[-1].headers["Retry-After"]) <= 60), ("too-many-requests", True))
        same(client.fresh().post(path, client.phone(os.urandom(32).hex()) | value).status, 200)


@rule
def an_address_gets_600_requests_a_minute_good_or_bad(world):
    if not world.client.is_local:
        return "own addresses"
    client, body = world.client.fresh(), b"{}"
    with _closing(client.connection()) as connection:
        statuses = [client.send("POST", "/v1/push", body, {"Pushcrypt-Key": PushKey().text}, connection).status for _ in range(610)]
        same((statuses.count(401), statuses.count(429), statuses[-1]), (600, 10, 429))
        # Before the body is read or the path is known.
        same(client.send("GET", "/v1/other", None, None, connection).status, 429)
    same(client.fresh().send("GET", "/v1/relay").status, 200)


@slow
def a_flood_of_grants_from_one_address_stops_nobody(world):
    if not world.client.is_local:
        return "own addresses"
    flood, statuses, until = world.client.fresh(), [], time.monotonic() + 6
    client, token, key, grant = world.phone()

    def ask():
        found = []
        with _closing(flood.connection()) as connection:
            while time.monotonic() < until:
                body = json.dumps(flood.phone(os.urandom(32).hex(), push_key=key.text, kinds=["alert"])).encode()
                found.append(flood.send("POST", "/v1/grants", body, {"Content-Type": "application/json"}, connection).status)
        return found

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        while time.monotonic() < until:
            accepted(client.one(key, {"grant": grant, "data": envelope()}))
            client.fresh().grant(token, key)
            time.sleep(0.2)
        for one in asking:
            statuses += one.result()
    same((statuses.count(200), statuses.count(429)), (60, len(statuses) - 60), "of the flood")
    print(f"figure: relay-flood grants_a_minute={len(statuses) * 10} answered_429={statuses.count(429)}", flush=True)


@rule
def one_server_does_not_occupy_the_relay(world):
    if not world.client.is_local:
        return "own addresses"
    client, token, key, grant = world.phone()
    other, own, own_key, own_grant = world.phone()
    world.apns.plans[token] = [Fault("late", seconds=3) for _ in range(30)]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        waiting = [pool.submit(client.push, key, {"grant": grant, "data": envelope()}) for _ in range(12)]
        time.sleep(0.5)
        start = time.monotonic()
        accepted(other.one(own_key, {"grant": own_grant, "data": envelope()}))
        same(time.monotonic() - start < 2, True, "another server waited")
        answers = [one.result() for one in waiting]
    same(sorted(one.status for one in answers), [200] * 8 + [429] * 4)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


# APNs


@rule
def what_apns_refuses_is_its_answer(world):
    client, token, key, grant = world.phone()
    message = {"grant": grant, "data": envelope()}
    world.apns.plans[token] = [
        Fault("answer", 400, "BadDeviceToken"), Fault("answer", 410, "Unregistered"), Fault("answer", 429, "TooManyRequests", (("retry-after", "7"),)),
        Fault("answer", 500, "InternalServerError"), Fault("answer", 413, "PayloadTooLarge")]
    for status, reason, more in ((400, "BadDeviceToken", {}), (410, "Unregistered", {}), (429, "TooManyRequests", {"retry_after": 7}), (500, "InternalServerError", {}),
                                 (413, "PayloadTooLarge", {})):
        same(client.one(key, message), {"status": status, "reason": reason, "from": "apns", "sent": "no"} | more)
    same(world.apns.seen[token], 5, "it repeated what APNs had answered")
    gone = world.apns.mock.rules.devices
    gone[token] = type(gone.get(token))(gone.get(token).topics, 1_700_000_000_000)
    same(client.one(key, message).get("timestamp"), 1_700_000_000_000)


@rule
def what_concerns_the_publisher_is_not_told_to_servers(world):
    client, token, key, grant = world.phone()
    faults = [(403, "InvalidProviderToken"), (403, "BadCertificate"), (400, "TopicDisallowed"), (400, "BadTopic"), (404, "BadPath"), (405, "MethodNotAllowed"),
              (403, "ExpiredProviderToken"), (429, "TooManyProviderTokenUpdates"), (302, "Found")]
    world.apns.plans[token] = [Fault("answer", status, reason, (("location", "https://localhost:9/"),)) for status, reason in faults]
    for fault in faults:
        answer = client.one(key, {"grant": grant, "data": envelope()})
        same((answer["status"], answer["code"], answer["from"], answer["sent"]), UNAVAILABLE, fault)
        same(answer["retry_after"] >= 1, True)


@rule
def what_apns_did_not_read_is_repeated(world):
    if not world.tells_unread:
        return "what APNs read"
    client, token, key, grant = world.phone()
    world.apns.plans[token] = [Fault("refuse"), Fault("refuse")]
    accepted(client.one(key, {"grant": grant, "data": envelope()}))
    same((world.apns.seen[token], len(world.apns.taken(token))), (3, 1))


@alone
def after_goaway_all_are_answered_and_none_is_sent_twice(world):
    client, token, key, grant = world.phone()
    tokens = [os.urandom(32).hex() for _ in range(20)]
    grants = [client.grant(one, key) for one in tokens]
    world.apns.plans[tokens[3]] = [Fault("goaway")]
    answers = client.push(key, *({"grant": one, "data": envelope()} for one in grants)).json["answers"]
    statuses = {one["status"] for one in answers}
    same(statuses <= ({200} if world.tells_unread else {200, 504}), True, statuses)
    for one, answer in zip(tokens, answers):
        same(len(world.apns.taken(one)) <= 1 and (answer["status"] == 504 or len(world.apns.taken(one)) == 1), True, answer)


@alone
def what_apns_may_have_read_is_not_repeated(world):
    client, token, key, grant = world.phone()
    for fault in ("lost", "reset"):
        before = world.apns.seen.get(token, 0)
        world.apns.plans[token] = [Fault(fault)]
        refused(client.one(key, {"grant": grant, "data": envelope()}), 504, "no-answer", "unknown")
        same(world.apns.seen[token] - before, 1, fault)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


@slow
def a_silent_apns_is_waited_for_20_seconds(world):
    client, token, key, grant = world.phone()
    world.apns.plans[token] = [Fault("silence")]
    start = time.monotonic()
    refused(client.one(key, {"grant": grant, "data": envelope()}), 504, "no-answer", "unknown")
    same(15 < time.monotonic() - start < 29, True, time.monotonic() - start)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


# Slow and silent clients


def is_ended(world, sent, dribble=b"", seconds=35):
    """Whether the relay ends such a connection."""
    client = world.client.fresh()
    with socket.create_connection((client.url.hostname, client.url.port), source_address=(client.source, 0) if client.source else None) as connection:
        connection.sendall(sent)
        connection.settimeout(1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if dribble:
                    connection.sendall(dribble)
                if connection.recv(4096) == b"":
                    return True
            except TimeoutError:
                pass
            except OSError:
                return True
    return False


@slow
def silent_and_slow_clients_are_ended(world):
    if not world.cuts or world.client.context:
        return "an own server"
    post = b"POST /v1/push HTTP/1.1\r\nHost: a\r\n"
    cases = [(b"", b""), (b"POST /v1/push HT", b""), (post, b"X: y\r\n"), (post + b"Content-Length: 500000\r\n\r\n", b" "), (post + b"Content-Length: 9\r\n\r\n{", b""),
             (post + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), (b"GET /v1/relay HTTP/1.1\r\nHost: a\r\n\r\n", b"")]
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        ended = list(pool.map(lambda case: is_ended(world, *case), cases))
    same(ended, [True] * len(cases))


@rule
def requests_in_two_meanings_are_refused(world):
    client = world.client.fresh()
    if client.context:
        return "an own server"
    body = b'{"messages":[]}'
    for headers in (b"Content-Length: 15\r\nContent-Length: 14\r\n", b"Content-Length: 15\r\nTransfer-Encoding: chunked\r\n", b"Content-Length: x\r\n", b"A" * 20_000 + b": b\r\n"):
        with socket.create_connection((client.url.hostname, client.url.port), timeout=10, source_address=(client.source, 0)) as connection:
            connection.sendall(b"POST /v1/grants HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n" + body)
            same(re.match(rb"HTTP/1.1 4\d\d", connection.recv(100)) is not None, True, headers[:30])


def run(world, with_slow=True, names=()):
    """Runs the rules eight at a time; returns what is wrong, and what could not be tried."""
    chosen = [one for one in rules if (with_slow or not hasattr(one, "slow")) and (not names or one.__name__ in names)]
    chosen.sort(key=lambda one: not hasattr(one, "slow"))
    skipped, failures, lock = [], [], threading.Lock()

    def attempt(one):
        try:
            lacking = one(world)
            with lock:
                skipped.extend([f"{one.__name__} ({lacking})"] if lacking else [])
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)
            place = next((f.lineno for f in reversed(frame) if f.filename == __file__ and f.name == one.__name__), 0)
            with lock:
                failures.append(f"{one.__name__}, line {place}: {type(error).__name__}: {str(error)[:500]}")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(attempt, [one for one in chosen if not hasattr(one, "alone")]))
    for one in chosen:
        if hasattr(one, "alone"):
            attempt(one)
    return len(chosen), failures, skipped


def report(name, count, failures, skipped):
    for one in failures:
        print(f"{name}: FAILED: {one}", flush=True)
    print(f"{name}: {count - len(failures) - len(skipped)} rules hold, {len(failures)} do not" + (f", {len(skipped)} not tried: {', '.join(skipped)}" if skipped else ""),
          flush=True)
    return not failures


def main():
    from serve import serve

    if len(sys.argv) not in (5, 6):
        sys.exit(inspect.getdoc(sys.modules[__name__]))
    url, topic, folder, port, *origin = sys.argv[1:]
    with serve(folder, [topic], port=int(port)) as mock:
        mock.taken = []
        client = Client(url, *(origin or [url.rstrip("/")]), topic)
        sys.exit(not report(url, *run(World(client, Apns(mock)))))


if __name__ == "__main__":
    main()
