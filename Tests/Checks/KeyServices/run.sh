#!/usr/bin/env bash
# Certifies with provider keys that stay in SoftHSM2 and in a stand-in for Vault, through Sources/Pipelines/key_signer.py. Called by
# `make nightly PART=key-services`, which builds the command and installs the rest.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
here=$root/Tests/Checks/KeyServices
PATH=$root/.build/release:$PATH
module=$(ls /usr/lib/softhsm/libsofthsm2.so /usr/lib/*/softhsm/libsofthsm2.so 2>/dev/null | head -n 1)
work=$(mktemp -d)
vault=
trap '[ -z "$vault" ] || kill "$vault"; wait; rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "key-services: error: $1" >&2
    [ ! -s log ] || cat log >&2
    exit 1
}

# The script with the settings of a service, by the name of a link to it: NAME SETTINGS. The system's Python has PyKCS11.
printf '#!/bin/sh\nexec /usr/bin/python3 -B "$0.py" "$@"\n' >run
chmod +x run
settings() {
    cp run "$1"
    ln -sf "$root/Sources/Pipelines/key_signer.py" "$1.py"
    echo "$2" >"$1.json"
}

# Runs a command that must fail, and says why: TEXT COMMAND…. No secret is shown.
refuses() {
    local text=$1
    shift
    ! "$@" >output 2>log </dev/null || fail "it works: $*"
    grep -q -- "$text" log || fail "not '$text': $*"
    ! grep -qE '87654321|SECOND-TOKEN' log output || fail 'a secret is shown'
}

pushcrypt key new device -o phone.key >phone.pub
public() { "./$1" public | pushcrypt key import --public --kind provider --format raw; }

# Seals with the store of a service, and opens on a phone that has its provider key pinned.
opens() {
    echo '{"aps":{"alert":"Hello"}}' | pushcrypt --store "$1" seal --to "$(<phone.pub)" >sealed
    pushcrypt open --device-key-file phone.key --provider "$(<"$1.pub")" --topic com.example.app sealed >opened || fail "$1: it does not open"
    grep -q Hello opened || fail "$1: $(<opened)"
}

# The whole life of a key: into a store, rotations, a theft.
live() {
    public "$1" >"$1.store.pub"
    pushcrypt --store "$1.store" init 2>log
    pushcrypt --store "$1.store" key new provider --topic com.example.app --provider "$(<"$1.store.pub")" --provider-signer "./$1" >printed 2>log ||
        fail "$1: no store with the key"
    cmp -s printed "$1.store.pub" || fail "$1: another key is printed"
    opens "$1.store"
    pushcrypt --store "$1.store" key rotate --provider-signer "./$1" 2>log || fail "$1: no rotation"
    opens "$1.store"
    pushcrypt --store "$1.store" key rotate --stolen --provider-signer "./$1" 2>log || fail "$1: no rotation after a theft"
    opens "$1.store"
    # Whoever can run it gets no signature of anything else: by its own key, then by another.
    local form key label rest
    "./$1" public | base64 -d >own
    head -c 32 /dev/zero >zero
    for form in own:challenge:%033d own:challenge:%031d 'own:certificate:\0\1a%058d' 'own:certificate:\0\1a%056d' \
        'own:certificate:\0\0%057d' own:signature:%0150d zero:challenge:%032d 'zero:certificate:\0\1a%057d'; do
        IFS=: read -r key label rest <<<"$form"
        [ "$label" != challenge ] || label='provider challenge'
        { printf 'pushcrypt/1 %s\0' "$label" && cat "$key" && printf "$rest" 0; } >bytes
        ! "./$1" <bytes >output 2>log || fail "$1 signs $form"
        grep -q 'neither a certificate of this key nor a challenge' log || fail "$1: $form"
        [ ! -s output ] || fail "$1 writes something for $form"
    done
    echo "key-services: $1: certifies, and signs nothing else"
}

# --- PKCS#11 ------------------------------------------------------------------------------------------------------------------

mkdir tokens
printf 'directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n' "$work/tokens" >softhsm2.conf
export SOFTHSM2_CONF=$work/softhsm2.conf
softhsm2-util --init-token --free --label push --so-pin 12345678 --pin 87654321 >log || fail 'no token'
(umask 077 && echo 87654321 >pin && echo 00000000 >wrong-pin)
# An Ed25519 key that cannot leave the token.
/usr/bin/python3 - "$module" 87654321 provider <<'END'
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
END
token() { settings "$1" "{\"service\":\"pkcs11\",\"module\":\"$module\",\"token\":\"$2\",\"key\":\"$3\",\"pin_file\":\"$4\"}"; }
token pkcs11 push provider pin
live pkcs11

token other other provider pin
refuses 'there are 0 tokens of this name' ./other
token other push other pin
refuses 'the token has 0 keys of this name' ./other
token other push provider wrong-pin
refuses 'CKR_PIN_INCORRECT' ./other
token other push provider phone.key
refuses 'PIN' ./other
settings other '{"service":"pkcs11"}'
refuses 'module' ./other
rm other.json
refuses 'other.json' ./other

# --- Vault ----------------------------------------------------------------------------------------------------------------------

mkdir transit
echo first >transit/accepted
cp transit/accepted token
/usr/bin/python3 "$here/vault.py" transit 2>vault.log &
vault=$!
for ((i = 0; i < 300; i++)); do [ ! -e transit/port ] || break; sleep 0.1; done
address=http://127.0.0.1:$(<transit/port)
settings vault "{\"service\":\"vault\",\"address\":\"$address\",\"key\":\"push-signing\",\"token_file\":\"token\"}"
live vault

# A new token, as the Vault agent writes it. Vault accepts the old one no more.
echo second >transit/accepted
refuses 'Vault answers 403' pushcrypt --store vault.store key rotate --provider-signer ./vault
cp transit/accepted token
pushcrypt --store vault.store key show --json >before
for fault in 'sealed:Vault answers 503' 'close:RemoteDisconnected' 'wrong:not the signature of provider key' 'other:not the signature of provider key'; do
    echo "${fault%%:*}" >transit/fault
    refuses "${fault#*:}" pushcrypt --store vault.store key rotate --provider-signer ./vault
    pushcrypt --store vault.store key show --json | cmp -s before - || fail "$fault: the store has changed"
    opens vault.store
done
pushcrypt --store vault.store key rotate --provider-signer ./vault 2>log || fail 'no rotation after faults'
opens vault.store

# The version of a key that is not the newest any more, and a store of another key.
settings first "{\"service\":\"vault\",\"address\":\"$address\",\"key\":\"push-signing\",\"token_file\":\"token\",\"key_version\":1}"
refuses 'neither a certificate of this key' pushcrypt --store vault.store key rotate --provider-signer ./first
refuses 'neither a certificate of this key' pushcrypt --store pkcs11.store key rotate --provider-signer ./vault
live first

settings other '{"service":"vault","address":"http://vault.example.com:8200","key":"k","token_file":"token"}'
refuses 'must begin with https' ./other
printf 'first\nSECOND-TOKEN\n' >token
refuses 'more than one line' ./vault
[ ! -s vault.log ] || fail "$(tail -n 3 vault.log)"
echo 'key-services: done'
