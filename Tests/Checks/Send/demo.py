#!/usr/bin/python3
"""Shows a push on its way: sealed, sent to a local APNs that breaks the connection, and opened as a phone does.

Usage: demo.py PUSHCRYPT      pushcrypt-send lies beside it
"""
import json, os, subprocess, sys, tempfile

from serve import KEY, TEAM, serve

PROGRAM = os.path.abspath(sys.argv[1])
TOPIC = "com.example.app"
TOKEN, GONE = "1f" * 32, "2e" * 32
MESSAGES = [
    {"to": "phone1", "id": "table-17", "token": TOKEN, "collapse_id": "table-17",
     "payload": {"aps": {"alert": {"title": "Table for two", "body": "See you at 8"}, "sound": "default"}}},
    {"to": "phone2", "id": "table-18", "token": GONE,
     "payload": {"aps": {"alert": {"title": "Table for four", "body": "At 9"}}}},
]


def say(text):
    print(f"\n\033[1m{text}\033[0m\n" if sys.stdout.isatty() else f"\n{text}\n", flush=True)


def run(words):
    """Shows a command and what it writes; returns its output. It runs as shown, with PROGRAM as `pushcrypt`."""
    print(f"\033[36m$ {words}\033[0m" if sys.stdout.isatty() else f"$ {words}", flush=True)
    script = f'set -o pipefail; pushcrypt() {{ "{PROGRAM}" "$@"; }}; {words}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    for text in (done.stdout + done.stderr).splitlines():
        print(text if len(text) <= 300 else f"{text[:220]} … {text[-60:]}", flush=True)
    if done.returncode:
        sys.exit(f"the demonstration did not expect exit {done.returncode}")
    return done.stdout


def prepare():
    """Keys of provider and phones, in the current folder."""
    script = f"""set -e; pushcrypt() {{ "{PROGRAM}" "$@"; }}
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
    with serve(".", [TOPIC], gone=[GONE], faults=["lost@1"], streams=1) as mock:
        say("1. Two messages, as the provider writes them:")
        run("cat messages")
        say("2. Sealed for each phone, and sent to a local APNs. It takes the first, and breaks the connection instead\n"
            "   of answering; nobody knows whether the phone rings, so it is sent again. The second app is gone:")
        server = f"--host localhost:{mock.port} --ca-file authority.pem"
        run("pushcrypt --store provider seal --batch --emit request messages |\n"
            f"    pushcrypt --store provider send {server} > answers; cat answers")
        say("3. What APNs got: addresses and times, and nothing to read. The first message came twice:")
        for number, request in enumerate(mock.taken, 1):
            headers = dict(request.headers)
            topic, name = headers["apns-topic"], headers.get("apns-collapse-id")
            print(f"POST {request.path[:24]}…  topic {topic}  collapse id {name}")
            with open(f"push{number}.json", "wb") as file:
                file.write(request.body)
        run("cat push1.json")
        if len(mock.taken) != 2:
            sys.exit("the demonstration expected two copies")
    say("4. The phone gets both copies. It rings for the first; the second is `passive`, which makes no sound and\n"
        "   lights no screen:")
    first = run("pushcrypt --store phone open push1.json")
    second = run("pushcrypt --store phone open push2.json")
    if json.loads(first)["passive"] or not json.loads(second)["passive"]:
        sys.exit("the phone does not ring exactly once")
    say("5. The answer 410 removes the device that is gone; nothing more is sealed for it:")
    run("pushcrypt --store provider device remove --from-apns-410 answers")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    prepare()
    story()
