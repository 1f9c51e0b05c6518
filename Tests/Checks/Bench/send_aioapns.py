"""Sends the first lines of a file with aioapns: send_aioapns.py LINES PORT COUNT, in a folder with certificates."""
import asyncio, itertools, json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Senders"))
from clients import Aioapns, send_all  # noqa: E402


class Oldest:
    """nghttpd repeats no apns-id, by which the client knows what is answered: it is the oldest request."""

    def on_response_received(self, headers):
        super().on_response_received({**headers, b"apns-id": next(iter(self.requests), "").encode()})


async def main():
    name, port, count = sys.argv[1:]
    with open(name) as file:
        lines = [json.loads(text) for text in itertools.islice(file, int(count))]
    client = Aioapns(".", int(port), key=("ABC123DEFG", "token.p8"), topic="com.example.app")
    pool = client.client.pool
    pool.protocol_class = type("Oldest", (Oldest, pool.protocol_class), {})
    answers = await send_all(client, lines)
    await client.close()
    if any(answer.status != 200 for answer in answers):
        sys.exit("a message was not accepted")


asyncio.run(main())
