#!/usr/bin/env bash
# Creates the credentials of a provider and a push service, in the current folder: an authority, the service's
# certificate for `localhost`, certificates of the apps given, by default two, whose user id names the topic as in
# Apple's, and two keys for provider tokens.
set -euo pipefail

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

signed() {
    local name=$1 subject=$2 extension=$3
    key "$name.key"
    openssl req -new -key "$name.key" -subj "$subject" |
        openssl x509 -req -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 \
            -extfile <(printf '%s\n' "$extension" 'authorityKeyIdentifier = keyid') \
            -out "$name.pem" 2>/dev/null
}

key authority.key
openssl req -x509 -new -key authority.key -subj '/CN=Test authority' -days 2 -out authority.pem
signed service '/CN=localhost' 'subjectAltName=DNS:localhost'
[ $# -gt 0 ] || set -- com.example.app com.example.other
for app; do
    signed "$app" "/UID=$app/CN=Apple Push Services: $app" 'extendedKeyUsage=clientAuth'
    # The form that clients expect: certificate and key in one file.
    cat "$app.key" >>"$app.pem"
done
key token.p8
key stranger.p8
