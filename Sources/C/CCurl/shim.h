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

/// Sends `body` as it is, which curl copies, with these headers, which the caller keeps.
static inline CURLcode pushcrypt_curl_post(CURL *handle, const char *body, long length, struct curl_slist *headers) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, length);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, body);
    return code ? code : curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

/// Gives what comes of the body to one function and of the headers to another, each with `context`.
static inline CURLcode pushcrypt_curl_receive(
    CURL *handle, curl_write_callback body, curl_write_callback header, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (!code) code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    return code ? code : curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
}

/// The status of the answer, and whether the request was begun to be sent.
static inline long pushcrypt_curl_status(CURL *handle, int *begun) {
    long status = 0;
    curl_off_t time = 0;
    *begun = !curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &time) && time > 0;
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) ? 0 : status;
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
