#!/usr/bin/python3
"""Shows a push on its way: sealed, sent to a local APNs that breaks the connection, and opened as a phone does.

Usage: demo.py PUSHCRYPT      pushcrypt-send lies beside it
"""
import json, os, subprocess, sys, tempfile, time

from cryptography.hazmat.primitives import serialization

from mock import Fault, Mock, QuickRules
from rules import Device

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(sys.argv[1])
TOPIC, TEAM, KEY = "com.example.app", "TEAM123456", "ABC123DEFG"
TOKEN, GONE = "1f" * 32, "2e" * 32
MESSAGES = [
    {"to": "phone1", "id": "table-17", "token": TOKEN, "collapse_id": "table-17",
     "payload": {"aps": {"alert": {"title": "Table for two", "body": "See you at 8"}, "sound": "default"}}},
    {"to": "phone2", "id": "table-18", "token": GONE, "payload": {"aps": {"alert": {"title": "Table for four", "body": "At 9"}}}},
]


def say(text):
    print(f"\n\033[1m{text}\033[0m\n" if sys.stdout.isatty() else f"\n{text}\n", flush=True)


def run(words, code=0):
    """Shows a command and what it writes; returns its output. It runs as shown, with PROGRAM as `pushcrypt`."""
    print(f"\033[36m$ {words}\033[0m" if sys.stdout.isatty() else f"$ {words}", flush=True)
    done = subprocess.run(["bash", "-c", f'set -o pipefail; pushcrypt() {{ "{PROGRAM}" "$@"; }}; {words}'], capture_output=True, text=True)
    for text in (done.stdout + done.stderr).splitlines():
        print(text if len(text) <= 300 else f"{text[:220]} … {text[-60:]}", flush=True)
    if done.returncode != code:
        sys.exit(f"the demonstration expected exit {code} here, not {done.returncode}")
    return done.stdout


def prepare():
    """Keys of provider, phones and the local APNs, in the current folder."""
    script = f"""set -e; pushcrypt() {{ "{PROGRAM}" "$@"; }}
    "{HERE}/../Senders/certificates.sh"; mv token.p8 AuthKey_{KEY}.p8; chmod 600 AuthKey_{KEY}.p8
    for store in provider phone gone; do pushcrypt --store $store init; done
    pushcrypt --store provider key new provider --topic {TOPIC} >provider.pub
    for store in phone gone; do pushcrypt --store $store key new device --topic {TOPIC} >$store.pub; done
    pushcrypt --store provider device add phone1 phone.pub; pushcrypt --store provider device add phone2 gone.pub
    pushcrypt --store phone provider pin provider.pub
    pushcrypt --store provider config key-file $PWD/AuthKey_{KEY}.p8; pushcrypt --store provider config team {TEAM}"""
    subprocess.run(["bash", "-c", script], check=True, capture_output=True)
    with open("messages", "w") as file:
        file.writelines(json.dumps(message) + "\n" for message in MESSAGES)


def story():
    with open(f"AuthKey_{KEY}.p8", "rb") as file:
        public = serialization.load_pem_private_key(file.read(), None).public_key()
    devices = {TOKEN: Device({TOPIC}, None), GONE: Device({TOPIC}, int(time.time() + 60) * 1000)}
    rules = QuickRules(devices, {KEY: (TEAM, public, {TOPIC})})

    def fault(number, request):
        return Fault("lost") if TOKEN in request.path and not mock.taken else None

    with Mock(rules, "service.pem", "service.key", fault=fault) as mock:
        say("1. Two messages, as the provider writes them:")
        run("cat messages")
        say("2. Sealed for each phone, and sent to a local APNs. It takes the first one, and breaks the connection instead of answering;\n"
            "   nobody knows then whether the phone rings, so it is sent again. The second app is gone from its phone:")
        server = f"--host localhost:{mock.port} --ca-file authority.pem"
        run("pushcrypt --store provider seal --batch --emit request messages |\n"
            f"    pushcrypt --store provider send {server} > answers; cat answers", code=0)
        say("3. What APNs got: addresses and times, and nothing to read. The first message came twice:")
        for number, request in enumerate(mock.taken, 1):
            headers = dict(request.headers)
            print(f"POST {request.path[:24]}…  topic {headers['apns-topic']}  collapse id {headers.get('apns-collapse-id')}")
            with open(f"push{number}.json", "wb") as file:
                file.write(request.body)
        run("cat push1.json")
        if len(mock.taken) != 2:
            sys.exit("the demonstration expected two copies")
    say("4. The phone gets both copies. It rings for the first; the second is `passive`, which makes no sound and lights no screen:")
    first = run("pushcrypt --store phone open push1.json")
    second = run("pushcrypt --store phone open push2.json")
    if json.loads(first)["passive"] or not json.loads(second)["passive"]:
        sys.exit("the phone does not ring exactly once")
    say("5. The answer 410 removes the device that is gone; nothing more is sealed for it:")
    run("pushcrypt --store provider device remove --from-apns-410 answers")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        story()


if __name__ == "__main__":
    main()
