// libcurl 7.81 or later with OpenSSL, from the system's own package, and its functions with variable arguments, which Swift
// cannot call.
#pragma once
#include <curl/curl.h>

static inline CURLcode pushcrypt_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode pushcrypt_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

/// Has `text`, of CURL_ERROR_SIZE bytes, say why the connection fails.
static inline CURLcode pushcrypt_curl_set_error_buffer(CURL *handle, char *text) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, text);
}

/// Calls `function` with the `SSL_CTX` of the connection and `context` before the handshake.
static inline CURLcode pushcrypt_curl_prepare_tls(
    CURL *handle, CURLcode (*function)(CURL *, void *, void *), void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, context);
    return code ? code : curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, function);
}

static inline curl_socket_t pushcrypt_curl_socket(CURL *handle) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket) ? CURL_SOCKET_BAD : socket;
}

/// The code and the handle of the next transfer that has ended; null if there is none.
static inline CURL *pushcrypt_curl_next_ended(CURLM *multi, CURLcode *code) {
    int rest;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &rest)))
        if (message->msg == CURLMSG_DONE) {
            *code = message->data.result;
            return message->easy_handle;
        }
    return 0;
}

static inline CURLMcode pushcrypt_curl_watch(
    CURLM *multi, curl_socket_callback sockets, curl_multi_timer_callback timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, sockets);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

static inline const char *pushcrypt_curl_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }
