"""As much of a broker as queue_worker.py needs: a partition with the lines of a file, each delivered once.

In the folder STUB: `input`; `taken`, with a byte for each delivery; `log`, a line of JSON for each record and each offset.
"""
import json, os, time

FOLDER = os.environ["STUB"]


def log(*entry):
    with open(f"{FOLDER}/log", "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


class KafkaException(Exception):
    pass


class TopicPartition:
    def __init__(self, topic, partition, offset=0):
        self.topic, self.partition, self.offset = topic, partition, offset


class Message:
    def __init__(self, number, text):
        self.number, self.text = number, text

    def error(self):
        return None

    def value(self):
        return self.text

    def key(self):
        return None

    def headers(self):
        return []

    def timestamp(self):
        return 0, 0

    def topic(self):
        return "stream"

    def partition(self):
        return 0

    def offset(self):
        return self.number


class Consumer:
    def __init__(self, settings):
        with open(f"{FOLDER}/input", "rb") as file:
            self.messages = [Message(number, text) for number, text in enumerate(file.read().splitlines())]
        self.taken = open(f"{FOLDER}/taken", "ab", buffering=0)

    def subscribe(self, topics):
        pass

    def consume(self, count, timeout):
        first, self.messages = self.messages[:count], self.messages[count:]
        if not first:
            time.sleep(timeout)
        if any(b'{"broken": true}' in message.value() for message in first):
            raise KafkaException("the broker has gone")
        self.taken.write(b"." * len(first))
        return first

    def assignment(self):
        return [TopicPartition("stream", 0)]

    def commit(self, offsets, asynchronous):
        for place in offsets:
            log("done", place.offset - 1)

    def close(self):
        pass


class Producer:
    def __init__(self, settings):
        pass

    def produce(self, topic, value, key, headers, timestamp, on_delivery):
        fields = {name: text.decode() for name, text in headers} | {"line": value.decode()}
        log("write", topic, {name.removeprefix("pushcrypt-"): text for name, text in fields.items()})

    def flush(self):
        pass
