#!/usr/bin/env python3
"""Messages and files that the packages seal and the product opens.

    interop.py              everything; COUNT, SEED and LANGUAGES in the environment change what is run
    interop.py run LANGUAGE COUNT SEED  (called by the first form) the messages of one language
    interop.py ask LANGUAGE one driver by hand: questions on standard input, answers on standard output
"""
import base64
import concurrent.futures
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time

import messages
import world
from drivers import BUILT, COMMANDS, ROOT, Driver, Failure, options

# The slowest first, so that two at a time end together.
LANGUAGES = ("java", "javascript", "python", "go")
# The number of messages sealed, and opened, at a time.
CHUNK = 10_000
FILE_CHUNK = 65_536
# The worked example's.
PROVIDER_SECRET = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ"
SIZES = (0, 1, 15, 16, 17, FILE_CHUNK - 1, FILE_CHUNK, FILE_CHUNK + 1, 2 * FILE_CHUNK, 2 * FILE_CHUNK + 1)
RANDOM_SIZES = 10


def failed(language, what, question, found):
    """A failure with the question in a file, from which it can be asked again."""
    path = os.path.join(BUILT, f"failed-{language}.txt")
    with open(path, "w") as file:
        file.write(question + "\n")
    return Failure(f"{language}: {what}: {' '.join(found)[:500]}; ask again: Tests/Checks/Interop/interop.py ask {language} < {path}")


class Sending:
    """A random message from a provider to a phone, and what the product must say of it."""

    def __init__(self, made, payloads, some):
        number = some.choice((0, 1, 2) * 3 + (3, 4, 5))
        self.provider, self.device = made.providers[number], some.randrange(number % len(world.TOPICS), world.DEVICES, len(world.TOPICS))
        self.message = payloads.message(world.ROTATIONS[number] > 0)
        self.sent_at = world.now() + some.randrange(-1000 * min(self.message["ttl"] - 3600, 72_000), 72_000_000)
        self.name = f"{some.getrandbits(128):032x}" if some.random() < 0.5 else None

    def question(self, device):
        message = self.message
        wanted = {part: [message[part]] for part in ("push-type", "title", "sound")} | {"time-to-live": [str(message["ttl"])]}
        wanted |= {"id": [self.name] if self.name else []}
        payload = message["spaced"].encode().hex()
        return f"message {device['topic']} {device['public']} {self.provider['secret']} {self.sent_at} {payload}{options(wanted)}"

    def is_opened(self, line):
        """Whether the product's answer has the payload, the message id, the provider and the times."""
        provider, expires_at = self.provider, self.sent_at + 1000 * messages.sealed_life(self.message, self.sent_at)
        # With the certificate, if that is news to the phone.
        told = [f'"provider":"{provider["public"]}","epoch":{provider["epoch"]},{news}' for news in ("", provider["news"])]
        is_said = any(f'{one}"sent_at":{self.sent_at},"expires_at":{expires_at},' in line for one in told)
        is_named = self.name is None or f'"message_id":"{world.message_id(self.name)}"' in line
        return is_said and is_named and f',"payload":{self.message["shown"]},"message_id":"' in line


def seal_all(driver, made, sendings):
    """The product opens what the package sealed."""
    questions, lines = [one.question(made.devices[one.device]) for one in sendings], [[] for _ in range(world.DEVICES)]
    for number, (one, question, answer) in enumerate(zip(sendings, questions, driver.ask(questions))):
        if answer[0] != "sealed":
            raise failed(driver.language, "a payload to seal", question, answer)
        lines[one.device].append((one.message["push-type"], f'{{"payload":{bytes.fromhex(answer[1]).decode()},"n":{number}}}\n'))
    for device in range(world.DEVICES):
        for number, line in made.open(device, lines[device]).items():
            if not sendings[number].is_opened(line):
                raise failed(driver.language, "pushcrypt opens another message", questions[number], [line])


# MARK: Files


def seal_files(driver, seed):
    """The number of files."""
    some = random.Random(f"files {driver.language} {seed}")
    sizes = [*SIZES, *(some.randrange(3 * FILE_CHUNK) for _ in range(RANDOM_SIZES))]
    for size in sizes:
        check_file(driver, some.randbytes(size))
    return len(sizes)


def check_file(driver, plain):
    answer = driver.ask([f"sealfile {PROVIDER_SECRET} {plain.hex() or '-'}"])[0]
    if answer[0] != "sealed":
        raise Failure(f"{driver.language}: a file of {len(plain)} bytes to seal: {answer}")
    key, sealed = bytes.fromhex(answer[1]), bytes.fromhex(answer[2])
    sha256 = hashlib.sha256(sealed).digest()
    reference = {"size": len(sealed), "type": "public.data", "name": "a", "key": text(key), "sha256": text(sha256)}
    paths = {part: os.path.join(world.FOLDER, f"{driver.language}-{part}") for part in ("sealed", "reference", "opened")}
    with open(paths["sealed"], "wb") as file:
        file.write(sealed)
    with open(os.open(paths["reference"], os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        json.dump(reference, file)
    world.pushcrypt("attach", "open", paths["sealed"], "--reference", paths["reference"], "-o", paths["opened"])
    with open(paths["opened"], "rb") as file:
        if file.read() != plain:
            raise Failure(f"{driver.language}: pushcrypt opens another file of {len(plain)} bytes than was sealed, key {key.hex()}")
    os.remove(paths["opened"])


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# MARK: All of it


def run_language(language, count, seed):
    start = time.monotonic()
    driver, made = Driver(language), world.World()
    payloads, some = messages.Payloads(f"payloads {language} {seed}"), random.Random(f"{language} {seed}")
    for first in range(0, count, CHUNK):
        seal_all(driver, made, [Sending(made, payloads, some) for _ in range(min(CHUNK, count - first))])
        print(f"{language}: {min(first + CHUNK, count)} of {count}", file=sys.stderr, flush=True)
    sealed_files = seal_files(driver, seed)
    driver.end()
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = round(sum(used.ru_utime + used.ru_stime for used in usage))
    seconds = round(time.monotonic() - start)
    return f"figure: interop-{language} sealed={count} files={sealed_files} seconds={seconds} processor-seconds={processor}"


def languages():
    return os.environ.get("LANGUAGES", " ".join(LANGUAGES)).split()


def run_all():
    count, seed = os.environ.get("COUNT", "100000"), os.environ.get("SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"interop: {count} messages of each package, SEED={seed}", flush=True)
    shutil.rmtree(world.FOLDER, ignore_errors=True)
    world.make()

    def run(language):
        return subprocess.run([sys.executable, "-B", __file__, "run", language, count, seed], stdout=subprocess.PIPE, text=True)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, languages()))
    shutil.rmtree(world.FOLDER)
    for done in runs:
        print(done.stdout, end="", flush=True)
    if any(done.returncode for done in runs):
        raise Failure("a package seals what the product does not open: see above")


def main():
    if sys.argv[1:2] == ["run"]:
        print(run_language(sys.argv[2], int(sys.argv[3]), sys.argv[4]))
    elif sys.argv[1:2] == ["ask"]:
        os.chdir(ROOT)
        command = COMMANDS[sys.argv[2]]
        os.execvp(command[0], command)
    else:
        run_all()


try:
    main()
except Failure as failure:
    sys.exit(f"interop: {failure}")
