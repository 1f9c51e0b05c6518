#!/usr/bin/env python3
"""Seals the entries of one Redis stream and writes them to another; a second worker sends these, and writes APNs' answers.

The output and the acknowledgement are one transaction, so a crash loses nothing. Another worker takes over the entries
of a dead one and seals them under the same message id: a phone shows each once. A refused entry goes to a third stream as
it was, with the fields `answer`, the reason, and `place`. All others have one field, `line`. All workers on a stream use
the same group and different names.

    redis_worker.py --url redis://localhost --from pushes --to sealed --refused refused --name worker1 \
        -- pushcrypt seal --batch --emit request --topic com.example.app
    redis_worker.py --url redis://localhost --from sealed --to answers --refused unsent --name sender1 \
        -- pushcrypt send --in-order --retry-for 2m --key AuthKey_ABC123DEFG.p8 --team TEAM123456
    redis_worker.py --url redis://localhost --from refused --to pushes --refused refused --name replay \
        -- cat                                                                           replays refused lines
"""
import argparse, collections, contextlib, json, os, signal, subprocess, sys, threading, time
import redis

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name, text in ("url", "of the server; its password is in REDIS_PASSWORD"), ("from", "stream"), ("to", "stream"), ("refused", "stream"), ("name", "of this worker"):
    parser.add_argument(f"--{name}", required=True, help=text)
parser.add_argument("--idle", type=float, help="seconds after which a worker that says nothing is dead (30, with send 300)")
parser.add_argument("command", nargs="+")
options = vars(parser.parse_args())
sends = "send" in options["command"]
if sends and "--in-order" not in options["command"]:
    parser.error("answers are paired with entries by order: add --in-order to send")
# Otherwise what a sender tries again would be sent by others too.
options["idle"] = options["idle"] or (300 if sends else 30)
# `ps` would show a password in the URL.
server = redis.Redis.from_url(options["url"], password=os.environ.get("REDIS_PASSWORD"))
source, group = options["from"], "sealers"

stopping, asked, sealer = threading.Event(), threading.Event(), None


def stop(*_):
    asked.set()
    stopping.set()
    if sends and sealer:
        sealer.terminate()  # At the end of its input alone it would continue to try what APNs delays.


for number in signal.SIGTERM, signal.SIGINT:
    signal.signal(number, stop)

# In a separate session, so that Control-C does not reach it: it ends when its input does. Large pipe buffers let it
# continue while the server acknowledges.
sealer = subprocess.Popen(
    options["command"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pipesize=1 << 20, start_new_session=True)
pending = collections.deque()  # The entries passed to the sealer or sender, in the order of its answers.


def line(entry, fields):
    """One line for the sealer: the entry, with an id that stays the same when it is delivered again."""
    value = fields.get(b"line", b"").strip().replace(b"\n", b" ")  # JSON has line breaks only between tokens.
    try:
        members = json.loads(value)
        if value.startswith(b"{") and members:
            if "id" not in members:
                value = b'{"id":%s,' % json.dumps(f"{source}/{entry.decode()}").encode() + value[1:]
            if "to-user" in members:  # Would be answered once for each device; this makes it fail.
                value = b'{"to":null,' + value[1:]
    except (ValueError, RecursionError):
        pass  # The sealer reports the error.
    return (value or b"null") + b"\n"


def forward():
    """Writes answers. Each round is one transaction with those that arrived during the previous round."""
    rest, is_over = b"", False
    while chunk := os.read(sealer.stdout.fileno(), 1 << 20):
        transaction = server.pipeline(transaction=True)
        *answers, rest = (rest + chunk).split(b"\n")
        for answer in answers:
            is_refused = answer.startswith(b'{"error":')
            # The sender has stopped: this entry and those after it stay pending, and are claimed again.
            is_over = is_over or (is_refused and json.loads(answer)["error"]["code"] == "not-sent")
            if is_over:
                stopping.set()
                continue
            entry, given = pending.popleft()
            if is_refused:
                place = f"{source}/{entry.decode()}"
                transaction.xadd(options["refused"], {"line": given, "answer": answer, "place": place})
            else:
                transaction.xadd(options["to"], {"line": answer})
            transaction.xack(source, group, entry)
            transaction.xdel(source, entry)
        transaction.execute()


def run_forward():
    try:
        forward()
    except BaseException:
        sealer.kill()  # It would wait for a reader, and its writer for the sealer.
        raise
    finally:
        stopping.set()


def take(start):
    """Yields entries of dead workers first, one round every `idle` seconds; then new ones."""
    if start is not None:
        start, entries, _ = server.xautoclaim(source, group, options["name"], int(options["idle"] * 1000), start, count=500)
        return (None if start == b"0-0" else start), entries
    answer = server.xreadgroup(group, options["name"], {source: ">"}, count=500, block=200)
    return None, answer[0][1] if answer else []


try:
    server.xgroup_create(source, group, id="0", mkstream=True)
except redis.ResponseError as error:
    if not str(error).startswith("BUSYGROUP"):
        raise
forwarding = threading.Thread(target=run_forward)
forwarding.start()
claimed, start = 0, None
try:
    while not stopping.is_set():
        if start is None and time.monotonic() - claimed > options["idle"]:
            claimed, start = time.monotonic(), b"0-0"
        start, entries = take(start)
        for entry, fields in entries:
            pending.append((entry, fields.get(b"line", b"")))
            sealer.stdin.write(line(entry, fields))
        sealer.stdin.flush()
    sealer.stdin.close()
except BrokenPipeError:
    with contextlib.suppress(BrokenPipeError):  # The sealer has ended; its exit code gives the reason.
        sealer.stdin.close()
except BaseException:
    sealer.kill()  # The other thread would wait for it, and this process for that thread.
    raise
forwarding.join()
# 1 means that lines were refused; they are answered. 64 is a wrong set-up, for which no restart helps. Pending entries will be
# claimed.
code = sealer.wait()
sys.exit(64 if code == 64 else 0 if code in (0, 1) and (asked.is_set() or not pending) else 1)
