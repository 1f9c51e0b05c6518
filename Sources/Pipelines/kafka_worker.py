#!/usr/bin/env python3
"""Seals the lines of one Kafka topic and writes them to another; a second worker sends these, and writes APNs' answers.

An offset is committed only after the answer was acknowledged, so a crash loses nothing. A line sealed or sent again after
a crash has the same message id, and a phone shows it once. Keys, headers and timestamps are kept. A refused line goes to a
third topic as it was, with two more headers: `pushcrypt-answer`, the reason, and `pushcrypt-place`, where it was.

    kafka_worker.py --config kafka.json --from pushes --to sealed --refused refused \
        -- pushcrypt seal --batch --emit request --topic com.example.app
    kafka_worker.py --config kafka.json --from sealed --to answers --refused unsent \
        -- pushcrypt send --in-order --retry-for 2m --key AuthKey_ABC123DEFG.p8 --team TEAM123456
    kafka_worker.py --config kafka.json --from refused --to pushes --refused refused -- cat      replays refused lines
"""
import argparse, collections, contextlib, json, os, pathlib, queue, signal, subprocess, sys, threading
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name, text in ("config", "JSON: librdkafka's properties for `consumer`, with its group.id, and for `producer`"), ("from", "topic"), ("to", "topic"), ("refused", "topic"):
    parser.add_argument(f"--{name}", required=True, help=text)
parser.add_argument("--alive", type=pathlib.Path, help="touch this file in each round: a worker that hangs lets it grow old")
parser.add_argument("command", nargs="+")
options = vars(parser.parse_args())
sends = "send" in options["command"]
if sends and "--in-order" not in options["command"]:
    parser.error("answers are paired with messages by order: add --in-order to send")

with open(options["config"]) as file:
    config = json.load(file)
consumer = Consumer({"auto.offset.reset": "earliest", **config["consumer"], "enable.auto.commit": False})
producer = Producer({**config["producer"], "enable.idempotence": True})

stopping, asked, sealer = threading.Event(), threading.Event(), None


def stop(*_):
    asked.set()
    stopping.set()
    if sends and sealer:
        sealer.terminate()  # At the end of its input alone it would continue to try what APNs delays.


for number in signal.SIGTERM, signal.SIGINT:
    signal.signal(number, stop)

# In a separate session, so that Control-C does not reach it: it ends when its input does. Large pipe buffers let it
# continue while the broker acknowledges.
sealer = subprocess.Popen(
    options["command"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pipesize=1 << 20, start_new_session=True)
pending = collections.deque()  # The messages passed to the sealer or sender, in the order of its answers.
acknowledged, safe = queue.SimpleQueue(), {}  # The offsets up to which the output is safe: future ones, and those to commit.


def line(message):
    """One line for the sealer: the message, with an id that stays the same when it is delivered again."""
    value = (message.value() or b"").strip().replace(b"\n", b" ")  # JSON has line breaks only between tokens.
    try:
        members = json.loads(value)
        if value.startswith(b"{") and members:
            if "id" not in members:
                value = b'{"id":%s,' % json.dumps(f"{message.topic()}/{message.partition()}/{message.offset()}").encode() + value[1:]
            if "to-user" in members:  # Would be answered once for each device; this makes it fail.
                value = b'{"to":null,' + value[1:]
    except (ValueError, RecursionError):
        pass  # The sealer reports the error.
    return (value or b"null") + b"\n"


def output(message, answer, is_refused):
    """The arguments of a record: the answer, or the refused message with the answer beside it, so that it can be replayed."""
    headers = [(name, value) for name, value in message.headers() or () if not name.startswith("pushcrypt-")]
    if is_refused:
        place = f"{message.topic()}/{message.partition()}/{message.offset()}"
        headers += [("pushcrypt-answer", answer), ("pushcrypt-place", place.encode())]
    return {
        "topic": options["refused" if is_refused else "to"], "value": message.value() if is_refused else answer,
        "key": message.key(), "headers": headers, "timestamp": max(message.timestamp()[1], 0)}


def forward():
    """Writes answers: each round contains those that arrived while the previous round was acknowledged."""
    rest, failures, is_over = b"", [], False
    while chunk := os.read(sealer.stdout.fileno(), 1 << 20):
        done = {}
        *answers, rest = (rest + chunk).split(b"\n")
        for answer in answers:
            is_refused = answer.startswith(b'{"error":')
            # The sender has stopped: this message and those after it stay pending, and are delivered again.
            is_over = is_over or (is_refused and json.loads(answer)["error"]["code"] == "not-sent")
            if is_over:
                stopping.set()
                continue
            message = pending.popleft()
            producer.produce(
                **output(message, answer, is_refused), on_delivery=lambda error, _: error and failures.append(error))
            done[message.topic(), message.partition()] = message.offset() + 1
        producer.flush()
        if failures:
            raise KafkaException(failures[0])
        acknowledged.put(done)


def run_forward():
    try:
        forward()
    except BaseException:
        sealer.kill()  # It would wait for a reader, and its writer for the sealer.
        raise
    finally:
        stopping.set()


def commit():
    """Commits in the consuming thread, because calls from two threads wait for each other. Partitions that another
    worker now has are answered there."""
    while not acknowledged.empty():
        safe.update(acknowledged.get())
    mine = {(place.topic, place.partition) for place in consumer.assignment()}
    offsets = [TopicPartition(*place, safe[place]) for place in safe if place in mine]
    try:
        if offsets:
            consumer.commit(offsets=offsets, asynchronous=False)
        safe.clear()
    except KafkaException as error:  # The group is changing; the next round tries again.
        print(f"kafka_worker: not committed: {error}", file=sys.stderr)


forwarding = threading.Thread(target=run_forward)
forwarding.start()
consumer.subscribe([options["from"]])
try:
    while not stopping.is_set():
        for message in consumer.consume(500, timeout=0.2):
            if message.error():
                print(f"kafka_worker: {message.error()}", file=sys.stderr)
                continue
            pending.append(message)
            sealer.stdin.write(line(message))
        sealer.stdin.flush()
        commit()
        if options["alive"]:
            options["alive"].touch()
    sealer.stdin.close()
except BrokenPipeError:
    with contextlib.suppress(BrokenPipeError):  # The sealer has ended; its exit code gives the reason.
        sealer.stdin.close()
except BaseException:
    sealer.kill()  # The other thread would wait for it, and this process for that thread.
    raise
forwarding.join()
commit()
consumer.close()
# 1 means that lines were refused; they are answered. 64 is a wrong set-up, for which no restart helps. Pending lines will be
# delivered again.
code = sealer.wait()
sys.exit(64 if code == 64 else 0 if code in (0, 1) and (asked.is_set() or not pending) else 1)
