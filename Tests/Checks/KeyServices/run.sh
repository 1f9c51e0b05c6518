#!/usr/bin/env bash
# Seals with keys that stay in SoftHSM2 and in a stand-in for Vault, through Sources/Pipelines/key_signer.py. Called by `make
# test-key-services`, which builds the command and installs the rest.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
pushcrypt=$root/.build/release/pushcrypt
here=$root/Tests/Checks/KeyServices
python=/usr/bin/python3
module=$(ls /usr/lib/softhsm/libsofthsm2.so /usr/lib/*/softhsm/libsofthsm2.so 2>/dev/null | head -n 1)
count=${COUNT:-1000}
work=$(mktemp -d)
running=()
trap 'kill "${running[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
export PYTHONDONTWRITEBYTECODE=1

fail() {
    echo "key-services: error: $1" >&2
    [ ! -s signer.log ] || cat signer.log >&2
    exit 1
}

# Waits until a file is there.
await() {
    local i
    for ((i = 0; i < 300; i++)); do
        [ ! -e "$1" ] || return 0
        sleep 0.1
    done
    fail "$1 does not appear"
}

signer() {
    rm -f socket
    "$python" "$root/Sources/Pipelines/key_signer.py" socket "$@" 2>signer.log &
    running+=($!)
    await socket
    [ "$(stat -c %a socket)" = 660 ] || fail 'the socket has other rights'
}

seal() { "$pushcrypt" seal --batch --topic com.example.app --signer unix:socket --provider "$(cat provider.pub)" "$@"; }

# Seals the lines, and opens each.
check() {
    seal lines >sealed 2>log || { cat log >&2; fail "$1: not all were sealed"; }
    "$pushcrypt" open --batch --device-key-file phone.key --provider "$(cat provider.pub)" --topic com.example.app sealed >opened || fail "$1: not all open"
    [ "$(grep -c '"outcome":"opened"' opened)" -eq "$count" ] || fail "$1: $(head -n 1 opened)"
    echo "key-services: $1: $count messages"
}

# The key of the signer, which the warning names.
learn() {
    echo "{\"to\":\"$(cat phone.pub)\",\"payload\":{\"aps\":{\"alert\":\"Hello\"}}}" >one
    "$pushcrypt" seal --batch --topic com.example.app --signer unix:socket one 2>&1 >/dev/null | grep -o 'pcs1[a-z0-9]*' | head -n 1 >provider.pub
    [ -s provider.pub ] || fail 'the signer shows no key'
}

"$python" "$here/crowd.py"

"$pushcrypt" key new device -o phone.key >phone.pub
for ((i = 0; i < count; i++)); do echo "{\"to\":\"$(<phone.pub)\",\"id\":\"m$i\",\"payload\":{\"aps\":{\"alert\":\"Hello\"}}}"; done >lines

# --- PKCS#11 ------------------------------------------------------------------------------------------------------------------

mkdir tokens
printf 'directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n' "$work/tokens" >softhsm2.conf
export SOFTHSM2_CONF=$work/softhsm2.conf
softhsm2-util --init-token --free --label push --so-pin 12345678 --pin 87654321 >log || fail "$(cat log)"
(umask 077 && echo 87654321 >pin)
"$python" "$here/make_key.py" "$module" 87654321 signing
signer pkcs11 --module "$module" --token push --key signing --pin-file pin
learn
check 'PKCS#11, SoftHSM2'
"$python" "$here/expiry.py" "$module" pin || fail 'a session that expires'
for wrong in '--token other --key signing --pin-file pin' '--token push --key other --pin-file pin' '--token push --key signing --pin-file phone.key'; do
    # shellcheck disable=SC2086
    ! timeout 30 "$python" "$root/Sources/Pipelines/key_signer.py" other pkcs11 --module "$module" $wrong 2>log || fail "it starts with $wrong"
    grep -q '^key_signer: error: ' log || fail "$wrong: $(cat log)"
    ! grep -qE '87654321|PCR-SECRET' log || fail 'a secret is shown'
done

# The same key by a certificate of a provider key that is offline. The signer of messages signs none, and that of certificates no message.
cp provider.pub signing.pub
"$pushcrypt" key new provider -o provider.key >provider.pub
printf '{"version":1,"topic":"com.example.app","provider":"%s","signing_key":"%s"}' "$(<provider.pub)" "$("$python" "$here/public_key.py" socket)" >request.json
"$pushcrypt" key certify request.json --provider-key-file provider.key --yes -o certificate.json 2>log || fail "no certificate: $(cat log)"
plain=$(declare -f seal)
seal() { "$pushcrypt" seal --batch --topic com.example.app --signer unix:socket --provider "$(<provider.pub)" --certificate certificate.json "$@"; }
check 'PKCS#11 by a certificate'
eval "$plain"
cp signing.pub provider.pub
"$python" "$root/Sources/Pipelines/key_signer.py" certificates pkcs11 --module "$module" --token push --key signing --pin-file pin --certificates 2>signer.log &
running+=($!)
await certificates
! "$pushcrypt" seal --batch --topic com.example.app --signer unix:certificates one >answers 2>log || fail 'a signer of certificates signs a message'
grep -q 'signs only certificates' answers log || fail "a signer of certificates: $(cat answers log)"
"$pushcrypt" --store P init 2>log
"$pushcrypt" --store P key new provider --topic com.example.app >stored.pub
! "$pushcrypt" --store P key rotate --provider-signer unix:socket 2>log || fail 'another key certifies'

# A token locks itself after a few wrong PINs.
"$python" "$here/wrong_pin.py" "$module" pin || fail 'a wrong PIN'

# --- Vault ----------------------------------------------------------------------------------------------------------------------

mkdir vault
echo first >vault/accepted
cp vault/accepted token
"$python" "$here/vault.py" vault 2>vault.log &
running+=($!)
await vault/port
signer vault --address "http://127.0.0.1:$(<vault/port)" --key push-signing --token-file token
learn
check 'the stand-in for Vault'
# A new token, as the Vault agent writes it. Vault accepts the old one no more.
echo second >vault/accepted
cp vault/accepted token
check 'a new token'
echo close >vault/fault
check 'a connection that was closed'
for fault in sealed:signer-refused error:signer-refused wrong:wrong-signature other:signer-refused; do
    # Before the second of three messages.
    mkfifo input
    seal <input >answers 2>log &
    sealing=$!
    exec 5>input
    head -n 1 lines >&5
    for ((i = 0; i < 300; i++)); do [ "$(wc -l <answers)" -lt 1 ] || break; sleep 0.1; done
    echo "${fault%:*}" >vault/fault
    sed -n 2p lines >&5
    for ((i = 0; i < 300; i++)); do [ "$(wc -l <answers)" -lt 2 ] || break; sleep 0.1; done
    sed -n 3p lines >&5
    exec 5>&-
    wait "$sealing" || true
    rm input
    [ "$(sed -n 2p answers | grep -o "\"code\":\"[a-z-]*\"")" = "\"code\":\"${fault#*:}\"" ] || fail "$fault: $(sed -n 2p answers)"
    [ "$(grep -c ENCRYPTED_DATA answers)" -eq 2 ] || fail "$fault: the messages around it: $(cat answers)"
    echo "key-services: $fault, and the next message is signed"
done
echo third >vault/accepted
! seal lines >answers 2>log || fail 'it seals with a token that Vault refuses'
grep -q 'Vault answers 403' log answers || fail "$(tail -n 1 log)"
! "$python" "$root/Sources/Pipelines/key_signer.py" other vault --address http://vault.example.com:8200 --key k --token-file token 2>log ||
    fail 'it sends a token in the clear'
grep -q 'must begin with https' log || fail "$(cat log)"
printf 'first\nSECOND-TOKEN\n' >token
! "$python" "$root/Sources/Pipelines/key_signer.py" other vault --address "http://127.0.0.1:$(<vault/port)" --key push-signing --token-file token 2>log ||
    fail 'it starts with two tokens'
grep -q 'has more than a token' log && ! grep -q SECOND log || fail "$(cat log)"
echo third >token
echo important >other
! "$python" "$root/Sources/Pipelines/key_signer.py" other vault --address "http://127.0.0.1:$(<vault/port)" --key push-signing --token-file token 2>log ||
    fail 'it starts in the place of a file'
grep -q 'not a socket' log && [ "$(<other)" = important ] || fail "$(cat log)"
[ ! -s vault.log ] || fail "$(tail -n 3 vault.log)"
echo 'key-services: done'
