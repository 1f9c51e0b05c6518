#!/usr/bin/env python3
"""A signer for `pushcrypt seal --signer unix:PATH` (Docs/SignerProtocol.md), with faults to switch on for tests.

usage: signer.py SOCKET SEED-FILE [--delay MILLISECONDS] [--every MILLISECONDS] [--together N]
                 [--record FILE] [--certificates]
                 [--fault wrong|twice|stranger|refuse|silent|truncate|gone|garbage --after N]

SEED-FILE contains the 32 bytes of an Ed25519 seed. Each answer is delayed; with --every, answers follow one another at
this interval; with --together, messages wait until there are N. A fault begins with the message after the first N. --record appends what is signed to a file, one
hexadecimal line each. It signs messages and the hedge seed, with --certificates certificates alone.
"""
import argparse, asyncio, os, struct
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

options = argparse.ArgumentParser()
options.add_argument("socket")
options.add_argument("seed")
options.add_argument("--delay", type=int, default=0)
options.add_argument("--every", type=int, default=0)
options.add_argument("--together", type=int, default=1)
options.add_argument("--record")
options.add_argument("--certificates", action="store_true")
options.add_argument("--fault", default="")
options.add_argument("--after", type=int, default=0)
options = options.parse_args()
key = Ed25519PrivateKey.from_private_bytes(open(options.seed, "rb").read())
public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
signed = 0
due = 0.0
waiting = []


def may_sign(kind, body):
    """Whether the bytes are what a signer of this kind signs (Docs/SignerProtocol.md)."""
    if kind == 2 and body == b"pushcrypt/1 hedge seed\0":
        return not options.certificates
    if (kind == 3) != options.certificates:
        return False
    label, key, topic, rest = (b"pushcrypt/1 certificate\0", 24, 56, 115) if kind == 3 else (b"pushcrypt/1 signature\0", 123, 159, 193)
    count = int.from_bytes(body[topic : topic + 2], "big")
    return body.startswith(label) and body[key : key + 32] == public and 1 <= count <= 255 and len(body) == rest + count


class Client(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.input = transport, b""

    def data_received(self, data):
        self.input += data
        while len(self.input) >= 4 and len(self.input) >= 4 + (n := int.from_bytes(self.input[:4], "big")):
            frame, self.input = self.input[4 : 4 + n], self.input[4 + n :]
            if options.delay or options.every:
                self.answer_later(frame)
            elif frame[4] == 1:
                self.answer(frame)
            else:
                self.answer_together(frame)

    def answer_together(self, frame):
        waiting.append((self, frame))
        if len(waiting) >= options.together:
            for client, frame in waiting:
                client.answer(frame)
            waiting.clear()

    def answer_later(self, frame):
        global due
        loop = asyncio.get_running_loop()
        due = max(due, loop.time()) + options.every / 1000
        loop.call_at(due + options.delay / 1000, self.answer, frame)

    def answer(self, frame):
        global signed
        if self.transport.is_closing():
            return
        number, kind, body = frame[:4], frame[4], frame[5:]
        if kind == 1:
            good = body == b"pushcrypt-signer/1"
            return self.reply(number, *((0, public) if good else (1, b"another protocol")))
        if not may_sign(kind, body):
            return self.reply(number, 1, b"not what this key signs")
        signed += 1
        if options.record:
            with open(options.record, "a") as record:
                print(body.hex(), file=record)
        fault = options.fault if signed > options.after else ""
        if fault == "refuse":
            self.reply(number, 1, b"the key is disabled")
        elif fault == "garbage":
            self.transport.write(struct.pack(">I", 1 << 31))
        elif fault == "truncate":
            self.transport.write(struct.pack(">I", 69) + number + b"\0" + bytes(10))
            self.transport.close()
        elif fault == "gone":
            os._exit(0)
        elif fault != "silent":
            signature = key.sign(body)
            self.reply(number, 0, signature[::-1] if fault == "wrong" else signature)
            if fault == "twice":
                self.reply(number, 0, signature)
            elif fault == "stranger":
                self.reply(bytes(byte ^ 0x55 for byte in number), 0, signature)

    def reply(self, number, status, body):
        self.transport.write(struct.pack(">I", 5 + len(body)) + number + bytes([status]) + body)


async def main():
    if os.path.exists(options.socket):
        os.unlink(options.socket)
    server = await asyncio.get_running_loop().create_unix_server(Client, options.socket, backlog=256)
    await server.serve_forever()


asyncio.run(main())
