"""What a relay says of itself, grants, and who may push."""
import json, os

from client import LIFE, PushKey, apns_collapse_id, decode, encode, envelope, milliseconds
from http2 import HTTP2
from suite import Closing, HOUR, accepted, misread, rule, same, unsigned


@rule
def it_says_who_it_is(world):
    answer = world.client.fresh().send("GET", "/v1/relay")
    same(answer.status, 200)
    same(set(answer.json), {"version", "origin", "now", "max_messages", "kinds", "data_format"})
    same((answer.json["version"], answer.json["origin"], answer.json["data_format"]), (1, world.client.origin, "pushcrypt"))
    same(abs(answer.json["now"] - milliseconds()) < HOUR, True)


@rule
def it_speaks_http2(world):
    client, token, key, grant = world.phone()
    with HTTP2(client) as connection:
        said = connection.answer(connection.ask("GET", "/v1/relay"))
        same((said.status, said.json["origin"]), (200, client.origin))
        same(connection.answer(connection.ask("GET", "/v1/other")).status, 404)
        # At the same time.
        streams = [connection.push(key, {"grant": grant, "data": envelope()}) for _ in range(5)]
        for stream in streams:
            accepted(connection.answer(stream).json["answers"][0])
        same(len(world.apns.taken(token)), 5)


@rule
def long_bodies_are_not_read_over_http2(world):
    client, _, key, _ = world.phone()
    with HTTP2(client) as connection:
        for body, status in ((b"{".ljust(524_288), 400), (b"{".ljust(524_289), 413), (b"{".ljust(600_000), 413), (b"{", 400)):
            same(connection.post("/v1/push", body, key.headers(client.origin, body)).status, status, len(body))


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
        same((answer.status, set(answer.json)), (200, {"grant", "secret", "expires"}))
        same(before < answer.json["expires"] <= milliseconds() + LIFE + HOUR, True, "its end")
        lengths.add(len(answer.json["grant"]))
        same(token in answer.json["grant"] or bytes.fromhex(token) in decode(answer.json["grant"]), False, "it is readable")
    same((len(lengths), max(lengths) <= 1024), (1, True), lengths)


@rule
def what_is_not_a_request_for_a_grant_is_refused(world):
    client, token, key = world.client.fresh(), os.urandom(32).hex(), PushKey()
    good = client.phone(token, push_key=key.text, kinds=["alert"])
    wrong = list(misread(good)) + [{name: value for name, value in good.items() if name != left} for left in good]
    values = {
        "token": ["", "0", "0A" * 32, "0g", "ff" * 101, 7, None, ["0a"]], "environment": ["", "sandbox", "Production", 1, None],
        "push_key": ["", key.text[:-1], key.text + "=", key.text + "A", "+" + key.text[1:], key.text[:-1] + "_", 7, None, encode(b"\0" * 31)],
        "kinds": [[], "alert", ["alert", "alert"], ["voip"], [1], None, {"alert": 1}], "topic": ["", "a b", "a" * 256, 7, None, "../x"],
    }
    wrong += [good | {name: value} for name in values for value in values[name]]
    for body in wrong:
        answer = world.client.fresh().post("/v1/grants", body)
        same((answer.status, answer.code), (400, "malformed-request"), body)
    for topic in ("com.example.other", "constructor", world.client.topic + ".voip", world.client.topic.upper()):
        same(client.post("/v1/grants", good | {"topic": topic}).code, "unknown-topic")


@rule
def a_push_is_what_the_publisher_and_the_protocol_say(world):
    client, token, key, grant = world.phone()
    data = envelope(2816)
    answer = client.one(key, {"grant": grant, "data": data, "priority": 5, "expiration": 4_294_967_295, "collapse_id": "a" * 64, "sound": "default", "content_available": True})
    accepted(answer)
    same(set(answer), {"status", "from", "apns_id", "grant_expires"})
    [request] = world.apns.taken(token)
    headers, body = dict(request.headers), json.loads(request.body)
    for name, value in {"topic": client.topic, "push-type": "alert", "priority": "5", "expiration": "4294967295", "collapse-id": apns_collapse_id(key, "a" * 64)}.items():
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
        with Closing(client.connection()) as connection:
            connection.putrequest("POST", path)
            connection.putheader("Content-Length", str(1 << 40))
            connection.endheaders()
            connection.send(b" " * 600_000)
            same(refused_body(world, connection), 413, path)
        with Closing(client.connection()) as connection:
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


def refused_body(world, connection):
    """The status. A proxy may end the connection while the client still sends, so that the answer is lost."""
    try:
        return connection.getresponse().status
    except OSError:
        if world.cuts:
            raise
        return 413
