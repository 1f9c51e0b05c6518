#!/usr/bin/env python3
"""Clients that send and never read, and one that does: key_signer.py answers it all the same."""
import importlib.util, os, socket, struct, sys, tempfile, threading, time

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Sources/Pipelines/key_signer.py")
spec = importlib.util.spec_from_file_location("key_signer", PATH)
key_signer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(key_signer)


class Service:
    public = bytes(range(32))

    def sign(self, messages):
        time.sleep(0.001)
        return [bytes(64) for _ in messages]


def frame(number):
    return struct.pack(">I", 5 + len(key_signer.HEDGE)) + struct.pack(">I", number) + b"\2" + key_signer.HEDGE


def flood(path, ended):
    """Sends requests until the signer closes the connection, and reads nothing."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    try:
        while True:
            client.sendall(b"".join(frame(number) for number in range(1000)))
    except OSError:
        ended.release()


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "signer.sock")
    key_signer.DEADLINE = 1
    server = key_signer.Server(path, Service(), 4, False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ended = threading.Semaphore(0)
    for _ in range(8):
        threading.Thread(target=flood, args=(path, ended), daemon=True).start()
    time.sleep(0.5)
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(5)
    client.connect(path)
    for number in range(3):
        start = time.monotonic()
        client.sendall(frame(number))
        answer = client.recv(100)
        if answer[4:8] != struct.pack(">I", number) or answer[8] != 0:
            sys.exit(f"crowd: error: the answer to request {number} is {answer.hex()}")
        if time.monotonic() - start > 1:
            sys.exit(f"crowd: error: request {number} took {time.monotonic() - start:.1f} s")
    # Who does not read is let go.
    for _ in range(8):
        if not ended.acquire(timeout=20):
            sys.exit("crowd: error: a client that reads nothing is still connected")
    # All of its threads are free again, and order and contents of many answers are as asked.
    client.sendall(b"".join(frame(number) for number in range(2000)))
    numbers, answers = [], b""
    while len(numbers) < 2000:
        answers += client.recv(1 << 16)
        while len(answers) >= 73:
            numbers.append(int.from_bytes(answers[4:8], "big"))
            answers = answers[73:]
    if sorted(numbers) != list(range(2000)):
        sys.exit("crowd: error: requests without an answer, or with two")
print("crowd: a client that reads is answered beside 8 that do not")
