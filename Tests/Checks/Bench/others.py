"""Sends some of the file `lines` with another client, for send.py; prints the seconds and the CPU time of a message.

Usage: others.py aioapns|httpx PORT      with the Python environment of setup.sh senders
"""
import asyncio, glob, itertools, json, os, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Senders"))
import clients  # noqa: E402

COUNT = 1000


async def main(name, port):
    with open("lines") as file:
        lines = [json.loads(line) for line in itertools.islice(file, COUNT)]
    [path] = glob.glob("AuthKey_*.p8")
    key = (path[8:-3], path)
    client = clients.Aioapns(".", port, key=key, topic=lines[0]["topic"]) if name == "aioapns" else \
        clients.Httpx(".", port, clients.compact, key=key)
    await client.send(lines[0])  # aioapns does not wait for the window, which is small at first.
    start, used = time.perf_counter(), time.process_time()
    answers = await clients.send_all(client, lines)
    print((time.perf_counter() - start) / COUNT, (time.process_time() - used) / COUNT)
    assert all(answer.status == 200 for answer in answers)
    await client.close()


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
