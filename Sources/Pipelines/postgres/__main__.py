"""A provider whose devices and pushes are in PostgreSQL. Any number of processes serve, send and replace the key at the same time."""
import argparse, asyncio, logging, pathlib, resource, signal, sys

import psycopg
from psycopg_pool import AsyncConnectionPool
from pushcrypt import PushcryptError

from sender import Sender
from store import Provider, Unavailable, log
from web import Server, for_phones, for_services

EPILOG = """
    init      makes the tables of an empty database, for the app TOPIC and the provider's public key (pushcrypt key new provider)
    request   makes a signing key, and prints a request for its certificate, which `pushcrypt key certify` answers where the provider key is
    install   replaces the signing key by the one that the answer in FILE is for
    serve     answers phones on --port, which your proxy passes on with the user of the session in x-user: POST and DELETE
              /devices/ID. On --inside-port, for your own services: POST /events, /health, /ready, /metrics
    send      runs COMMAND, such as `pushcrypt send --retry-for 10m --key AuthKey_ABC123DEFG.p8 --team TEAM123456`, and gives it what is
              sealed; --inside-port has health and metrics
    remove    ends a device, and what waits for it
    hand-over gives a phone to another user, who registers it again

Servers share --keys; or, after install, copy the new key file to each, and delete the old one there. Until then they seal with the old
key, for at most seven days, and not after a theft. The password of the database is in PGPASSWORD or ~/.pgpass, not in URL, which `ps` shows.

needs: pip install pushcrypt 'psycopg[binary,pool]' starlette uvicorn
"""
TIMEOUTS = "-c statement_timeout=20s -c lock_timeout=10s -c idle_in_transaction_session_timeout=10s"


def arguments():
    parser = argparse.ArgumentParser(prog="postgres", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", required=True, metavar="URL")
    parser.add_argument("--keys", required=True, metavar="FOLDER", type=pathlib.Path, help="the signing keys")
    kinds = parser.add_subparsers(dest="command", required=True)
    made = kinds.add_parser("init")
    made.add_argument("topic")
    made.add_argument("provider", help="pcs1…")
    request = kinds.add_parser("request")
    request.add_argument("--stolen", action="store_true", help="nothing that was signed before opens any more")
    request.add_argument("--expires-days", type=int, help="after which nobody believes the key; default never")
    kinds.add_parser("install").add_argument("file", metavar="FILE")
    serve, send = kinds.add_parser("serve"), kinds.add_parser("send")
    serve.add_argument("--port", type=int, default=8080)
    serve.add_argument("--drain", type=float, default=5, help="seconds from SIGTERM, when /ready says no, until the port closes")
    for kind in serve, send:
        kind.add_argument("--host", default="127.0.0.1")
        kind.add_argument("--inside-port", type=int, default=8081 if kind is serve else 8082)
        kind.add_argument("--keep-days", type=float, default=7, help="for how long answers are kept, and a repeated event adds nothing")
    send.add_argument("child", nargs="+", metavar="COMMAND")
    kinds.add_parser("remove").add_argument("device")
    handed = kinds.add_parser("hand-over")
    handed.add_argument("device")
    handed.add_argument("user")
    return parser.parse_args()


async def tidy(provider, days):
    while True:
        try:
            while await provider.tidy(days) >= 5000:
                pass
        except psycopg.Error as error:
            log.warning("not tidied: %s", error)
        await asyncio.sleep(60)


async def run(given, provider):
    """Serves or sends until SIGTERM, and then ends what is under way."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    asked, sender = asyncio.Event(), Sender(provider, given.database, given.child) if given.command == "send" else None
    for number in signal.SIGTERM, signal.SIGINT:
        asyncio.get_running_loop().add_signal_handler(number, asked.set)

    async def why_not_ready():
        if asked.is_set():
            return ["this process is ending"]
        return await (sender.why_not_ready() if sender else provider.why_not_ready(seals=True))

    servers = [Server(for_services(provider, why_not_ready, seals=not sender), given.host, given.inside_port)]
    if not sender:
        servers.append(Server(for_phones(provider), given.host, given.port))
    tasks = [asyncio.create_task(server.serve()) for server in servers]
    working = asyncio.create_task(sender.run() if sender else asyncio.Event().wait())
    tidying, stopped = asyncio.create_task(tidy(provider, given.keep_days)), asyncio.create_task(asked.wait())
    try:
        await asyncio.wait([*tasks, working, stopped], return_when=asyncio.FIRST_COMPLETED)
        if sender:
            if asked.is_set():
                sender.stop()
            return await working
        await asyncio.sleep(given.drain if asked.is_set() else 0)
        return 0 if asked.is_set() else 1
    finally:
        tidying.cancel()
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*tasks)


async def main(given):
    given.keys.mkdir(mode=0o700, exist_ok=True)
    size = {"min_size": 2, "max_size": 20} if given.command == "serve" else {"min_size": 1, "max_size": 4}
    # After an outage it tries again soon: a longer reconnect_timeout would let the pauses between attempts grow.
    pool = AsyncConnectionPool(
        given.database, kwargs={"autocommit": True, "options": TIMEOUTS, "connect_timeout": 5}, check=AsyncConnectionPool.check_connection,
        timeout=5, reconnect_timeout=4, open=False, **size)
    provider = Provider(pool, given.keys)
    async with pool:
        match given.command:
            case "init":
                await provider.init(given.topic, given.provider)
            case "request":
                print(await provider.request(given.stolen, given.expires_days and 86_400 * given.expires_days))
            case "install":
                epoch, seconds = await provider.install(pathlib.Path(given.file).read_text())
                print(f"epoch {epoch} signs, {1000 * seconds:.0f} ms after the lock was requested")
            case "remove" | "hand-over":
                if not await provider.end_device(given.device, lambda stored: True, getattr(given, "user", None)):
                    sys.exit(f"there is no device {given.device}")
            case _:
                return await run(given, provider)
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    try:
        sys.exit(asyncio.run(main(arguments())))
    except (PushcryptError, Unavailable, ValueError, OSError, psycopg.Error) as error:
        sys.exit(f"postgres: error: {error}")
