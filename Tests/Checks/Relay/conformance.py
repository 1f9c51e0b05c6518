#!/usr/bin/python3
"""Whether a relay follows Docs/Relay.md.

    conformance.py URL TOPIC FOLDER PORT [ORIGIN]

URL is the relay, ORIGIN what it calls itself if that differs. It has to post to the local APNs that this program runs at PORT, with the
credentials that it writes to FOLDER (Tests/Checks/Send/README.md), have the default limits, and offer `alert`, and best `background`, with the sound
`default`. relay_test.py runs the same rules against the relay of this project, and others that need its files and its process.
"""
import inspect, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Send")]
import apns_rules, limit_rules, message_rules, request_rules  # noqa: E402, F401
from client import Client  # noqa: E402
from suite import Apns, World, report, rules, run  # noqa: E402, F401


def main():
    from serve import serve

    if len(sys.argv) not in (5, 6):
        sys.exit(inspect.getdoc(sys.modules[__name__]))
    url, topic, folder, port, *origin = sys.argv[1:]
    with serve(folder, [topic], port=int(port)) as mock:
        mock.taken = []
        client = Client(url, *(origin or [url.rstrip("/")]), topic)
        sys.exit(not report(url, *run(World(client, Apns(mock)))))


if __name__ == "__main__":
    main()
