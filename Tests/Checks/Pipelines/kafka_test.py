"""Workers process Kafka topics of events and are killed a hundred times; every phone shows every message once.

The brokers are librdkafka's own mock, in this process. A group needs some seconds to notice that a worker is dead, so
ten topics, each with a group of two workers, are processed at once. The mock keeps 5 MB of a partition: enough for
a topic's share.

Then a worker sends what was sealed from one topic to a local APNs that misbehaves, and the refused lines are replayed.
"""
import collections, json, os, random, subprocess, sys, threading
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from scene import BROKEN, TO_USER, Failure, Phones, Provider, Workers, event, expect, figure, main, moments, wait

EVENTS, KILLS, LANES = int(os.environ.get("EVENTS", 100_000)), int(os.environ.get("KILLS", 100)), 10
QUIET = {"log_level": 0}
BEGIN = 1_767_225_600_000  # the time of the first event, in milliseconds
MOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Send", "serve.py")
FOLDER, PROGRAM, WORKER = sys.argv[1:]


def read(servers, topics, deliver, finished):
    """Passes every record of the topics to `deliver`, until the end that each has after `finished`."""
    # A record that the broker has dropped is an error.
    settings = {"auto.offset.reset": "error", "enable.partition.eof": True, "enable.auto.commit": False}
    consumer = Consumer({**servers, **settings, "group.id": "reader"})
    known = consumer.list_topics(timeout=10).topics
    places = [TopicPartition(topic, number, 0) for topic in topics for number in known[topic].partitions]
    consumer.assign(places)
    reached, ends = collections.Counter(), None
    while True:
        for message in consumer.consume(500, timeout=1):
            if not message.error():
                deliver(message)
            elif message.error().code() == KafkaError._PARTITION_EOF:
                reached[message.topic(), message.partition()] = message.offset()
            else:
                raise Failure(str(message.error()))
        if finished.is_set():
            ends = ends or [(place, consumer.get_watermark_offsets(place, timeout=10)[1]) for place in places]
            if all(reached[place.topic, place.partition] >= end for place, end in ends):
                consumer.close()
                return


def uncommitted(servers, **groups):
    """The number of messages that would be delivered again, of each group's topic."""
    count = 0
    for group, topic in (groups or {f"sealers{lane}": f"pushes{lane}" for lane in range(LANES)}).items():
        consumer = Consumer({**servers, "group.id": group})
        partitions = consumer.list_topics(timeout=10).topics[topic].partitions
        for place in consumer.committed([TopicPartition(topic, number) for number in partitions], timeout=10):
            count += consumer.get_watermark_offsets(place, timeout=10)[1] - max(place.offset, 0)
        consumer.close()
    return count


def worker(servers, group, source, target, refused, *sealer):
    """The command of a worker."""
    settings = {"group.id": group, "session.timeout.ms": 3500, "heartbeat.interval.ms": 200}
    config = os.path.join(FOLDER, f"{group}.json")
    with open(config, "w") as file:
        json.dump({"consumer": {**servers, **settings}, "producer": servers}, file)
    return [sys.executable, WORKER, "kafka", "--config", config, "--from", source, "--to", target, "--refused", refused, "--", *sealer]


def send(servers):
    """Sends a topic to a local APNs with faults."""
    folder = os.path.join(FOLDER, "apns")
    faults = [f"--fault={kind}@{number}" for number, kind in zip((53, 70, 90, 110), ("goaway", "lost", "refuse", "500"))]
    mock = subprocess.Popen(["/usr/bin/python3", MOCK, folder, *faults], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = mock.stdout.readline().strip()
        command = worker(servers, "senders", "sealed0", "answers", "unsent", PROGRAM, "send", "--in-order", "--key",
            f"{folder}/AuthKey_ABC123DEFG.p8", "--team", "TEAM123456", "--host", address, "--ca-file", f"{folder}/authority.pem")
        sender = Workers([command], os.path.join(FOLDER, "workers.log"))
        try:
            wait(lambda: uncommitted(servers, senders="sealed0") == 0, "everything is sent")
            sender.stop()
        finally:
            sender.end()
    finally:
        mock.terminate()
        said = mock.communicate()[1]
    with open(os.path.join(folder, "accepted")) as file:
        accepted = collections.Counter(json.loads(line)["collapse_id"] for line in file)
    sealed, answers = set(), []

    def deliver(message):
        line = json.loads(message.value())
        if message.topic() == "sealed0":
            sealed.add(line["collapse_id"])
        else:
            answers.append((message.topic(), line.get("status"), "apns_id" in line, bool(message.headers())))

    finished = threading.Event()
    finished.set()
    read(servers, ["sealed0", "answers", "unsent"], deliver, finished)
    expect("messages that APNs accepted", set(accepted), sealed)
    expect("answers", set(answers), {("answers", 200, True, True)})
    expect("faults of APNs", [kind in said for kind in ("goaway", "lost", "refuse", "answer 500")], [True] * 4)
    return len(answers)


def replay(provider, servers, replayed):
    """A refused line is replayed when the reason is gone, and sealed."""
    provider.run("--store", provider.store, "device", "add", "nobody", "-",
        stdin=provider.run("key", "new", "device", "--output", os.path.join(FOLDER, "nobody.key")))
    commands = [
        worker(servers, "replays", "refused", "pushes0", "refused", "cat"),
        worker(servers, "sealers0", "pushes0", "sealed0", "refused-again", *provider.sealer("--jobs", "1"))]
    workers = Workers(commands, os.path.join(FOLDER, "workers.log"))
    try:
        wait(lambda: replayed, "the refused line is replayed")
        workers.stop()
    finally:
        workers.end()
    return len(replayed)


def test():
    provider = Provider(FOLDER, PROGRAM)
    broker = Producer({"bootstrap.servers": "mock:1", "test.mock.num.brokers": 3, **QUIET})
    addresses = ",".join(f"{one.host}:{one.port}" for one in broker.list_topics(timeout=10).brokers.values())
    servers = {"bootstrap.servers": addresses, **QUIET}
    outputs = ["refused", *(f"sealed{lane}" for lane in range(LANES))]
    for topic in [*outputs, "refused-again", "answers", "unsent", *(f"pushes{lane}" for lane in range(LANES))]:
        broker.list_topics(topic, timeout=10)  # Requesting it creates it.

    feed = Producer({**servers, "compression.type": "lz4"})
    broken = dict(zip(random.sample(range(EVENTS), len(BROKEN) + 1), (*BROKEN, TO_USER)))
    for number in range(EVENTS):
        if number in broken:
            feed.produce(f"pushes{number % LANES}", broken[number][0], headers={"trace": "broken", "pushcrypt-answer": "old"})
        feed.produce(f"pushes{number % LANES}", event(number), key=f"customer{number % 1000}", headers={"trace": f"{number}"},
            timestamp=BEGIN + number)
        if number % 1000 == 0:
            feed.flush()
    feed.flush()

    phones, refused, replayed, finished = Phones(provider), {}, [], threading.Event()

    def deliver(message):
        headers = dict(message.headers())
        line = json.loads(headers.get("pushcrypt-answer", message.value()))
        if message.topic() == "refused":
            expect("headers of a refused line", (headers["trace"], len(message.headers())), (b"broken", 3))
            refused[headers["pushcrypt-place"]] = (message.value() or b"", line["error"]["code"])
        elif line["to"] == "nobody":
            replayed.append(line)
        else:
            number = line["event"]
            expect("key, header and time", (message.key(), message.headers(), message.timestamp()[1]),
                (f"customer{number % 1000}".encode(), [("trace", f"{number}".encode())], BEGIN + number))
            phones.deliver(message.value(), message.topic())

    reading = threading.Thread(target=read, args=(servers, outputs, deliver, finished), daemon=True)
    reading.start()

    lanes = []
    try:
        for lane in range(LANES):
            command = worker(servers, f"sealers{lane}", f"pushes{lane}", f"sealed{lane}", "refused",
                *provider.sealer("--jobs", "1", "--emit", "request"))
            workers = Workers([command, command], os.path.join(FOLDER, "workers.log"))
            workers.kill_at(moments(EVENTS // LANES, KILLS // LANES), lambda lane=lane: phones.arrived[f"sealed{lane}"])
            lanes.append(workers)
        wait(lambda: sum(lane.kills for lane in lanes) == KILLS, "every kill has happened", [reading])
        wait(lambda: len(phones.copies) == EVENTS, "every event has arrived", [reading])
        wait(lambda: len(refused) == len(broken), "what is broken was refused", [reading])
        wait(lambda: uncommitted(servers) == 0, "every offset is committed", [reading])
        for lane in lanes:
            lane.stop()
        expect("what was refused", *(sorted((code, len(text), text[:100]) for text, code in lines.values()) for lines in (refused, broken)))
        sent, again = send(servers), replay(provider, servers, replayed)
    finally:
        for lane in lanes:
            lane.end()
    finished.set()
    reading.join()
    copies = phones.check(EVENTS)
    expect("messages that would be delivered again", uncommitted(servers), 0)

    figure("kafka", messages=EVENTS, kills=KILLS, a_second=phones.rate(), copies=copies - EVENTS, refused=len(refused), sent=sent, replayed=again)


main(test)
