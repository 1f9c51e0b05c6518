"""What becomes of APNs' answers."""
import os, time

from client import envelope
from suite import Fault, UNAVAILABLE, accepted, alone, refused, rule, same, slow


@rule
def what_apns_refuses_is_its_answer(world):
    for status, reason, more in ((400, "BadDeviceToken", {}), (410, "Unregistered", {}), (429, "TooManyRequests", {"retry_after": 7}), (500, "InternalServerError", {}),
                                 (413, "PayloadTooLarge", {})):
        client, token, key, grant = world.phone()
        world.apns.plans[token] = [Fault("answer", status, reason, (("retry-after", "7"),) if more else ())]
        same(client.one(key, {"grant": grant, "data": envelope()}), {"status": status, "reason": reason, "from": "apns", "sent": "no"} | more)
        same(world.apns.seen[token], 1, "it repeated what APNs had answered")
    client, token, key, grant = world.phone()
    gone = world.apns.mock.rules.devices
    gone[token] = type(gone.get(token))(gone.get(token).topics, 1_700_000_000_000)
    same(client.one(key, {"grant": grant, "data": envelope()}).get("timestamp"), 1_700_000_000_000)


@alone
def what_concerns_the_publisher_is_not_told_to_servers(world):
    client, token, key, grant = world.phone()
    world.apns.plans[token] = [Fault("answer", 403, "InvalidProviderToken")]
    for _ in range(2):
        answer = client.one(key, {"grant": grant, "data": envelope()})
        same((answer["status"], answer["code"], answer["from"], answer["sent"]), UNAVAILABLE)
        same(1 <= answer["retry_after"] <= 60, True)
    # It asks again after a while, and until then not.
    same(world.apns.seen[token], 1)
    world.apns.plans[token] = []
    time.sleep(answer["retry_after"] + 0.5)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


@rule
def what_apns_did_not_read_is_repeated(world):
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
    same({one["status"] for one in answers}, {200})
    for one, answer in zip(tokens, answers):
        same(len(world.apns.taken(one)), 1, answer)


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
