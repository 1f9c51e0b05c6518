"""What is asked over HTTP: by phones on one port, by your own services and monitoring on another."""
import asyncio, base64, contextlib, json, re

import h11, uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from store import AGAIN, MOST_EVENTS, OPTIONS, REQUEST_OPTIONS, Unavailable, counts, fetch, log, repeated

LONGEST_RECORD, LONGEST_EVENTS = 8192, 1 << 20
# A client has this long, at most twice, to send a request.
DEADLINE = 10
DEVICE = re.compile("[A-Za-z0-9-]{1,64}")


class Patience(H11Protocol):
    """Ends a connection on which a request does not get on."""

    def connection_made(self, transport):
        super().connection_made(transport)
        self.check(None)

    def check(self, before):
        waits = self.cycle, self.conn.their_state
        is_idle = self.cycle and not self.conn.trailing_data[0]
        if waits == before and (waits[1] is h11.SEND_BODY or (waits[1] is h11.IDLE and not is_idle)):
            counts["pushcrypt_slow_clients_total", ()] += 1
            return self.transport.abort()
        if not self.transport.is_closing():
            self.loop.call_later(DEADLINE, self.check, waits)


async def body(request, longest):
    """A request's body, of which no more than `longest` bytes are kept."""
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > longest:
            raise HTTPException(413)
    return data


async def parsed(request, longest):
    try:
        return json.loads(await body(request, longest))
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None


def of_session(request):
    """The device and the user of the session, which the proxy has authenticated."""
    device, user = request.path_params["device"], request.headers.get("x-user")
    if not user or len(user) > 255 or not DEVICE.fullmatch(device):
        raise HTTPException(400)
    return device, user


def record_of(post):
    """The record in what a phone posts; its session says whose it is, so the signature is not needed."""
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        record = json.loads(post)["record"]
        return base64.b64decode(record + "=" * (-len(record) % 4), b"-_", validate=True)
    return post


def for_phones(provider):
    async def register(request):
        device, user = of_session(request)
        data = record_of(await body(request, LONGEST_RECORD))
        return Response(await repeated(lambda: provider.register(data, device, user)), media_type="application/json")

    async def end(request):
        device, user = of_session(request)
        await repeated(lambda: provider.end_device(device, lambda stored: stored.user == user))
        return Response(status_code=204)

    return application([Route("/devices/{device}", register, methods=["POST"]), Route("/devices/{device}", end, methods=["DELETE"])])


def for_services(provider, why_not_ready, seals):
    """`why_not_ready` says why this process cannot work."""

    async def push(request):
        events = await parsed(request, LONGEST_EVENTS)
        if wrong := what_is_wrong(events):
            raise HTTPException(400, wrong)
        return JSONResponse(await repeated(lambda: provider.push(events)))

    async def health(request):
        return PlainTextResponse("alive\n")

    async def ready(request):
        why = await why_not_ready()
        return JSONResponse({"ready": not why, "why": why}, 503 if why else 200)

    async def metrics(request):
        return PlainTextResponse(await exposition(provider), media_type="text/plain; version=0.0.4")

    routes = [Route("/health", health), Route("/ready", ready), Route("/metrics", metrics)]
    return application([*routes, Route("/events", push, methods=["POST"])] if seals else routes)


def what_is_wrong(events):
    if not isinstance(events, list) or len(events) > MOST_EVENTS:
        return f"events are an array of at most {MOST_EVENTS}"
    for place, event in enumerate(events):
        if not isinstance(event, dict) or ("user" in event) == ("device" in event):
            return f"event {place} is an object with either user or device"
        texts = [event.get("id"), event.get("user", event.get("device"))]
        if not all(isinstance(text, str) and 1 <= len(text) <= 255 and "\0" not in text and text.isprintable() for text in texts):
            return f"event {place}: id, user and device are texts of 1 to 255 characters"
        unknown = event.keys() - {"id", "user", "device", "payload", *OPTIONS, *REQUEST_OPTIONS}
        if unknown or "payload" not in event:
            return f"event {place} has no payload" if "payload" not in event else f"event {place} has unknown members: {', '.join(unknown)}"


def application(routes):
    async def away(request, error):
        log.warning("not answered: %s", error)
        return JSONResponse({"error": str(error)}, 503, {"retry-after": "5"})

    async def gone(request, error):
        return Response(status_code=400)

    return Starlette(routes=routes, exception_handlers={Unavailable: away, ClientDisconnect: gone})


async def exposition(provider):
    """The metrics in Prometheus' text form."""
    try:
        async with asyncio.timeout(5), provider.pool.connection() as connection:
            keys = await provider.read_keys(connection)
            [(queued, overdue)] = await fetch(
                connection,
                """
                SELECT (SELECT count(*) FROM (SELECT FROM pushes WHERE due IS NOT NULL LIMIT 100000) AS first),
                    (SELECT greatest(0, extract(epoch FROM now() - min(due)))::float8 FROM pushes WHERE due IS NOT NULL)
                """)
        found = {"up": 1, "queued": queued, "overdue_seconds": overdue or 0, "clock_ahead_seconds": keys.ahead, "stale_store": int(keys.is_stale)}
        if keys.current:
            found |= {"epoch": keys.current.epoch, "certificate_expires_seconds": keys.current.expires_at / 1000}
    except (*AGAIN, Unavailable, TimeoutError) as error:
        log.warning("metrics without the database: %s", error)
        found = {"up": 0}
    found |= {name: provider.pool.get_stats().get(name, 0) for name in ("pool_size", "pool_available", "requests_waiting")}
    values = {**counts, **{(f"pushcrypt_{name}", ()): value for name, value in found.items()}}
    lines = []
    for (name, labels), value in sorted(values.items()):
        if not lines or lines[-1].split("{")[0].split(" ")[0] != name:
            lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
        texts = ",".join(f"{label}={json.dumps(text)}" for label, text in labels)
        lines.append(f"{name}{{{texts}}} {value}" if labels else f"{name} {value}")
    return "\n".join(lines) + "\n"


class Server(uvicorn.Server):
    """One of this process's servers. Signals are the process's."""

    def __init__(self, app, host, port):
        super().__init__(uvicorn.Config(
            app, host=host, port=port, http=Patience, ws="none", lifespan="off", backlog=2048, timeout_keep_alive=75, timeout_graceful_shutdown=20,
            access_log=False, log_level="warning", server_header=False))

    @contextlib.contextmanager
    def capture_signals(self):
        yield
