"""Workers process a Redis stream of events and are killed; every phone shows every message once."""
import json, os, random, subprocess, sys, threading
import redis
from scene import BROKEN, TO_USER, Phones, Provider, Workers, event, expect, figure, main, moments, wait

EVENTS, KILLS = int(os.environ.get("EVENTS", 100_000)), int(os.environ.get("KILLS", 50))
FOLDER, PROGRAM, WORKER = sys.argv[1:]
SOCKET = os.path.join(FOLDER, "redis.sock")


def read(server, phones, refused, finished):
    """Passes every sealed entry to the phones, until the end of the streams after `finished`."""
    places = {"sealed": "0", "refused": "0"}
    while True:
        over = finished.is_set()
        answer = server.xread(places, count=500, block=500)
        for stream, entries in answer:
            for entry, fields in entries:
                if stream == b"sealed":
                    phones.deliver(fields[b"line"])
                else:
                    refused.append(json.loads(fields[b"answer"]))
                places[stream.decode()] = entry
        if over and not answer:
            return


def run(server):
    provider = Provider(FOLDER, PROGRAM)
    broken = dict(zip(random.sample(range(EVENTS), len(BROKEN) + 1), (*BROKEN, TO_USER)))
    feed = server.pipeline(transaction=False)
    for number in range(EVENTS):
        if number in broken:
            feed.xadd("pushes", {"line": broken[number][0]})
        feed.xadd("pushes", {"line": event(number)})
        if number % 1000 == 999:
            feed.execute()
    feed.execute()

    phones, refused, finished = Phones(provider), [], threading.Event()
    reading = threading.Thread(target=read, args=(server, phones, refused, finished), daemon=True)
    reading.start()
    commands = [
        [sys.executable, WORKER, "redis", "--url", f"unix://{SOCKET}", "--from", "pushes", "--to", "sealed", "--refused", "refused",
            "--name", f"worker{number}", "--idle", "2", "--", *provider.sealer("--jobs", "1")]
        for number in range(3)]
    workers = Workers(commands, os.path.join(FOLDER, "workers.log"))
    try:
        workers.kill_at(moments(EVENTS, KILLS), lambda: phones.arrived[0])
        wait(lambda: workers.kills == KILLS, "every kill has happened", [reading])
        wait(lambda: len(phones.copies) == EVENTS, "every event has arrived", [reading])
        wait(lambda: len({line["error"]["message"] for line in refused}) == len(broken), "what is broken was refused", [reading])
        workers.stop()
    finally:
        workers.end()
    finished.set()
    reading.join()
    copies = phones.check(EVENTS)
    expect("codes of what is broken", {line["error"]["code"] for line in refused}, {code for _, code in BROKEN})
    expect("entries that wait", server.xlen("pushes"), 0)
    expect("entries that a worker has taken", server.xpending("pushes", "sealers")["pending"], 0)

    figure("redis", messages=EVENTS, kills=KILLS, a_second=phones.rate(), copies=copies - EVENTS, refused=len(refused))


def test():
    process = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", SOCKET, "--save", "", "--appendonly", "no", "--dir", FOLDER],
        stdout=subprocess.DEVNULL)
    try:
        wait(lambda: os.path.exists(SOCKET), "the server listens", seconds=60)
        run(redis.Redis(unix_socket_path=SOCKET))
    finally:
        process.terminate()
        process.wait()


main(test)
