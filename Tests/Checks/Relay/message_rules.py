"""Messages, their grants, and revocation."""
import json, os

from client import LIFE, SECRETS, PushKey, decode, encode, envelope, grant_plaintext, milliseconds, seal_plaintext
from suite import accepted, misread, refused, rule, same


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
    for member in ('"expiration":1e3', '"expiration":1.0', '"expiration":-0', '"priority":1e1', '"priority":5.0'):
        body = json.dumps({"messages": [good]}).replace("}]", f", {member}}}]")
        refused(client.post("/v1/push", body.encode(), key.headers(client.origin, body.encode())).json["answers"][0], 400, "malformed-message")
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


@rule
def a_revoked_grant_has_ended_and_others_have_not(world):
    client, token, key, grant = world.phone()
    other = client.grant(token, key)
    for _ in range(2):
        answer = client.revoke(grant)
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
        same(client.revoke(other, all=True).status, 200)
        for ended in (grant, other):
            refused(client.one(key, {"grant": ended, "data": envelope()}), 410, "grant-revoked")
        # At once, in the same millisecond.
        grant = client.grant(token, key)
        accepted(client.one(key, {"grant": grant, "data": envelope()}))
    accepted(client.one(key, {"grant": kept, "data": envelope()}))


@rule
def who_ends_a_grant_has_its_secret(world):
    client, token, key, grant = world.phone()
    foreign, secret = world.phone()[3], SECRETS[grant]
    for wrong in (SECRETS[foreign], "A" * 22, secret[:-1], secret + "A", "", token):
        for more in ({}, {"all": True}):
            answer = client.revoke(grant, secret=wrong, **more)
            same((answer.status, answer.code), (403, "wrong-secret"), more)
    for bad in ("a", grant[:-1], grant[:-4] + "AAAA"):
        same(client.revoke(bad).code, "malformed-grant")
    # All of another environment: not of this one.
    other = type(client)(client.url.geturl(), client.origin, client.topic, "development" if client.environment == "production" else "production", client.authority)
    same(other.revoke(other.grant(token, key), all=True).status, 200)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))
    good = {"grant": grant, "secret": secret}
    wrong = list(misread(good)) + [{name: good[name]} for name in good]
    wrong += [good | more for more in ({"token": token}, {"all": False}, {"all": 1}, {"all": None}, {"grant": 7}, {"secret": None})]
    for body in wrong:
        same(client.fresh().post("/v1/revoke", body).code, "malformed-request", body)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


@rule
def what_has_ended_can_be_ended_again(world):
    if not world.relay_key:
        return "relay key"
    client, token, key, _ = world.phone()
    answer = client.revoke(world.sealed(token, key, issued=0, expires=1))
    same((answer.status, answer.json), (200, {}))
    answer = client.revoke(world.sealed(token, key, relay_key=os.urandom(32)))
    same((answer.status, answer.code), (410, "grant-unknown-key"))
