/* libpushcrypt: sealing and opening of end-to-end encrypted push notifications, for programs that are not in Swift.
 *
 * These comments are the reference. Docs/OtherLanguages.md has examples in C and Python, Docs/Format.md the format.
 *
 * Memory    Nothing changes its owner. The caller brings every buffer; the library keeps no pointer, and gives none but that of
 *           `pushcrypt_version`, which nobody frees. What a call writes to must not overlap what it reads.
 * Threads   Every function may be called by any number of threads at the same time. Nothing is kept between calls but the last
 *           error, which each thread has for itself. A child of `fork` may call them, too. What was loaded stays so:
 *           `dlclose` does not remove the library.
 * Texts     A `const char *` without a length is a text that ends with a NUL. It is read up to there, and never further than
 *           PUSHCRYPT_TEXT_MAX bytes; one that has not ended by then is refused. Texts and JSON are UTF-8.
 * Secrets   A secret key is read where the caller has it, goes into guarded memory, and is wiped before the call returns; no copy
 *           of the text is made. To wipe the text is for the caller. What is sealed or opened lies in ordinary memory.
 * Outputs   `*length` says how many bytes were written; there is no NUL behind them. After every result but PUSHCRYPT_DONE the
 *           buffer is as it was.
 * Bad input Null pointers, lengths that no memory has, texts without an end, bytes that are no UTF-8: each is refused with a
 *           result. Of a payload not more than 1 MiB and a byte is read, of a push not more than 64 KiB and a byte, whatever
 *           its length. The process is ended only where its memory is used up or the system has no random source.
 */
#ifndef PUSHCRYPT_H
#define PUSHCRYPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that this header is of. Before 1.0.0 a minor version may change the interface, and the number behind `.so.` then. */
#define PUSHCRYPT_VERSION "0.1.0"

/* What `pushcrypt_seal` and `pushcrypt_open` return; the command `pushcrypt` ends with the same, but for PUSHCRYPT_TOO_SMALL.
 * `pushcrypt_last_error` has the reason. Further values may come: what is not 0 has failed. */
#define PUSHCRYPT_DONE 0      /* it is done, and the output is there */
#define PUSHCRYPT_FAILED 1    /* it failed, and the same call may succeed later; no function of this version returns it */
#define PUSHCRYPT_TOO_SMALL 2 /* the output has not room; `*length` is the capacity that is needed, and nothing else was written */
#define PUSHCRYPT_MISUSE 64   /* the call must change: an argument, the topic, an option, or a key that the caller has set up */
#define PUSHCRYPT_REFUSED 65  /* the payload, the push or the recipient's key is refused, and will be again */

/* Capacities that always suffice, in bytes. */
#define PUSHCRYPT_PUSH_MAX 5120     /* a sealed push; 4096 unless the push type is voip */
#define PUSHCRYPT_PAYLOAD_MAX 3584  /* an opened payload */
#define PUSHCRYPT_ERROR_MAX 1024    /* the text of the last error, its NUL included */

#define PUSHCRYPT_TEXT_MAX 16384    /* the most bytes of a text, its NUL included */
#define PUSHCRYPT_KEY_CAPACITY 63   /* the text of a public key and its NUL */
#define PUSHCRYPT_ID_CAPACITY 33    /* the text of a message id and its NUL */
#define PUSHCRYPT_ROTATIONS_MAX 4   /* the most rotations in one message */

/* How one message is sealed. Zeros are the defaults, so name what differs:
 *
 *     struct pushcrypt_seal_options options = {.size = sizeof options, .message_name = "table-17"};
 */
struct pushcrypt_seal_options {
    /* `sizeof` this structure. A later version adds members at the end. A library that is older than the caller's header
     * takes them as long as they are zeros, and refuses the call with PUSHCRYPT_MISUSE otherwise. */
    size_t size;
    /* "alert", "background" or "voip"; NULL for "alert". */
    const char *push_type;
    /* A name for the message, the same in every retry, so that a phone shows it once; NULL for a separate message. It does not
     * travel. */
    const char *message_name;
    /* The title that is shown when the push cannot be opened, in the clear for everybody on the way; NULL for "New message". */
    const char *title;
    /* For how long after sealing it is shown, in seconds, 1 to 2592000 (30 days); 0 for 30 days. */
    uint32_t time_to_live;
    /* PUSHCRYPT_SENT_EXACTLY or 0. */
    uint32_t flags;
};

/* The push goes to Apple byte for byte. Without it the widest form is measured that a client may encode it to again, because
 * most parse JSON and write it again. */
#define PUSHCRYPT_SENT_EXACTLY 1u

/* Turns the APNs payload that a provider would send into the one to send instead.
 *
 * The content is encrypted to one device and signed by the sender; the relay learns the size bucket, the device and the time. The
 * result is a complete push, UTF-8 JSON on one line. Deliver it unchanged. Each call is a separate message unless it has a
 * name, also one that is made again after PUSHCRYPT_TOO_SMALL.
 *
 *   payload, payload_length   the APNs payload as UTF-8 JSON, with an `aps` object that has something to show
 *   device_key                the phone's registered key, `pcr1...`
 *   signing_key               the provider's secret key, `PCS-SECRET-1...`; a newline may stand behind either key
 *   topic                     the app's bundle id, 1 to 255 ASCII letters, digits, '.' and '-'
 *   now                       milliseconds since 1970-01-01 UTC; before 2001 it is treated as a count of seconds, and refused
 *   options                   NULL for the defaults
 *   push, capacity, length    the output; `push` may be NULL when `capacity` is 0
 *
 * Returns PUSHCRYPT_DONE, PUSHCRYPT_TOO_SMALL, PUSHCRYPT_MISUSE or PUSHCRYPT_REFUSED. The codes are those of "Sealing a payload"
 * and "Reading a key or a record" in Docs/Codes.md, `invalid-call` and `buffer-too-small`. */
int pushcrypt_seal(
    const char *payload, size_t payload_length, const char *device_key, const char *signing_key, const char *topic, uint64_t now,
    const struct pushcrypt_seal_options *options, char *push, size_t capacity, size_t *length);

/* The sender's key changes. */
struct pushcrypt_rotation {
    /* The last moment at which the old key verifies messages, in milliseconds since 1970-01-01 UTC. */
    uint64_t old_until;
    /* The key whose place is taken, and the key that takes it: `pcs1...`. */
    char old_sender[PUSHCRYPT_KEY_CAPACITY], new_sender[PUSHCRYPT_KEY_CAPACITY];
};

/* What is said of an opened message. It is authentic, like the payload. */
struct pushcrypt_opened {
    /* Set by the caller: `sizeof` this structure. A later version adds members at the end; an older library fills them with
     * zeros. */
    size_t size;
    /* When it was sealed, by the sender's clock, and the last moment at which it opens; milliseconds since 1970-01-01 UTC. */
    uint64_t sent_at, expires_at;
    /* How many sealed files belong to it. This library does not open files. */
    uint32_t file_count;
    /* How many of `rotations` are there. */
    uint32_t rotation_count;
    /* What the caller does to its list of senders, in this order, once its replay guard has taken the message: the line of
     * `old_sender` gets `old_until` behind it, and `new_sender` a new line. Under one lock, and to the list that is
     * stored then, because another message may have changed it. */
    struct pushcrypt_rotation rotations[PUSHCRYPT_ROTATIONS_MAX];
    /* Names the message, the same in every copy of it: 32 hexadecimal digits. */
    char message_id[PUSHCRYPT_ID_CAPACITY];
    /* Who sealed it, `pcs1...`: one of the senders that were given, or a key that a rotation in this message brings. */
    char sender[PUSHCRYPT_KEY_CAPACITY];
    /* The public half of the device's key that opened it, `pcr1...`. */
    char device_key[PUSHCRYPT_KEY_CAPACITY];
};

/* Turns a received push into the payload that its provider sealed.
 *
 * What comes out is authentic, fresh, and for this device and topic. It is *not* known to be new: a relay can deliver a push any
 * number of times until it expires. The caller's duty is a replay guard: under one lock it looks whether `sender` and
 * `message_id` were seen, and remembers them until `expires_at`, durably. Only what passes is shown with sound, or acted on. Opening
 * itself changes nothing.
 *
 *   push, push_length          the push as it was received, UTF-8 JSON; at most 65536 bytes are taken
 *   device_keys                the device's secret keys, `PCR-SECRET-1...`, one a line
 *   senders                    the keys that are believed, `pcs1...`, one a line; never one that came with a push
 *   topic                      the app's bundle id
 *   now                        milliseconds since 1970-01-01 UTC
 *   opened                     what is said of the message; all zeros but `size` unless the result is PUSHCRYPT_DONE, and left
 *                              alone when `size` is not the structure's
 *   payload, capacity, length  the output; `payload` may be NULL when `capacity` is 0
 *
 * Behind a key and a space there may be the last moment at which it is used, in milliseconds since 1970-01-01 UTC: of a retiring device
 * key its end, of a sender's key that was rotated `old_until`. Such a sender's key still verifies messages, and its word on
 * rotations counts no more. Both lists have at least one key that is not empty; empty lines are ignored.
 *
 * The payload is UTF-8 JSON with an `aps` object, byte for byte what was sealed. But a member `pushcrypt` at the top, which has the keys of
 * sealed files, is left out, and the rest is written without white space then.
 *
 * Returns PUSHCRYPT_DONE, PUSHCRYPT_TOO_SMALL, PUSHCRYPT_MISUSE or PUSHCRYPT_REFUSED. The codes are those of "Opening a push" in
 * Docs/Codes.md but `duplicate` and `rotation-conflict`, those of keys, `invalid-call` and `buffer-too-small`. They are for a
 * log: a person is shown the fallback, whatever the code. Whatever a relay changes in what is encrypted gives the one code
 * `authentication-failed`. That a rotated key has signed a second rotation, a sign of its theft, is not noticed here; the Swift
 * library does that. */
int pushcrypt_open(
    const char *push, size_t push_length, const char *device_keys, const char *senders, const char *topic, uint64_t now,
    struct pushcrypt_opened *opened, char *payload, size_t capacity, size_t *length);

/* Says why the last `pushcrypt_seal` or `pushcrypt_open` of this thread has failed: `code: what happened, and what to do`.
 *
 * The code has lower-case letters, digits and '-', and `pushcrypt explain CODE` explains it. Neither part ever has anything of a key
 * or a payload. The text is empty when the call succeeded, and before the first.
 *
 * Writes as much as `capacity` allows, whole characters, and a NUL; nothing when `capacity` is 0 or `out` is NULL. Returns the
 * length of the whole text in bytes, without the NUL; PUSHCRYPT_ERROR_MAX bytes always suffice. */
size_t pushcrypt_last_error(char *out, size_t capacity);

/* The version of the library that is loaded, such as "0.1.0"; it may be another than PUSHCRYPT_VERSION. Never NULL. */
const char *pushcrypt_version(void);

#ifdef __cplusplus
}
#endif

#endif
