// Files that accompany a push: Docs/FormatAttachments.md.
//
// The secret stream is libsodium's. Nothing is fetched: the caller must fetch over https only, and never more than
// `size` bytes [A-16], [A-34].
#include <stdlib.h>
#include <string.h>

#include "pushcrypt.h"

enum { PREFIX = 5, SMALLEST_FILE = 46, LARGEST_FULL_BODY = 65536, MESSAGE = 0x00, FINAL = 0x03 };
enum { LONGEST_HOST = 253, LONGEST_LABEL = 63, LARGEST_PORT = 65535 };

static const uint8_t START[PREFIX] = {'P', 'C', 'A', '1', 0x10};
#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define CHARACTERS LETTERS_AND_DIGITS "-._~!$&'()*+,;=:@"

// References

// Whether the text up to `end` is a host: four numbers, or labels of which the last begins with a letter.
static bool is_host(const char *text, const char *end) {
    if (end == text || end - text > LONGEST_HOST) return false;
    size_t labels = 0, numbers = 0;
    bool begins_with_letter = false;
    for (;;) {
        const size_t length = strspn(text, LETTERS_AND_DIGITS "-_"), digits = strspn(text, "0123456789");
        if (length < 1 || length > LONGEST_LABEL) return false;
        const bool is_short = digits == length && length <= 3 && (length == 1 || *text != '0');
        if (is_short && strtoul(text, NULL, 10) <= 255) numbers++;
        begins_with_letter = digits == 0 && *text != '-' && *text != '_';
        labels++;
        text += length;
        if (text == end) return begins_with_letter || (labels == 4 && numbers == 4);
        if (*text++ != '.') return false;
    }
}

// The length of one item: an allowed character, or `%` and two hexadecimal digits.
static size_t span_of_url(const char *text, const char *characters) {
    size_t length = 0;
    for (;;) {
        const size_t plain = strspn(text + length, characters);
        length += plain;
        if (text[length] == '%' && strspn(text + length + 1, "0123456789ABCDEFabcdef") >= 2)
            length += 3;
        else if (plain == 0)
            return length;
    }
}

// [A-5]
static bool is_url(const char *text) {
    static const char scheme[] = "https://";
    if (strncmp(text, scheme, sizeof scheme - 1) != 0) return false;
    text += sizeof scheme - 1;
    const char *host = text;
    text += strspn(text, LETTERS_AND_DIGITS "-_.");
    if (!is_host(host, text)) return false;
    if (*text == ':') {
        const size_t digits = strspn(++text, "0123456789");
        if (digits < 1 || digits > 5 || strtoul(text, NULL, 10) > LARGEST_PORT) return false;
        text += digits;
    }
    if (*text == '/') text += span_of_url(text, CHARACTERS "/");
    if (*text == '?') text += span_of_url(text, CHARACTERS "/?");
    return *text == 0;
}

// [A-6]
static bool is_type(const char *text) {
    size_t labels = 0;
    for (;; text++) {
        const size_t label = strspn(text, LETTERS_AND_DIGITS "-");
        if (label == 0) return false;
        labels++;
        text += label;
        if (*text != '.') return *text == 0 && labels >= 2;
    }
}

// [A-7]; the length is already checked.
static bool is_name(const char *text) {
    if (strcmp(text, "") == 0 || strcmp(text, ".") == 0 || strcmp(text, "..") == 0) return false;
    for (const uint8_t *at = (const uint8_t *)text; *at != 0; at++)
        if (*at < 0x20 || *at == 0x7f || *at == '/' || (at[0] == 0xc2 && at[1] < 0xa0)) return false;
    return true;
}

// Reads 32 bytes from canonical base64url [A-9]. libsodium refuses nonzero unused bits.
static bool bytes32(uint8_t bytes[32], struct json value) {
    char text[43 + 5];
    size_t length, count;
    const int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    const bool good = json_string((uint8_t *)text, sizeof text, &length, value) && length == 43 &&
                      sodium_base642bin(bytes, 32, text, length, NULL, &count, NULL, variant) == 0 && count == 32;
    sodium_memzero(text, sizeof text);
    return good;
}

// [A-8]
static bool is_size(uint64_t *size, struct json value) {
    const size_t length = json_token(value);
    *size = 0;
    if (value.at[0] == '0' || length > 16) return false;
    for (size_t index = 0; index < length; index++) {
        if (value.at[index] < '0' || value.at[index] > '9') return false;
        *size = 10 * *size + (value.at[index] - '0');
    }
    return *size >= SMALLEST_FILE && *size <= LARGEST_TIME;
}

static bool member_text(char *text, size_t capacity, struct json object, const char *name) {
    struct json value;
    size_t length;
    // The capacity fits the longest text and its zero byte; `json_string` needs room for one more character.
    uint8_t buffer[LARGEST_BUCKET + 5];
    if (!json_member(&value, object, name) || !json_string(buffer, sizeof buffer, &length, value)) return false;
    if (length >= capacity || memchr(buffer, 0, length) != NULL) return false;
    memcpy(text, buffer, length + 1);
    return true;
}

// Reads a reference from a JSON value [A-5] to [A-10].
refusal parse_reference(struct reference *reference, struct json value) {
    struct json member;
    const bool good =
        json_is(value, '{') &&
        member_text(reference->url, sizeof reference->url, value, "url") && is_url(reference->url) &&
        member_text(reference->type, sizeof reference->type, value, "type") && is_type(reference->type) &&
        member_text(reference->name, sizeof reference->name, value, "name") && is_name(reference->name) &&
        json_member(&member, value, "size") && is_size(&reference->size, member) &&
        json_member(&member, value, "sha256") && bytes32(reference->sha256, member) &&
        json_member(&member, value, "key") && bytes32(reference->key, member);
    return good ? NULL : "malformed-reference";
}

// Finds a member of `pushcrypt`; false if there is none. Sets `malformed` if `pushcrypt` is present and not an object.
static bool own_member(struct json *value, bool *malformed, struct json payload, const char *name) {
    *malformed = false;
    if (!json_member(value, payload, "pushcrypt") || json_equals(*value, "null")) return false;
    *malformed = !json_is(*value, '{');
    return !*malformed && json_member(value, *value, name) && !json_equals(*value, "null");
}

// Reads the references of a payload, and the problems to report [A-11] to [A-14].
void payload_attachments(struct attachments *attachments, struct json payload) {
    struct json array, element;
    bool malformed;
    attachments->count = attachments->malformed = 0;
    attachments->too_many = false;
    const bool found = own_member(&array, &malformed, payload, "attachments");
    if (malformed || (found && !json_is(array, '['))) attachments->malformed = 1;
    if (!found || !json_is(array, '[')) return;
    for (size_t index = 0; index < MOST_ATTACHMENTS && json_element(&element, array, index); index++) {
        if (parse_reference(&attachments->references[attachments->count], element) == NULL)
            attachments->count++;
        else
            attachments->malformed++;
    }
    attachments->too_many = json_element(&element, array, MOST_ATTACHMENTS);
}

// Reads the reference of a text that was too long for the push, if there is one [A-28], [A-31].
refusal payload_full_body(struct reference *reference, bool *found, struct json payload) {
    struct json value;
    bool malformed;
    *found = own_member(&value, &malformed, payload, "body");
    if (!*found) return NULL;
    const refusal refused = parse_reference(reference, value);
    if (refused != NULL) return refused;
    const bool good = strcmp(reference->type, "public.plain-text") == 0 && reference->size > SMALLEST_FILE &&
                      reference->size <= LARGEST_FULL_BODY + SMALLEST_FILE;
    return good ? NULL : "malformed-reference";
}

// Checks that the plain file of a full body is a text [A-28], [A-30]. If it is refused, the payload's own body is
// shown.
refusal check_full_body(const uint8_t *plain, size_t length) {
    if (length < 1 || length > LARGEST_FULL_BODY || !is_utf8(plain, length)) return "malformed-file";
    return length >= 3 && memcmp(plain, "\xef\xbb\xbf", 3) == 0 ? "malformed-file" : NULL;
}

// Files

// Starts opening a sealed file in pieces [A-17] to [A-26].
void file_open(struct file_opener *opener, const uint8_t key[KEY], uint64_t size, const uint8_t sha256[crypto_hash_sha256_BYTES]) {
    memset(opener, 0, sizeof *opener);
    memcpy(opener->key, key, KEY);
    memcpy(opener->sha256, sha256, crypto_hash_sha256_BYTES);
    opener->size = size;
    opener->first = true;
    crypto_hash_sha256_init(&opener->hash);
}

static refusal pull(struct file_opener *opener, size_t *length, unsigned char *tag) {
    unsigned long long plain;
    if (crypto_secretstream_xchacha20poly1305_pull(
            &opener->stream, opener->plain, &plain, tag, opener->buffer, opener->buffered, START, PREFIX) != 0)
        return "authentication-failed";
    *length = (size_t)plain;
    return NULL;
}

// Processes the start of the file, or a chunk that is not the last.
static refusal take_buffer(struct file_opener *opener, file_sink sink, void *context) {
    size_t length;
    unsigned char tag;
    if (!opener->started) {
        if (memcmp(opener->buffer, START, PREFIX) != 0) return "not-a-sealed-file";
        crypto_secretstream_xchacha20poly1305_init_pull(&opener->stream, opener->buffer + PREFIX, opener->key);
        opener->started = true;
    } else {
        const refusal refused = pull(opener, &length, &tag);
        if (refused != NULL) return refused;
        if (tag != MESSAGE) return "malformed-file";
        if (!sink(context, opener->plain, length)) return "not-written";
        opener->first = false;
    }
    opener->buffered = 0;
    return NULL;
}

static refusal take(struct file_opener *opener, const uint8_t *piece, size_t length, file_sink sink, void *context) {
    const uint64_t left = opener->size - opener->came;
    const size_t within = length < left ? length : (size_t)left;
    crypto_hash_sha256_update(&opener->hash, piece, within);
    opener->came += within;
    for (size_t taken = 0; taken < within;) {
        const size_t full = opener->started ? CHUNK : FILE_START;
        if (opener->buffered == full) {
            const refusal refused = take_buffer(opener, sink, context);
            if (refused != NULL) return refused;
            continue;
        }
        const size_t room = full - opener->buffered, count = within - taken < room ? within - taken : room;
        memcpy(opener->buffer + opener->buffered, piece + taken, count);
        opener->buffered += count;
        taken += count;
    }
    return within < length ? "wrong-size" : NULL;
}

static refusal take_last(struct file_opener *opener, file_sink sink, void *context) {
    size_t length;
    unsigned char tag;
    uint8_t hash[crypto_hash_sha256_BYTES];
    if (opener->came != opener->size) return "wrong-size";
    if (!opener->started || opener->buffered < CHUNK_OVERHEAD) return "truncated-file";
    const refusal refused = pull(opener, &length, &tag);
    if (refused != NULL) return refused;
    if (tag == MESSAGE) return "truncated-file";
    if (tag != FINAL || (length == 0 && !opener->first)) return "malformed-file";
    crypto_hash_sha256_final(&opener->hash, hash);
    if (sodium_memcmp(hash, opener->sha256, sizeof hash) != 0) return "wrong-hash";
    return sink(context, opener->plain, length) ? NULL : "not-written";
}

// After this, everything is refused.
static void end(struct file_opener *opener) {
    sodium_memzero(opener, sizeof *opener);
    opener->ended = true;
}

// Accepts bytes of the file and writes those of the chunks that are now known not to be the last. They are authentic
// but may be truncated: write them to a file with a temporary name, and rename it only after `file_finish` has written
// the rest [A-27], [A-35]. After a refusal, and after `file_finish`, everything is refused. `not-written` is not a code
// of the format: the sink failed.
refusal file_update(struct file_opener *opener, const uint8_t *piece, size_t length, file_sink sink, void *context) {
    const refusal refused = opener->ended ? "malformed-file" : take(opener, piece, length, sink, context);
    if (refused != NULL) end(opener);
    return refused;
}

// Writes the last chunk, if the whole file matches its reference.
refusal file_finish(struct file_opener *opener, file_sink sink, void *context) {
    const refusal refused = opener->ended ? "malformed-file" : take_last(opener, sink, context);
    end(opener);
    return refused;
}

// Seals a file under a key that is never used for anything else [A-1] to [A-3].
refusal file_seal(const uint8_t *plain, size_t length, const uint8_t key[KEY], file_sink sink, void *context) {
    static const size_t most = CHUNK - CHUNK_OVERHEAD;
    crypto_secretstream_xchacha20poly1305_state stream;
    uint8_t header[crypto_secretstream_xchacha20poly1305_HEADERBYTES], chunk[CHUNK];
    crypto_secretstream_xchacha20poly1305_init_push(&stream, header, key);
    bool written = sink(context, START, PREFIX) && sink(context, header, sizeof header);
    for (bool last = false; written && !last;) {
        last = length <= most;
        const size_t count = last ? length : most;
        crypto_secretstream_xchacha20poly1305_push(&stream, chunk, NULL, plain, count, START, PREFIX, last ? FINAL : MESSAGE);
        written = sink(context, chunk, count + CHUNK_OVERHEAD);
        plain += count;
        length -= count;
    }
    sodium_memzero(&stream, sizeof stream);
    return written ? NULL : "not-written";
}
