"""The public key of the signer at a socket, as the member `signing_key` of a request for a certificate: public_key.py SOCKET"""
import base64
import socket
import sys

HELLO = b"pushcrypt-signer/1"
with socket.socket(socket.AF_UNIX) as signer:
    signer.connect(sys.argv[1])
    signer.sendall((5 + len(HELLO)).to_bytes(4, "big") + bytes(4) + b"\1" + HELLO)
    answer = signer.makefile("rb").read(4 + 5 + 32)
assert answer[8] == 0, answer
print(base64.urlsafe_b64encode(answer[9:]).rstrip(b"=").decode())
