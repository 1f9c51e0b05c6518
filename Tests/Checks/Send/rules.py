"""The answers of Apple's push service: its documented rules, in the order in which a request is read.

Where Apple documents no reason (a body that is not a JSON object), the reason here is our own, in lower case.
"""
import dataclasses, json, re, time
import jwt

LIMIT, VOIP_LIMIT = 4096, 5120
PUSH_TYPES = {
    "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location", "mdm", "pushtotalk",
    "voip", "widgets"}
MAY_BE_GIVEN_ONCE = {
    "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id", "apns-id", "authorization"}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TOKEN_LIFE, TOKEN_REST = 60 * 60, 20 * 60


@dataclasses.dataclass
class Refusal(Exception):
    status: int
    reason: str
    timestamp: int = None


@dataclasses.dataclass
class Device:
    """The device behind a token."""
    topics: set
    gone_since: int = None  # milliseconds


@dataclasses.dataclass
class Connection:
    """APNs' state of a connection: the topic of the client's certificate, and the latest provider token."""
    certificate_topic: str = None
    token: str = None
    issued_at: int = None
    topics: set = None  # of the token


class Rules:
    # Whether a new token may follow at once, because the last one was called expired.
    lenient = False

    def __init__(self, devices, signing_keys):
        self.devices = devices  # device token -> Device
        self.signing_keys = signing_keys  # key id -> (team, public key, topics)

    def check(self, request, connection):
        """Accepts a request (method, path, headers as pairs, body), or raises a refusal."""
        headers = dict(request.headers)
        if request.method != "POST":
            raise Refusal(405, "MethodNotAllowed")
        path = re.fullmatch(r"/3/device/(.*)", request.path)
        if not path:
            raise Refusal(404, "BadPath")
        names = [name for name, _ in request.headers if name in MAY_BE_GIVEN_ONCE]
        if len(names) != len(set(names)):
            raise Refusal(400, "DuplicateHeaders")
        if not UUID.fullmatch(headers.get("apns-id", "00000000-0000-0000-0000-000000000000")):
            raise Refusal(400, "BadMessageId")
        topics = self.authenticate(headers, connection)
        topic = headers.get("apns-topic", connection.certificate_topic)
        if not topic:
            raise Refusal(400, "MissingTopic")
        if not re.fullmatch(r"[A-Za-z0-9.-]+", topic):
            raise Refusal(400, "BadTopic")
        if topic not in topics:
            raise Refusal(400, "TopicDisallowed")
        push_type = headers.get("apns-push-type", "alert")
        self.check_headers(headers, push_type)
        self.check_device(path[1], topic)
        self.check_payload(request.body, VOIP_LIMIT if push_type == "voip" else LIMIT)

    def authenticate(self, headers, connection):
        """Returns the topics that the client may send for."""
        if connection.certificate_topic:
            return with_suffixes(connection.certificate_topic)
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Refusal(403, "MissingProviderToken")
        now = int(time.time())
        # A signature is checked once for each connection.
        if token == connection.token and connection.issued_at >= now - TOKEN_LIFE:
            return connection.topics
        try:
            team, key, topics = self.signing_keys[jwt.get_unverified_header(token)["kid"]]
            options = {"verify_iat": False, "require": ["iss", "iat"]}
            claims = jwt.decode(token, key, algorithms=["ES256"], options=options)
        except (jwt.InvalidTokenError, KeyError):
            raise Refusal(403, "InvalidProviderToken") from None
        if claims["iss"] != team or not isinstance(claims["iat"], int) or claims["iat"] > now + 60:
            raise Refusal(403, "InvalidProviderToken")
        if claims["iat"] < now - TOKEN_LIFE:
            raise Refusal(403, "ExpiredProviderToken")
        is_early = connection.token and abs(claims["iat"] - connection.issued_at) < TOKEN_REST
        if is_early and connection.token != token and not self.lenient:
            raise Refusal(429, "TooManyProviderTokenUpdates")
        connection.token, connection.issued_at = token, claims["iat"]
        connection.topics = set().union(*map(with_suffixes, topics))
        return connection.topics

    def check_headers(self, headers, push_type):
        if push_type not in PUSH_TYPES:
            raise Refusal(400, "InvalidPushType")
        priority = headers.get("apns-priority", "10")
        if priority not in ("10", "5", "1") or (push_type == "background" and priority == "10"):
            raise Refusal(400, "BadPriority")
        if not re.fullmatch(r"\d{1,10}", headers.get("apns-expiration", "0")):
            raise Refusal(400, "BadExpirationDate")
        if len(headers.get("apns-collapse-id", "").encode()) > 64:
            raise Refusal(400, "BadCollapseId")

    def check_device(self, token, topic):
        if not token:
            raise Refusal(400, "MissingDeviceToken")
        device = self.devices.get(token)
        if not device:
            raise Refusal(400, "BadDeviceToken")
        if topic not in device.topics:
            raise Refusal(400, "DeviceTokenNotForTopic")
        if device.gone_since is not None:
            raise Refusal(410, "Unregistered", device.gone_since)

    def check_payload(self, body, limit):
        if not body:
            raise Refusal(400, "PayloadEmpty")
        if len(body) > limit:
            raise Refusal(413, "PayloadTooLarge")
        try:
            payload = json.loads(body.decode())
        except ValueError:
            raise Refusal(400, "not-json") from None
        if not isinstance(payload, dict) or not isinstance(payload.get("aps"), dict):
            raise Refusal(400, "no-aps")


def with_suffixes(topic):
    """A certificate and a key are for an app and its topics."""
    return {topic, topic + ".voip"}
