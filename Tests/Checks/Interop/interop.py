"""What crosses languages: messages and files between the packages and the product, both ways.

    interop.py              everything; COUNT, SEED and LANGUAGES in the environment change what is run
    interop.py run LANGUAGE (called by the first form) the messages of one language
    interop.py ask LANGUAGE one driver by hand: questions on standard input, answers on standard output
"""
import concurrent.futures
import os
import random
import resource
import shutil
import subprocess
import sys
import time

import files
import messages
import world
from drivers import BUILT, COMMANDS, ROOT, Driver, Failure, options

# The slowest first, so that two at a time end together.
LANGUAGES = ("java", "javascript", "python", "go")


def failed(language, what, question, found):
    """A failure with the question in a file, from which it can be asked again."""
    path = os.path.join(BUILT, f"failed-{language}.txt")
    with open(path, "w") as file:
        file.write(question + "\n")
    return Failure(f"{language}: {what}: {' '.join(found)[:500]}; ask again: Tests/Checks/Interop/run.sh ask {language} < {path}")


def open_all(driver, made, records):
    """The receiver opens what the product sealed, and refuses what was corrupted."""
    questions = []
    for record in records:
        situation = f"{made.devices[record['device']]['topic']} {made.ring(record['device'])}"
        situation += f" {made.trusts(record['provider'])[record['trust']]} {record['push-type']} {made.time}"
        questions += [f"push {situation} {record[name].encode().hex()}" for name in ("push", "corrupted") if name in record]
    answers, asked = iter(driver.ask(questions)), iter(questions)
    corrupted = 0
    for record in records:
        answer, question, provider = next(answers), next(asked), made.providers[record["provider"]]
        if answer[:2] != ["opened", record["compact"].encode().hex()]:
            raise failed(driver.language, "a message of pushcrypt", question, answer)
        expected = [str(messages.sealed_life(record, int(answer[3]))), provider["public"], str(provider["epoch"]), provider["learned"], "-"]
        named = record["id"] is None or answer[2] == world.message_id(messages.name_of(record["id"]))
        if answer[4:] != expected or not named:
            raise failed(driver.language, "what is said of a message of pushcrypt", question, answer)
        if "corrupted" in record:
            answer, question, corrupted = next(answers), next(asked), corrupted + 1
            if answer != ["refused", record["code"]]:
                raise failed(driver.language, f"a corrupted message, {record['code']} to pushcrypt", question, answer)
    return corrupted


def question_to_seal(device, provider, record, sent_at, name):
    wanted = {part: [record[part]] for part in ("push-type", "title", "sound")} | {"time-to-live": [str(record["ttl"])]}
    wanted |= {"id": [name] if name else []}
    return (
        f"message {device['topic']} {device['public']} {provider['secret']} {sent_at} {record['spaced'].encode().hex()}"
        f"{options(wanted)}"
    )


def seal_all(driver, made, records, some):
    """The product opens what the receiver sealed, and refuses what was corrupted, with the receiver's own code."""
    questions, sent = [], []
    for record in records:
        device, provider = made.devices[record["device"]], made.providers[record["provider"]]
        sent_at = world.now() + some.randrange(-1000 * (record["ttl"] - 3600), 72_000_000)
        name = f"{some.getrandbits(128):032x}" if some.random() < 0.5 else None
        questions.append(question_to_seal(device, provider, record, sent_at, name))
        sent.append((sent_at, messages.sealed_life(record, sent_at), name and world.message_id(name)))
    lines, corrupted, again = [[] for _ in range(world.DEVICES)], {}, []
    for number, (record, question, answer) in enumerate(zip(records, questions, driver.ask(questions))):
        if answer[0] != "sealed":
            raise failed(driver.language, "a payload to seal", question, answer)
        push, device = bytes.fromhex(answer[1]).decode(), record["device"]
        lines[device].append((record["push-type"], world.line_to_open(push, number)))
        if number % world.CORRUPTED == 0:
            other = world.corrupted_push(push, some)
            lines[device].append((record["push-type"], world.line_to_open(other, len(records) + number)))
            situation = f"{made.devices[device]['topic']} {made.ring(device)} {made.trusts(record['provider'])[1]} {record['push-type']} {made.time}"
            again.append(f"push {situation} {other.encode().hex()}")
            corrupted[number] = len(again) - 1
    own_codes = driver.ask(again)
    for device in range(world.DEVICES):
        for number, line in made.open_with_pushcrypt(device, lines[device]).items():
            if number >= len(records):
                answer = own_codes[corrupted[number - len(records)]]
                if answer != ["refused", str(world.code_of(line))]:
                    raise failed(driver.language, f"{line[:200]} of pushcrypt, for", again[corrupted[number - len(records)]], answer)
                continue
            record, (sent_at, life, message_id) = records[number], sent[number]
            provider, expires_at = made.providers[record["provider"]], sent_at + 1000 * life
            # With the certificate, if that is news to the phone.
            told = [f'"provider":"{provider["public"]}","epoch":{provider["epoch"]},{news}' for news in ("", provider["news"])]
            said = [f'{one}"sent_at":{sent_at},"expires_at":{expires_at},' for one in told]
            named = message_id is None or f'"message_id":"{message_id}"' in line
            if f',"payload":{record["shown"]},"message_id":"' not in line or not any(one in line for one in said) or not named:
                raise failed(driver.language, "pushcrypt opens another message", questions[number], [line])
    return len(corrupted)


def run_language(language):
    start = time.monotonic()
    driver, made = Driver(language), world.World()
    opened = sealed = corrupted = 0
    for first, records in made.chunks():
        corrupted += open_all(driver, made, records)
        opened += len(records)
        corrupted += seal_all(driver, made, records, random.Random(f"{language} {made.seed} {first}"))
        sealed += len(records)
        print(f"{language}: {opened} of {made.count} in both directions", file=sys.stderr, flush=True)
    sealed_files = files.run(driver, made.seed)
    driver.end()
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = round(sum(used.ru_utime + used.ru_stime for used in usage))
    seconds = round(time.monotonic() - start)
    return (
        f"figure: interop-{language} opened={opened} sealed={sealed} corrupted={corrupted} files={sealed_files} seconds={seconds}"
        f" processor-seconds={processor}"
    )


def languages():
    return os.environ.get("LANGUAGES", " ".join(LANGUAGES)).split()


def run_all():
    count, seed = int(os.environ.get("COUNT", 100_000)), os.environ.get("SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"interop: {count} messages each way, SEED={seed}", flush=True)
    shutil.rmtree(world.FOLDER, ignore_errors=True)
    start = time.monotonic()
    world.make(seed, count)
    files.make(seed)
    print(f"interop: pushcrypt has sealed them after {round(time.monotonic() - start)} seconds", flush=True)

    def run(language):
        return subprocess.run([sys.executable, "-B", __file__, "run", language], stdout=subprocess.PIPE, text=True)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, languages()))
    shutil.rmtree(world.FOLDER)
    for done in runs:
        print(done.stdout, end="", flush=True)
    if any(done.returncode for done in runs):
        raise Failure("a receiver does not agree with the format or the product: see above")


def main():
    if sys.argv[1:2] == ["run"]:
        print(run_language(sys.argv[2]))
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
