"""As much of a server of Redis as queue_worker.py needs: a stream of the lines of a file, each delivered once; the line
{"broken": true} breaks the connection. In the folder STUB: `input`; `log`, with a line of JSON for each command.
"""
import json, os, time

FOLDER = os.environ["STUB"]


class ResponseError(Exception):
    pass


class Redis:
    @classmethod
    def from_url(cls, url, password):
        return cls()

    def __init__(self):
        with open(f"{FOLDER}/input", "rb") as file:
            self.lines = list(enumerate(file.read().splitlines()))

    def xgroup_create(self, *_, **__):
        pass

    def xautoclaim(self, *_, **__):
        return b"0-0", [], []

    def xreadgroup(self, group, name, streams, count, block):
        first, self.lines = self.lines[:count], self.lines[count:]
        if not first:
            time.sleep(block / 1000)
            return []
        if b'{"broken": true}' in first[0]:
            raise ConnectionError("the server has gone")
        return [[b"stream", [(b"%d-0" % number, {b"line": text}) for number, text in first]]]

    def pipeline(self, transaction):
        return Pipeline()


class Pipeline:
    def __init__(self):
        self.commands = []

    def xadd(self, stream, fields):
        written = {name: value if isinstance(value, str) else value.decode() for name, value in fields.items()}
        self.commands.append(["write", stream, written])

    def xack(self, stream, group, entry):
        self.commands.append(["done", int(entry.split(b"-")[0])])

    def xdel(self, *_):
        pass

    def execute(self):
        with open(f"{FOLDER}/log", "a", encoding="utf-8") as file:
            file.write("".join(json.dumps(command) + "\n" for command in self.commands))
