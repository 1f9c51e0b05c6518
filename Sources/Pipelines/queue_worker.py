#!/usr/bin/env python3
"""Seals the messages of a Kafka topic or a Redis stream and writes them to another; a second worker sends these, and writes APNs' answers.

A message is done only after its answer was acknowledged: in Kafka its offset is committed then, in Redis both are one transaction. So a
crash loses nothing. A message sealed or sent again after a crash has the same message id, and a phone shows it once. A refused message
goes to a third topic or stream as it was, with the reason and its place: Kafka's headers `pushcrypt-answer` and `pushcrypt-place`, Redis'
fields `answer` and `place`. Keys, headers and timestamps of Kafka are kept; an entry of Redis has one field, `line`. All workers on a
stream of Redis use the same group and different names.

    queue_worker.py kafka --config kafka.json --from pushes --to sealed --refused refused \\
        -- pushcrypt seal --batch --emit request --topic com.example.app
    queue_worker.py redis --url redis://localhost --name sender1 --from sealed --to answers --refused unsent \\
        -- pushcrypt send --in-order --retry-for 2m --key AuthKey_ABC123DEFG.p8 --team TEAM123456
    queue_worker.py kafka --config kafka.json --from refused --to pushes --refused refused -- cat      replays refused messages
"""
import argparse, collections, contextlib, json, os, pathlib, queue, signal, subprocess, sys, threading, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
kinds = parser.add_subparsers(dest="kind", required=True)
kafka, redis = kinds.add_parser("kafka"), kinds.add_parser("redis")
kafka.add_argument("--config", required=True, help="JSON: librdkafka's properties for `consumer`, with its group.id, and for `producer`")
redis.add_argument("--url", required=True, help="of the server; its password is in REDIS_PASSWORD")
redis.add_argument("--name", required=True, help="of this worker")
redis.add_argument("--idle", type=float, help="seconds after which a worker that says nothing is dead (30, with send 300)")
for kind in kafka, redis:
    for name in "from", "to", "refused":
        kind.add_argument(f"--{name}", required=True, help="topic or stream")
    kind.add_argument("--alive", type=pathlib.Path, help="touch this file in each round: a worker that hangs lets it grow old")
    kind.add_argument("command", nargs="+")
options = vars(parser.parse_args())
sends = "send" in options["command"]
if sends and "--in-order" not in options["command"]:
    parser.error("answers are paired with messages by order: add --in-order to send")


class Kafka:
    """Messages with their keys, headers and timestamps. Calls of the consumer from two threads wait for each other, so it commits in
    the thread that consumes."""

    def __init__(self):
        import confluent_kafka
        self.module = confluent_kafka
        with open(options["config"]) as file:
            config = json.load(file)
        self.consumer = confluent_kafka.Consumer({"auto.offset.reset": "earliest", **config["consumer"], "enable.auto.commit": False})
        self.producer = confluent_kafka.Producer({**config["producer"], "enable.idempotence": True})
        # The offsets up to which the output is safe: future ones, and those to commit.
        self.acknowledged, self.safe = queue.SimpleQueue(), {}
        self.consumer.subscribe([options["from"]])

    def take(self):
        for message in self.consumer.consume(500, timeout=0.2):
            if message.error():
                print(f"queue_worker: {message.error()}", file=sys.stderr)
            else:
                yield message, self.place(message), message.value() or b""

    @staticmethod
    def place(message):
        return f"{message.topic()}/{message.partition()}/{message.offset()}"

    def write(self, answers):
        done, failures = {}, []
        for (message, place, given), answer, is_refused in answers:
            headers = [(name, value) for name, value in message.headers() or () if not name.startswith("pushcrypt-")]
            if is_refused:
                headers += [("pushcrypt-answer", answer), ("pushcrypt-place", place.encode())]
            self.producer.produce(
                topic=options["refused" if is_refused else "to"], value=message.value() if is_refused else answer, key=message.key(),
                headers=headers, timestamp=max(message.timestamp()[1], 0), on_delivery=lambda error, _: error and failures.append(error))
            done[message.topic(), message.partition()] = message.offset() + 1
        self.producer.flush()
        if failures:
            raise self.module.KafkaException(failures[0])
        self.acknowledged.put(done)

    def commit(self):
        """Leaves out partitions that another worker now has: they are answered there."""
        while not self.acknowledged.empty():
            self.safe.update(self.acknowledged.get())
        mine = {(place.topic, place.partition) for place in self.consumer.assignment()}
        offsets = [self.module.TopicPartition(*place, self.safe[place]) for place in self.safe if place in mine]
        try:
            if offsets:
                self.consumer.commit(offsets=offsets, asynchronous=False)
            self.safe.clear()
        except self.module.KafkaException as error:  # The group is changing; the next round tries again.
            print(f"queue_worker: not committed: {error}", file=sys.stderr)

    def close(self):
        self.commit()
        self.consumer.close()


class Redis:
    """Entries of a stream. A worker takes over those of a dead one, which has said nothing for `idle` seconds."""

    GROUP = "sealers"

    def __init__(self):
        import redis
        # `ps` would show a password in the URL.
        self.server = redis.Redis.from_url(options["url"], password=os.environ.get("REDIS_PASSWORD"))
        # Otherwise what a sender tries again would be sent by others too.
        self.idle = options["idle"] or (300 if sends else 30)
        self.source = options["from"]
        self.claimed, self.start = 0, None
        try:
            self.server.xgroup_create(self.source, self.GROUP, id="0", mkstream=True)
        except redis.ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):
                raise

    def take(self):
        for entry, fields in self.entries():
            yield entry, f"{self.source}/{entry.decode()}", fields.get(b"line", b"")

    def entries(self):
        """Those of dead workers first, one round every `idle` seconds; then new ones."""
        if self.start is None and time.monotonic() - self.claimed > self.idle:
            self.claimed, self.start = time.monotonic(), b"0-0"
        if self.start is not None:
            start, entries, _ = self.server.xautoclaim(
                self.source, self.GROUP, options["name"], int(self.idle * 1000), self.start, count=500)
            self.start = None if start == b"0-0" else start
            return entries
        answer = self.server.xreadgroup(self.GROUP, options["name"], {self.source: ">"}, count=500, block=200)
        return answer[0][1] if answer else []

    def write(self, answers):
        transaction = self.server.pipeline(transaction=True)
        for (entry, place, given), answer, is_refused in answers:
            if is_refused:
                transaction.xadd(options["refused"], {"line": given, "answer": answer, "place": place})
            else:
                transaction.xadd(options["to"], {"line": answer})
            transaction.xack(self.source, self.GROUP, entry)
            transaction.xdel(self.source, entry)
        transaction.execute()

    def commit(self):
        pass

    close = commit


stopping, asked, sealer = threading.Event(), threading.Event(), None
messages = {"kafka": Kafka, "redis": Redis}[options["kind"]]()


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


def line(place, given):
    """One line for the sealer: the message, with an id that stays the same when it is delivered again."""
    value = given.strip().replace(b"\n", b" ")  # JSON has line breaks only between tokens.
    try:
        members = json.loads(value)
        if value.startswith(b"{") and members:
            if "id" not in members:
                value = b'{"id":%s,' % json.dumps(place).encode() + value[1:]
            if "to_user" in members:  # Would be answered once for each device; with both, it is refused.
                value = b'{"to":"",' + value[1:]
    except (ValueError, RecursionError):
        pass  # The sealer reports the error.
    return (value or b"null") + b"\n"


def forward():
    """Writes answers: each round contains those that arrived while the previous round was acknowledged."""
    rest, is_over = b"", False
    while chunk := os.read(sealer.stdout.fileno(), 1 << 20):
        answered = []
        *answers, rest = (rest + chunk).split(b"\n")
        for answer in answers:
            is_refused = answer.startswith(b'{"error":')
            # The sender has stopped: this message and those after it stay pending, and are delivered again.
            is_over = is_over or (is_refused and json.loads(answer)["error"]["code"] == "not-sent")
            if is_over:
                stopping.set()
                continue
            answered.append((pending.popleft(), answer, is_refused))
        messages.write(answered)


def run_forward():
    try:
        forward()
    except BaseException:
        sealer.kill()  # It would wait for a reader, and its writer for the sealer.
        raise
    finally:
        stopping.set()


forwarding = threading.Thread(target=run_forward)
forwarding.start()
try:
    while not stopping.is_set():
        for message in messages.take():
            pending.append(message)
            sealer.stdin.write(line(*message[1:]))
        sealer.stdin.flush()
        messages.commit()
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
messages.close()
# 65 and 1 mean that lines were refused; they are answered. 64 is a wrong set-up, for which no restart helps. Pending messages will be
# delivered again.
code = sealer.wait()
sys.exit(64 if code == 64 else 0 if code in (0, 1, 65) and (asked.is_set() or not pending) else 1)
