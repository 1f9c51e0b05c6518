"""A wrong PIN is tried once, and no session stays open: wrong_pin.py MODULE PIN-FILE, for the token `push` with the key `signing`."""
import argparse, pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "Sources/Pipelines"))
from key_signer import PKCS11, Refused
import PyKCS11

calls = {"login": 0, "openSession": 0, "closeSession": 0}


def count(owner, name):
    function = getattr(owner, name)

    def counted(*arguments, **more):
        calls[name] += 1
        return function(*arguments, **more)

    setattr(owner, name, counted)


pin = pathlib.Path(sys.argv[2])
right = pin.read_text()
service = PKCS11(argparse.Namespace(module=sys.argv[1], token="push", key="signing", pin_file=sys.argv[2]))
for owner, name in (PyKCS11.Session, "login"), (PyKCS11.PyKCS11Lib, "openSession"), (PyKCS11.Session, "closeSession"):
    count(owner, name)
service.library.closeAllSessions(service.library.getSlotList(tokenPresent=True)[0])
pin.write_text("00000000\n")
answers = service.sign([b"message"] * 64)
pin.write_text(right)
assert all(isinstance(answer, Refused) for answer in answers), answers
assert str(answers[-1]) == "the token has refused this PIN, which is not tried again", answers[-1]
assert calls["login"] == 1, calls
# The session that the token had ended is closed too.
assert calls["closeSession"] == calls["openSession"] + 1, calls
signature, = service.sign([b"message"])
assert isinstance(signature, bytes), signature
