// OpenSSL 3.0 or later, from the system's own package, and its macros, which Swift cannot call.
#pragma once
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

static inline long pushcrypt_minimum_tls_1_2(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline X509 *pushcrypt_take_certificate(STACK_OF(X509) *stack) { return sk_X509_shift(stack); }

static inline void pushcrypt_free_certificates(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline long pushcrypt_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate);
}
