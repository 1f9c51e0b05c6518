#!/usr/bin/env python3
"""Signs with a provider key that stays in Vault or behind PKCS#11, for `pushcrypt key rotate --provider-signer ./key_signer.py`.

    key_signer.py           reads the bytes to sign, and writes the signature (Docs/Keys.md, A key service)
    key_signer.py public    writes the public key, for `pushcrypt key import --public --kind provider --format raw`

It signs certificates of that key and challenges to it, and nothing else. key_signer.json beside it says where the key is; a link to
it that has another name has another file of settings:

    {"service": "pkcs11", "module": "/usr/lib/softhsm/libsofthsm2.so", "token": "push", "key": "provider", "pin_file": "/etc/push/pin"}
    {"service": "vault", "address": "https://vault:8200", "key": "push-provider", "token_file": "/run/vault/token"}

PKCS#11: needs PyKCS11, and a token with CKM_EDDSA. Vault: a transit key of type ed25519; the token needs `read` on transit/keys/KEY and
`update` on transit/sign/KEY. `mount`, `ca_file` and `key_version` are settings, too: without the last one the newest version signs.
"""
import base64, http.client, json, os, ssl, sys, urllib.parse

LONGEST = 1024


class Refused(Exception):
    """Nothing is signed; the text goes to the operator, and has no secrets."""


def secret(path):
    with open(path) as file:
        text = file.read().strip()
    if not (text.isascii() and text.isprintable()):  # An error of http.client would quote it.
        raise Refused("the file of the token or PIN has more than one line")
    return text


class Token:
    def __init__(self, settings):
        import PyKCS11 as api

        self.api, self.settings, library = api, settings, api.PyKCS11Lib()
        library.load(settings["module"])
        slots = [slot for slot in library.getSlotList(tokenPresent=True)
                 if library.getTokenInfo(slot).label.strip("\0 ") == settings["token"]]
        if len(slots) != 1:
            raise Refused(f"there are {len(slots)} tokens of this name")
        self.session = library.openSession(slots[0], api.CKF_SERIAL_SESSION)
        self.session.login(secret(settings["pin_file"]))
        # Some tokens put the point into an octet string.
        self.public = bytes(self.session.getAttributeValue(self.object(api.CKO_PUBLIC_KEY), [api.CKA_EC_POINT])[0])[-32:]

    def object(self, kind):
        found = self.session.findObjects([(self.api.CKA_CLASS, kind), (self.api.CKA_LABEL, self.settings["key"])])
        if len(found) != 1:
            raise Refused(f"the token has {len(found)} keys of this name")
        return found[0]

    def sign(self, message):
        return bytes(self.session.sign(self.object(self.api.CKO_PRIVATE_KEY), message, self.api.Mechanism(self.api.CKM_EDDSA, None)))


class Vault:
    def __init__(self, settings):
        self.settings, self.url = settings, urllib.parse.urlsplit(settings["address"])
        if self.url.scheme != "https" and self.url.hostname not in ("127.0.0.1", "localhost"):
            raise Refused("the address must begin with https://")
        key = self.ask("GET", "keys")
        self.version = settings.get("key_version", key["latest_version"])
        self.public = base64.b64decode(key["keys"][str(self.version)]["public_key"], validate=True)

    def ask(self, method, action, body=None):
        more = {} if self.url.scheme == "http" else {"context": ssl.create_default_context(cafile=self.settings.get("ca_file"))}
        kind = http.client.HTTPSConnection if more else http.client.HTTPConnection
        connection = kind(self.url.hostname, self.url.port or 8200, timeout=20, **more)
        path = f"/v1/{self.settings.get('mount', 'transit')}/{action}/{urllib.parse.quote(self.settings['key'], safe='')}"
        connection.request(method, path, body and json.dumps(body), {"X-Vault-Token": secret(self.settings["token_file"])})
        answer = connection.getresponse()
        if answer.status != 200:
            raise Refused(f"Vault answers {answer.status}")
        return json.loads(answer.read())["data"]

    def sign(self, message):
        answer = self.ask("POST", "sign", {"input": base64.b64encode(message).decode(), "key_version": self.version})
        return base64.b64decode(answer["signature"].removeprefix(f"vault:v{self.version}:"), validate=True)


def may_sign(message, public):
    """Whether the bytes are a certificate of this key, or a challenge to it."""
    if message.startswith(challenge := b"pushcrypt/1 provider challenge\0" + public):
        return len(message) == len(challenge) + 32
    topic = len(certificate := b"pushcrypt/1 certificate\0" + public)
    count = int.from_bytes(message[topic : topic + 2], "big")
    return message.startswith(certificate) and 1 <= count <= 255 and len(message) == topic + 2 + count + 57


def main():
    with open(os.path.splitext(os.path.abspath(sys.argv[0]))[0] + ".json") as file:
        settings = json.load(file)
    service = {"pkcs11": Token, "vault": Vault}[settings["service"]](settings)
    if len(service.public) != 32:
        raise Refused("the key is not an Ed25519 key")
    if sys.argv[1:] == ["public"]:
        return print(base64.b64encode(service.public).decode())
    message = sys.stdin.buffer.read(LONGEST)
    if not may_sign(message, service.public):
        raise Refused("this is neither a certificate of this key nor a challenge to it")
    sys.stdout.buffer.write(service.sign(message))


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(f"key_signer: {refused}")
    except (OSError, KeyError) as error:
        sys.exit(f"key_signer: {type(error).__name__}: {error}")
    except Exception as error:  # Of any other, the text may have more than an operator should see.
        sys.exit(f"key_signer: {type(error).__name__}" + (f": {error}" if type(error).__module__ == "PyKCS11" else ""))
