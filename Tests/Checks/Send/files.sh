#!/usr/bin/env bash
# Writes certificates and keys with which something is wrong into the current folder, beside those that serve.py makes.
set -euo pipefail

signed() {
    openssl req -new -key "$1" -subj "$2" |
        openssl x509 -req -CA authority.pem -CAkey authority.key -CAcreateserial -days "$3" "${@:4}"
}
untrusted() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -subj "/CN=$1" -days 3 -out "$1.pem" "${@:2}"
}
untrusted self -addext subjectAltName=DNS:localhost
untrusted another
signed service.key /CN=localhost -1 -extfile <(echo subjectAltName=DNS:localhost) > old.pem
signed service.key /CN=other 3 -extfile <(echo subjectAltName=DNS:other.example) > other.pem
tee old.key other.key < service.key > /dev/null
mkdir system
cp authority.pem "system/$(openssl x509 -hash -noout -in authority.pem).0"
printf 'secret words\n' > phrase
# The archive ends with the byte of a newline: 2058 is 0x080A.
openssl pkcs12 -export -in com.example.app.pem -inkey com.example.app.key -out app.p12 -passout file:phrase -iter 2058
tail -c 1 app.p12 | od -An -tx1 | grep -q 0a
head -c 500 app.p12 > cut.p12
openssl x509 -in com.example.app.pem > keyless.pem
(cat keyless.pem; openssl pkcs8 -topk8 -in com.example.app.key -passout file:phrase) > locked.pem
cat keyless.pem com.example.other.key > foreign.pem
(signed com.example.app.key /UID=com.example.app -1; cat com.example.app.key) > late.pem
tee notes.p8 AuthKey_OPEN123456.p8 < AuthKey_ABC123DEFG.p8 > /dev/null
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out AuthKey_P384123456.p8
chmod 600 ./*.pem ./*.p12 ./*.p8 phrase
chmod 644 AuthKey_OPEN123456.p8
