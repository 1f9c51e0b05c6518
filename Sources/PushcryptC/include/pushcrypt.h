/* libpushcrypt: seals and opens end-to-end encrypted push notifications, for programs in languages other than Swift.
 *
 * These comments are the reference. Sources/Languages/c/README.md has examples in C and Python, Docs/Format.md the format.
 *
 * Memory    Ownership never changes. The caller provides every buffer. The library keeps no pointer and returns none, except
 *           from `pushcrypt_version`, which must not be freed. Inputs and outputs of a call must not overlap.
 * Threads   Any number of threads may call any function at the same time. The only state between calls is the last error, of
 *           which each thread has its own. A child of `fork` may make calls too. The library stays loaded: `dlclose` does not
 *           remove it.
 * Texts     A `const char *` without a length is a NUL-terminated text. At most PUSHCRYPT_TEXT_MAX bytes are read; a text
 *           without a NUL among them is refused. Texts and JSON are UTF-8.
 * Secrets   A secret key is read in place, decoded into guarded memory, and wiped before the call returns; its text is not
 *           copied. The caller wipes the text. Payloads are in ordinary memory.
 * Outputs   `*length` is the number of bytes written; no NUL is added. Unless the result is PUSHCRYPT_DONE, the buffer is
 *           unchanged.
 * Bad input Null pointers, impossible lengths, texts without a NUL and bytes that are not UTF-8 are refused with a result. At
 *           most 1 MiB + 1 byte of a payload and 64 KiB + 1 byte of a push are read, whatever the length. The process is
 *           terminated only if it is out of memory or the system has no random source.
 */
#ifndef PUSHCRYPT_H
#define PUSHCRYPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. Before 1.0.0, any version may change the interface, and then also the number after `.so.`. */
#define PUSHCRYPT_VERSION "1.0.0-beta.1"

/* The results of `pushcrypt_seal` and `pushcrypt_open`, which are also the exit codes of the command `pushcrypt`, except for
 * PUSHCRYPT_TOO_SMALL. `pushcrypt_last_error` has the reason. A later version may add values: treat any value except 0 as a
 * failure. */
#define PUSHCRYPT_DONE 0      /* success; the output is complete */
#define PUSHCRYPT_FAILED 1    /* failure; the same call may succeed later; no function of this version returns it */
#define PUSHCRYPT_TOO_SMALL 2 /* the output does not fit; `*length` is the needed capacity, and nothing else was written */
#define PUSHCRYPT_MISUSE 64   /* the call must change: an argument, the topic, an option, or a key from the caller's setup */
#define PUSHCRYPT_REFUSED 65  /* the payload, the push or the recipient's key is refused, and will be refused again */

/* Capacities in bytes that are always sufficient. */
#define PUSHCRYPT_PUSH_MAX 5120     /* a sealed push; 4096 unless the push type is voip */
#define PUSHCRYPT_PAYLOAD_MAX 3584  /* an opened payload */
#define PUSHCRYPT_ERROR_MAX 1024    /* the text of the last error, including its NUL */

#define PUSHCRYPT_TEXT_MAX 16384    /* the maximum length of a text in bytes, including its NUL */
#define PUSHCRYPT_KEY_CAPACITY 63   /* the text of a public key, including its NUL */
#define PUSHCRYPT_ID_CAPACITY 33    /* the text of a message id, including its NUL */
#define PUSHCRYPT_LEARNED_CAPACITY 174 /* what was learnt about a provider, including its NUL */

/* The options for one message. Zeros are the defaults, so set only what differs:
 *
 *     struct pushcrypt_seal_options options = {.size = sizeof options, .message_name = "table-17"};
 */
struct pushcrypt_seal_options {
    /* `sizeof` this structure. A later version may add members at the end. A library that is older than the caller's header
     * accepts them if they are zero, and otherwise refuses the call with PUSHCRYPT_MISUSE. */
    size_t size;
    /* "alert", "background" or "voip"; NULL for "alert". */
    const char *push_type;
    /* A name for the message, the same in every retry, so that a phone shows the message once; NULL for a separate message
     * each time. The name is not sent. */
    const char *message_name;
    /* The title that is shown if the push cannot be opened. It is readable by everyone on the way. NULL for "New message". */
    const char *title;
    /* The time after sealing for which receivers show the message, in seconds, 1 to 2592000 (30 days); 0 for 30 days. */
    uint32_t time_to_live;
    /* PUSHCRYPT_SENT_EXACTLY or 0. */
    uint32_t flags;
};

/* The push reaches Apple byte for byte. Without this flag, the limit applies to the longest form that a client may re-encode the
 * push to, because most clients parse JSON and write it again. */
#define PUSHCRYPT_SENT_EXACTLY 1u

/* Seals an APNs payload for one device: returns the payload to send instead.
 *
 * The content is encrypted to the device and signed by the provider; the relay learns the size bucket, the device and the time.
 * The output is a complete push, UTF-8 JSON on one line. Send it unchanged. Without a name, each call seals a separate message,
 * even one that repeats a call after PUSHCRYPT_TOO_SMALL.
 *
 *   payload, payload_length   the APNs payload as UTF-8 JSON, with an `aps` object that has something to show
 *   device_key                the phone's registered key, `pcr1...` or `pcrx1...`
 *   signing_key               the key that signs: a provider key, `PCS-SECRET-1...`, or the three lines of a signing key's file, as
 *                             `pushcrypt key export --secret` writes them; a newline is allowed at the end of either key
 *   topic                     the app's bundle id, never with `.voip`: 1 to 255 ASCII letters, digits, '.' and '-'
 *   now                       milliseconds since 1970-01-01 UTC; a time before 2001 is refused, because it may be in seconds
 *   options                   NULL for the defaults
 *   push, capacity, length    the output; `push` may be NULL when `capacity` is 0
 *
 * Returns PUSHCRYPT_DONE, PUSHCRYPT_TOO_SMALL, PUSHCRYPT_MISUSE or PUSHCRYPT_REFUSED. `pushcrypt explain` lists the codes:
 * those of "Sealing a payload" and "Reading a key or a record", `invalid-call` and `buffer-too-small`. */
int pushcrypt_seal(
    const char *payload, size_t payload_length, const char *device_key, const char *signing_key, const char *topic, uint64_t now,
    const struct pushcrypt_seal_options *options, char *push, size_t capacity, size_t *length);

/* The properties of an opened message. They are authentic, like the payload. */
struct pushcrypt_opened {
    /* Set by the caller: `sizeof` this structure. A later version may add members at the end; an older library fills them with
     * zeros. */
    size_t size;
    /* The time of sealing, by the provider's clock, and the last moment at which the message opens; milliseconds since 1970-01-01
     * UTC. */
    uint64_t sent_at, expires_at;
    /* The number of sealed files that belong to the message. This library does not open files. */
    uint32_t file_count;
    /* The position among `device_keys` of the key that opened the message, from 1. */
    uint32_t device_number;
    /* The epoch of the key that signed; 0 for the provider key itself. */
    uint32_t epoch;
    /* 1 if the provider key has signed two certificates for one epoch: two machines rotate, or somebody else has it. Tell the app. */
    uint32_t certificate_conflict;
    /* The id of the message, the same in every copy: 32 hexadecimal digits. */
    char message_id[PUSHCRYPT_ID_CAPACITY];
    /* The provider key, `pcs1...`: one of the given ones. */
    char provider[PUSHCRYPT_KEY_CAPACITY];
    /* The public half of the device's key that opened the message, `pcr1...`; empty for a post-quantum one, which has 1957
     * characters: `device_number` tells which it is. */
    char device_key[PUSHCRYPT_KEY_CAPACITY];
    /* What is now known about `provider`: the highest certificate and the highest floor, with a space between them. Empty if the
     * message taught nothing new. Otherwise store it after the key in `providers`, in place of what is there, whatever the replay
     * guard says of the message. Do this under one lock. If another message has changed the stored text meanwhile, open this one
     * again with it. */
    char learned[PUSHCRYPT_LEARNED_CAPACITY];
};

/* Opens a received push: returns the payload that its provider sealed.
 *
 * The output is authentic, fresh, and for this device and topic. It is *not* known to be new: a relay can deliver a push any
 * number of times until it expires. The caller therefore needs a replay guard: under one lock, it checks whether `provider` and
 * `message_id` were seen before for this account, and stores them durably until two days after `expires_at`. Show with sound, or
 * act on, only messages that pass this check. Store `epoch` beside them, the highest of all copies, and ignore a row whose epoch is
 * below the floor that was learnt: somebody else may have written it with a stolen key. Opening itself changes nothing.
 *
 *   push, push_length          the push as received, UTF-8 JSON, at most 65536 bytes
 *   push_type                  how the push arrived: "alert", "background" or "voip"; NULL for "alert". A message that was sealed for
 *                              another type is refused (`wrong-push-class`), so that a relay cannot make an alert ring like a call
 *   device_keys                the device's secret keys, `PCR-SECRET-1...` or `PCRX-SECRET-1...`, one per line. A key may be
 *                              followed by a space and the last moment at which it is used, in milliseconds since 1970-01-01 UTC
 *   providers                  the pinned provider keys of the account, `pcs1...`, one per line: one, or two while the app changes
 *                              its provider; never a key that was received in a push. A key may be followed by a space and what
 *                              was learnt about it, `learned` above: keep that for as long as the app is installed, also if the pin
 *                              is removed, and once for all accounts
 *   topic                      the app's bundle id
 *   now                        milliseconds since 1970-01-01 UTC
 *   opened                     the properties of the message; unless the result is PUSHCRYPT_DONE, all zeros except `size`, or
 *                              unchanged if `size` is wrong
 *   payload, capacity, length  the output; `payload` may be NULL when `capacity` is 0
 *
 * Empty lines are ignored.
 *
 * The payload is UTF-8 JSON with an `aps` object, with the same bytes that were sealed. If it has a top-level member `pushcrypt`,
 * with the keys of sealed files, that member is removed, and the rest is written without white space.
 *
 * Returns PUSHCRYPT_DONE, PUSHCRYPT_TOO_SMALL, PUSHCRYPT_MISUSE or PUSHCRYPT_REFUSED. `pushcrypt explain` lists the codes:
 * those of "Opening a push" except `duplicate`, those of keys and certificates, `invalid-call` and `buffer-too-small`. They are for
 * logs: the user sees the fallback, whatever the code. Any change to the encrypted content gives the same code,
 * `authentication-failed`. */
int pushcrypt_open(
    const char *push, size_t push_length, const char *push_type, const char *device_keys, const char *providers, const char *topic,
    uint64_t now, struct pushcrypt_opened *opened, char *payload, size_t capacity, size_t *length);

/* Returns the reason why the last `pushcrypt_seal` or `pushcrypt_open` of this thread failed: `code: what happened, and what to
 * do`.
 *
 * The code consists of lower-case letters, digits and '-'; `pushcrypt explain CODE` explains it. The text never contains any part
 * of a key or a payload. It is empty before the first call and if the last call succeeded, except for a warning, `warning: ...`,
 * of a topic that ends with `.voip`, which phones do not take for the app's bundle id.
 *
 * Writes as many whole characters as fit into `capacity`, and a NUL; nothing if `capacity` is 0 or `out` is NULL. Returns the
 * length of the whole text in bytes, without the NUL. A capacity of PUSHCRYPT_ERROR_MAX is always sufficient. */
size_t pushcrypt_last_error(char *out, size_t capacity);

/* Returns the version of the loaded library, such as "1.0.0-beta.1", which may differ from PUSHCRYPT_VERSION. Never NULL. */
const char *pushcrypt_version(void);

#ifdef __cplusplus
}
#endif

#endif
