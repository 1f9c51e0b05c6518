"""Makes an Ed25519 key that cannot leave its token: make_key.py MODULE PIN LABEL"""
import sys

import PyKCS11 as api

library = api.PyKCS11Lib()
library.load(sys.argv[1])
session = library.openSession(library.getSlotList(tokenPresent=True)[0], api.CKF_SERIAL_SESSION | api.CKF_RW_SESSION)
session.login(sys.argv[2])
both = [(api.CKA_TOKEN, True), (api.CKA_LABEL, sys.argv[3]), (api.CKA_KEY_TYPE, api.CKK_EC_EDWARDS)]
# The curve, as RFC 8410's name.
curve = bytes([0x13, 12]) + b"edwards25519"
public = [*both, (api.CKA_CLASS, api.CKO_PUBLIC_KEY), (api.CKA_VERIFY, True), (api.CKA_EC_PARAMS, curve)]
secret = [*both, (api.CKA_CLASS, api.CKO_PRIVATE_KEY), (api.CKA_SIGN, True), (api.CKA_PRIVATE, True), (api.CKA_SENSITIVE, True),
          (api.CKA_EXTRACTABLE, False)]
_, key = session.generateKeyPair(public, secret, mecha=api.Mechanism(api.CKM_EC_EDWARDS_KEY_PAIR_GEN, None))
assert session.getAttributeValue(key, [api.CKA_NEVER_EXTRACTABLE]) == [True]
