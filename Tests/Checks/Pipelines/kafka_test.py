"""Workers process Kafka topics of events and are killed a hundred times; every phone shows every message once.

The brokers are librdkafka's own mock, in this process. A group needs some seconds to notice that a worker is dead, so
several topics, each with a group of two workers, are processed at once. The mock keeps 5 MB of a partition: enough for
a topic's share.
"""
import json, os, random, sys, threading
from confluent_kafka import Consumer, Producer, TopicPartition
from scene import BROKEN, TO_USER, Failure, Phones, Provider, count, event, expect, main, wait
from workers import Workers, moments

EVENTS, KILLS, LANES = int(os.environ.get("EVENTS", 100_000)), int(os.environ.get("KILLS", 100)), 5
QUIET = {"log_level": 0}
FOLDER, PROGRAM, WORKER = sys.argv[1:]


def read(servers, topics, deliver, finished):
    """Passes every line of the topics to `deliver`, until the end of each after `finished`."""
    consumer = Consumer({**servers, "group.id": "reader", "enable.auto.commit": False})
    known = consumer.list_topics(timeout=10).topics
    consumer.assign([TopicPartition(topic, number, 0) for topic in topics for number in known[topic].partitions])
    while True:
        over = finished.is_set()
        messages = consumer.consume(500, timeout=1)
        for message in messages:
            if message.error():
                raise Failure(str(message.error()))
            deliver(message.topic(), message.value())
        if over and not messages:
            consumer.close()
            return


def uncommitted(servers):
    """The number of messages that would be delivered again."""
    count = 0
    for lane in range(LANES):
        consumer = Consumer({**servers, "group.id": f"sealers{lane}"})
        partitions = consumer.list_topics(timeout=10).topics[f"pushes{lane}"].partitions
        for place in consumer.committed([TopicPartition(f"pushes{lane}", number) for number in partitions], timeout=10):
            count += consumer.get_watermark_offsets(place, timeout=10)[1] - max(place.offset, 0)
        consumer.close()
    return count


def test():
    provider = Provider(FOLDER, PROGRAM)
    broker = Producer({"bootstrap.servers": "mock:1", "test.mock.num.brokers": 3, **QUIET})
    addresses = ",".join(f"{one.host}:{one.port}" for one in broker.list_topics(timeout=10).brokers.values())
    servers = {"bootstrap.servers": addresses, **QUIET}
    outputs = ["refused", *(f"sealed{lane}" for lane in range(LANES))]
    for topic in [*outputs, *(f"pushes{lane}" for lane in range(LANES))]:
        broker.list_topics(topic, timeout=10)  # Requesting it creates it.

    feed = Producer({**servers, "compression.type": "lz4"})
    broken = dict(zip(random.sample(range(EVENTS), len(BROKEN) + 1), (*BROKEN, TO_USER)))
    for number in range(EVENTS):
        if number in broken:
            feed.produce(f"pushes{number % LANES}", broken[number][0])
        feed.produce(f"pushes{number % LANES}", event(number), key=f"customer{number % 1000}")
        if number % 1000 == 0:
            feed.flush()
    feed.flush()

    phones, refused, finished = Phones(provider), [], threading.Event()

    def deliver(topic, value):
        if topic == "refused":
            refused.append(json.loads(value))
        else:
            phones.deliver(value, topic)

    reading = threading.Thread(target=read, args=(servers, outputs, deliver, finished), daemon=True)
    reading.start()

    lanes = []
    try:
        for lane in range(LANES):
            group = {"group.id": f"sealers{lane}", "session.timeout.ms": 3500, "heartbeat.interval.ms": 200}
            config = os.path.join(FOLDER, f"kafka{lane}.json")
            with open(config, "w") as file:
                json.dump({"consumer": {**servers, **group}, "producer": servers}, file)
            command = [sys.executable, WORKER, "--config", config, "--from", f"pushes{lane}", "--to", f"sealed{lane}",
                "--refused", "refused", "--", *provider.sealer("--jobs", "1")]
            workers = Workers([command, command], os.path.join(FOLDER, "workers.log"))
            workers.kill_at(moments(EVENTS // LANES, KILLS // LANES), lambda lane=lane: phones.arrived[f"sealed{lane}"])
            lanes.append(workers)
        wait(lambda: sum(lane.kills for lane in lanes) == KILLS, 1800, "every kill has happened", [reading])
        wait(lambda: len(phones.copies) == EVENTS, 120, "every event has arrived", [reading])
        wait(lambda: len({line["error"]["message"] for line in refused}) == len(broken), 60, "what is broken was refused", [reading])
        wait(lambda: uncommitted(servers) == 0, 120, "every offset is committed", [reading])
        for lane in lanes:
            lane.stop()
    finally:
        for lane in lanes:
            lane.end()
    finished.set()
    reading.join()
    copies = phones.check(EVENTS)
    expect("codes of what is broken", {line["error"]["code"] for line in refused}, {code for _, code in BROKEN})
    expect("messages that would be delivered again", uncommitted(servers), 0)

    count("kafka: messages", EVENTS)
    count(f"kafka: messages a second, with {KILLS} kills on the way", phones.rate())
    count("kafka: sealed again after a kill, under the same message id, and not shown again", copies - EVENTS)
    count("kafka: shown exactly once", EVENTS)
    count("kafka: refused with a reason", len(refused))
    count("kafka", sum(lane.kills for lane in lanes), "kills")


main(test)
