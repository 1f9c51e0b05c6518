// The border as C meets it: pointers that lead nowhere, buffers that end at a page nobody may touch, structures of other versions,
// threads; and at the end a look whether a secret key is anywhere in memory still. Whatever is wrong ends the program with its line.
// Usage: calls DEVICE-PUBLIC-KEY SIGNING-KEY-FILE DEVICE-KEY-FILE PROVIDER-PUBLIC-KEY
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <pushcrypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                                 \
    do {                                                                                                 \
        if (!(condition)) {                                                                              \
            fprintf(stderr, "calls.c:%d: %s; last error: %s\n", __LINE__, #condition, last_error());     \
            exit(1);                                                                                     \
        }                                                                                                \
    } while (0)

static const char *device_public, *provider_public;
static char *signing_key, *device_secret;
static const char topic[] = "com.example.app", payload[] = "{\"aps\":{\"alert\":\"Your table is ready\"}}";
static const uint64_t now = UINT64_C(1767225600000);

static const char *last_error(void) {
    static char text[PUSHCRYPT_ERROR_MAX];
    pushcrypt_last_error(text, sizeof text);
    return text;
}

static int says(const char *code) {
    size_t length = strlen(code);
    return strncmp(last_error(), code, length) == 0 && last_error()[length] == ':';
}

static int seal(char *push, size_t capacity, size_t *length) {
    return pushcrypt_seal(payload, sizeof payload - 1, device_public, signing_key, topic, now, NULL, push, capacity, length);
}

static int open_push(const char *push, size_t push_length, struct pushcrypt_opened *opened, char *out, size_t capacity, size_t *length) {
    return pushcrypt_open(push, push_length, NULL, device_secret, provider_public, topic, now, opened, out, capacity, length);
}

// So many bytes, behind which lies a page that nobody may touch.
static char *before_the_end(size_t length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (length + page - 1) / page;
    char *start = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(start != MAP_FAILED && mprotect(start + pages * page, page, PROT_NONE) == 0);
    return start + pages * page - length;
}

static void there_and_back(void) {
    char push[PUSHCRYPT_PUSH_MAX], out[PUSHCRYPT_PAYLOAD_MAX];
    size_t push_length, length;
    struct pushcrypt_opened opened = {.size = sizeof opened};
    CHECK(strcmp(pushcrypt_version(), PUSHCRYPT_VERSION) == 0);
    CHECK(seal(push, sizeof push, &push_length) == PUSHCRYPT_DONE);
    CHECK(open_push(push, push_length, &opened, out, sizeof out, &length) == PUSHCRYPT_DONE);
    CHECK(length == sizeof payload - 1 && memcmp(out, payload, length) == 0);
    CHECK(opened.size == sizeof opened && opened.sent_at == now && opened.expires_at == now + UINT64_C(2592000000));
    CHECK(strlen(opened.message_id) == PUSHCRYPT_ID_CAPACITY - 1 && strspn(opened.message_id, "0123456789abcdef") == 32);
    CHECK(strcmp(opened.provider, provider_public) == 0 && strcmp(opened.device_key, device_public) == 0);
    CHECK(opened.file_count == 0 && opened.epoch == 0 && opened.certificate_conflict == 0 && opened.learned[0] == 0);
    CHECK(last_error()[0] == 0);

    // A message that does not open says nothing.
    push[push_length - 20] = push[push_length - 20] == 'A' ? 'B' : 'A';
    CHECK(open_push(push, push_length, &opened, out, sizeof out, &length) == PUSHCRYPT_REFUSED && says("authentication-failed"));
    static const struct pushcrypt_opened nothing;
    CHECK(opened.size == sizeof opened && length == 0);
    CHECK(memcmp((char *)&opened + sizeof opened.size, (char *)&nothing + sizeof opened.size, sizeof opened - sizeof opened.size) == 0);
}

static void null_pointers(void) {
    char push[PUSHCRYPT_PUSH_MAX], out[PUSHCRYPT_PAYLOAD_MAX];
    size_t n = sizeof payload - 1, push_length, length;
    struct pushcrypt_opened opened = {.size = sizeof opened};
    CHECK(seal(push, sizeof push, &push_length) == PUSHCRYPT_DONE);
#define SEAL(payload, device, signer, topic, push, length) \
    CHECK(pushcrypt_seal(payload, n, device, signer, topic, now, NULL, push, 5120, length) == PUSHCRYPT_MISUSE && says("invalid-call"))
    SEAL(NULL, device_public, signing_key, topic, push, &length);
    SEAL(payload, NULL, signing_key, topic, push, &length);
    SEAL(payload, device_public, NULL, topic, push, &length);
    SEAL(payload, device_public, signing_key, NULL, push, &length);
    SEAL(payload, device_public, signing_key, topic, NULL, &length);
    SEAL(payload, device_public, signing_key, topic, push, NULL);
#define OPEN(push, device, providers, topic, opened, out, length)                                                  \
    CHECK(                                                                                                         \
        pushcrypt_open(push, push_length, NULL, device, providers, topic, now, opened, out, 3584, length) == PUSHCRYPT_MISUSE && \
        says("invalid-call"))
    OPEN(NULL, device_secret, provider_public, topic, &opened, out, &length);
    OPEN(push, NULL, provider_public, topic, &opened, out, &length);
    OPEN(push, device_secret, NULL, topic, &opened, out, &length);
    OPEN(push, device_secret, provider_public, NULL, &opened, out, &length);
    OPEN(push, device_secret, provider_public, topic, NULL, out, &length);
    OPEN(push, device_secret, provider_public, topic, &opened, NULL, &length);
    memset(opened.message_id, 'x', sizeof opened.message_id);
    OPEN(push, device_secret, provider_public, topic, &opened, out, NULL);
    CHECK(opened.message_id[0] == 0);
    // No bytes are an input like any other.
    CHECK(pushcrypt_seal(NULL, 0, device_public, signing_key, topic, now, NULL, push, 5120, &length) == PUSHCRYPT_REFUSED);
    CHECK(says("malformed-payload"));
    CHECK(open_push(NULL, 0, &opened, out, sizeof out, &length) == PUSHCRYPT_REFUSED && says("malformed-notification"));
}

static void small_outputs(void) {
    char *push = before_the_end(PUSHCRYPT_PUSH_MAX), untouched[PUSHCRYPT_PUSH_MAX];
    size_t needed, length;
    CHECK(seal(NULL, 0, &needed) == PUSHCRYPT_TOO_SMALL && says("buffer-too-small"));
    CHECK(needed > 0 && needed <= 4096);
    char *exact = before_the_end(needed);
    CHECK(seal(exact, needed, &length) == PUSHCRYPT_DONE && length == needed);
    memset(push, 'x', PUSHCRYPT_PUSH_MAX);
    memset(untouched, 'x', sizeof untouched);
    CHECK(seal(push, needed - 1, &length) == PUSHCRYPT_TOO_SMALL && length == needed);
    CHECK(memcmp(push, untouched, PUSHCRYPT_PUSH_MAX) == 0);
    CHECK(seal(push, SIZE_MAX, &length) == PUSHCRYPT_MISUSE && says("invalid-call") && length == 0);

    struct pushcrypt_opened opened = {.size = sizeof opened};
    size_t n = sizeof payload - 1;
    CHECK(open_push(exact, needed, &opened, push, n - 1, &length) == PUSHCRYPT_TOO_SMALL && length == n);
    CHECK(memcmp(push, untouched, PUSHCRYPT_PUSH_MAX) == 0 && opened.message_id[0] == 0);
    CHECK(open_push(exact, needed, &opened, before_the_end(n), n, &length) == PUSHCRYPT_DONE && length == n);
}

static void texts_and_lengths(void) {
    char push[PUSHCRYPT_PUSH_MAX], out[PUSHCRYPT_PAYLOAD_MAX];
    size_t length, mebibyte = 1 << 20, most = 1 << 16;
    struct pushcrypt_opened opened = {.size = sizeof opened};
    // No NUL: as far as is promised, and no further.
    char *endless = before_the_end(PUSHCRYPT_TEXT_MAX);
    memset(endless, 'p', PUSHCRYPT_TEXT_MAX);
    CHECK(pushcrypt_seal(payload, 1, endless, signing_key, topic, now, NULL, push, sizeof push, &length) == PUSHCRYPT_MISUSE);
    CHECK(pushcrypt_seal(payload, 1, device_public, endless, topic, now, NULL, push, sizeof push, &length) == PUSHCRYPT_MISUSE);
    CHECK(pushcrypt_seal(payload, 1, device_public, signing_key, endless, now, NULL, push, sizeof push, &length) == PUSHCRYPT_MISUSE);
    CHECK(pushcrypt_open(push, 1, NULL, endless, provider_public, topic, now, &opened, out, sizeof out, &length) == PUSHCRYPT_MISUSE);
    CHECK(pushcrypt_open(push, 1, NULL, device_secret, endless, topic, now, &opened, out, sizeof out, &length) == PUSHCRYPT_MISUSE);
    CHECK(says("invalid-call"));
    endless[PUSHCRYPT_TEXT_MAX - 1] = 0;
    CHECK(pushcrypt_open(push, 1, NULL, device_secret, endless, topic, now, &opened, out, sizeof out, &length) == PUSHCRYPT_MISUSE);
    CHECK(says("malformed-key"));
    // A text that ends where the memory does.
    char *last = before_the_end(strlen(signing_key) + 1);
    strcpy(last, signing_key);
    CHECK(pushcrypt_seal(payload, sizeof payload - 1, device_public, last, topic, now, NULL, push, sizeof push, &length) == 0);
    explicit_bzero(last, strlen(last));
    // A length beyond what is taken is not believed, and one that no memory has is refused.
    char *long_payload = before_the_end(mebibyte + 1), *long_push = before_the_end(most + 1);
    memset(long_payload, ' ', mebibyte + 1);
    memset(long_push, ' ', most + 1);
    CHECK(pushcrypt_seal(long_payload, SIZE_MAX / 2, device_public, signing_key, topic, now, NULL, push, sizeof push, &length) == PUSHCRYPT_REFUSED);
    CHECK(says("malformed-payload"));
    CHECK(pushcrypt_seal(payload, SIZE_MAX, device_public, signing_key, topic, now, NULL, push, sizeof push, &length) == PUSHCRYPT_MISUSE);
    CHECK(open_push(long_push, SIZE_MAX / 2, &opened, out, sizeof out, &length) == PUSHCRYPT_REFUSED && says("malformed-notification"));
    CHECK(open_push(long_push, SIZE_MAX, &opened, out, sizeof out, &length) == PUSHCRYPT_MISUSE && says("invalid-call"));
    // Seconds where milliseconds belong.
    CHECK(pushcrypt_seal(payload, sizeof payload - 1, device_public, signing_key, topic, now / 1000, NULL, push, sizeof push, &length) == PUSHCRYPT_MISUSE);
    CHECK(strstr(last_error(), "not in seconds") != NULL);
}

// Structures as an older or a newer header has them.
static void structures(void) {
    char push[PUSHCRYPT_PUSH_MAX], out[PUSHCRYPT_PAYLOAD_MAX];
    size_t push_length, length;
    struct {
        struct pushcrypt_seal_options known;
        uint64_t newer;
    } options = {.known = {.size = sizeof options, .title = "Post"}};
#define SEAL_WITH(options) \
    pushcrypt_seal(payload, sizeof payload - 1, device_public, signing_key, topic, now, options, push, sizeof push, &push_length)
    CHECK(SEAL_WITH(&options.known) == PUSHCRYPT_DONE);
    options.newer = UINT64_C(1) << 63;
    CHECK(SEAL_WITH(&options.known) == PUSHCRYPT_MISUSE && strstr(last_error(), "does not support") != NULL);
    options.newer = 0;
    options.known.flags = 2;
    CHECK(SEAL_WITH(&options.known) == PUSHCRYPT_MISUSE && strstr(last_error(), "does not support") != NULL);
    options.known.flags = 0;
    size_t sizes[] = {0, 1, sizeof options.known - 1, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options.known.size = sizes[i];
        CHECK(SEAL_WITH(&options.known) == PUSHCRYPT_MISUSE && strstr(last_error(), "size") != NULL);
    }
    CHECK(seal(push, sizeof push, &push_length) == PUSHCRYPT_DONE);
    struct {
        struct pushcrypt_opened known;
        uint64_t newer;
    } opened = {.known = {.size = sizeof opened}, .newer = 1};
    CHECK(open_push(push, push_length, &opened.known, out, sizeof out, &length) == PUSHCRYPT_DONE);
    CHECK(opened.newer == 0 && opened.known.size == sizeof opened);
    opened.newer = 1;
    sizes[2] = sizeof opened.known - 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        opened.known.size = sizes[i];
        CHECK(open_push(push, push_length, &opened.known, out, sizeof out, &length) == PUSHCRYPT_MISUSE);
        CHECK(opened.newer == 1 && opened.known.size == sizes[i]);
    }
}

static void texts_of_errors(void) {
    size_t length;
    CHECK(seal(NULL, 0, &length) == PUSHCRYPT_TOO_SMALL);
    size_t whole = pushcrypt_last_error(NULL, 0);
    CHECK(whole == strlen(last_error()) && whole < PUSHCRYPT_ERROR_MAX);
    char *out = before_the_end(7);
    CHECK(pushcrypt_last_error(out, 0) == whole);
    memset(out, 'x', 7);
    CHECK(pushcrypt_last_error(out, 7) == whole && strcmp(out, "buffer") == 0);
    CHECK(pushcrypt_last_error(out, 1) == whole && out[0] == 0 && out[1] == 'u');
    CHECK(pushcrypt_last_error(NULL, 100) == whole);
}

// Each thread has its own line of a list wrong, the last one none, and hears of that one alone.
enum { THREADS = 8, ROUNDS = 500 };
static pthread_barrier_t barrier;

static void *thread(void *number) {
    size_t wrong = (size_t)(uintptr_t)number, length;
    char list[1024] = "", expected[64], said[PUSHCRYPT_ERROR_MAX], push[PUSHCRYPT_PUSH_MAX], out[PUSHCRYPT_PAYLOAD_MAX];
    struct pushcrypt_opened opened = {.size = sizeof opened};
    for (size_t line = 1; line <= THREADS; line++) {
        strcat(list, line == wrong && wrong != THREADS ? "PCR-SECRET-1WRONG" : device_secret);
        strcat(list, "\n");
    }
    sprintf(expected, "malformed-key: key %zu of device_keys:", wrong);
    CHECK(pushcrypt_last_error(said, sizeof said) == 0 && said[0] == 0);
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(seal(push, sizeof push, &length) == PUSHCRYPT_DONE);
        CHECK(pushcrypt_last_error(said, sizeof said) == 0);
        int result = pushcrypt_open(push, length, NULL, list, provider_public, topic, now, &opened, out, sizeof out, &length);
        CHECK(result == (wrong == THREADS ? PUSHCRYPT_DONE : PUSHCRYPT_MISUSE));
        pushcrypt_last_error(said, sizeof said);
        CHECK(wrong == THREADS ? said[0] == 0 : strncmp(said, expected, strlen(expected)) == 0);
    }
    explicit_bzero(list, sizeof list);
    return NULL;
}

static void threads(void) {
    pthread_t started[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&started[i], NULL, thread, (void *)(uintptr_t)(i + 1)) == 0);
    for (size_t i = 0; i < THREADS; i++) pthread_join(started[i], NULL);
}

static void after_fork(void) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        there_and_back();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// --- Secrets ---------------------------------------------------------------------------------------------------------------------

enum { TEXT = 70, PREFIX = 12, KEY = 32 };
static const unsigned char MASK = 0xA5;

// A secret that is looked for, masked, so that the search does not find itself: the characters of a key behind its prefix, and its bytes.
struct sought {
    unsigned char text[TEXT - PREFIX], key[KEY];
};

static struct sought sought(const char *text) {
    static const char symbols[] = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
    struct sought sought;
    unsigned buffer = 0, bits = 0, count = 0;
    for (int i = 0; i < TEXT - PREFIX; i++) {
        sought.text[i] = (unsigned char)text[PREFIX + i] ^ MASK;
        buffer = (buffer << 5 | (unsigned)(strchr(symbols, text[PREFIX + i]) - symbols)) & 0xFFF;
        bits += 5;
        if (bits >= 8 && count < KEY) sought.key[count++] = (unsigned char)(buffer >> (bits -= 8)) ^ MASK;
    }
    return sought;
}

// How often the first half of a secret, or its second, stands in a part of memory.
static int found(const unsigned char *start, const unsigned char *end, const unsigned char *masked, size_t length) {
    int count = 0;
    size_t half = length / 2;
    for (size_t from = 0; from <= half; from += half) {
        for (const unsigned char *at = start; at + half <= end; at++) {
            size_t same = 0;
            while (same < half && (at[same] ^ MASK) == masked[from + same]) same++;
            if (same == half) count++;
        }
    }
    return count;
}

// How often a secret stands anywhere in the memory that this process can write.
static int found_anywhere(const struct sought *sought) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], rights[5];
    int count = 0;
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end;
        CHECK(sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3);
        if (strncmp(rights, "rw", 2) != 0) continue;
        count += found((const unsigned char *)start, (const unsigned char *)end, sought->text, sizeof sought->text);
        count += found((const unsigned char *)start, (const unsigned char *)end, sought->key, sizeof sought->key);
    }
    fclose(maps);
    return count;
}

// In the place of the system's own: while `keeps_memory`, what is freed stays as it is, so that a copy that was not wiped is found.
static int keeps_memory;
extern void __libc_free(void *memory);
void free(void *memory) {
    if (!keeps_memory) __libc_free(memory);
}

static char *read_secret(const char *path) {
    char *text = before_the_end(TEXT + 1);
    int file = open(path, O_RDONLY);
    CHECK(file >= 0 && read(file, text, TEXT) == TEXT);
    close(file);
    text[TEXT] = 0;
    return text;
}

static void secrets_are_gone(void) {
    const struct sought of_signer = sought(signing_key), of_device = sought(device_secret);
    char push[PUSHCRYPT_PUSH_MAX], out[PUSHCRYPT_PAYLOAD_MAX];
    size_t push_length, length;
    struct pushcrypt_opened opened = {.size = sizeof opened};
    keeps_memory = 1;
    // The caller's own text is found, in its two halves; a copy would be, too.
    CHECK(seal(push, sizeof push, &push_length) == PUSHCRYPT_DONE && found_anywhere(&of_signer) == 2);
    CHECK(open_push(push, push_length, &opened, out, sizeof out, &length) == PUSHCRYPT_DONE && found_anywhere(&of_device) == 2);
    CHECK(seal(push, 0, &length) == PUSHCRYPT_TOO_SMALL && found_anywhere(&of_signer) == 2);
    CHECK(open_push(push, 0, &opened, out, sizeof out, &length) == PUSHCRYPT_REFUSED && found_anywhere(&of_device) == 2);
    // Nor when a caller mixes up which key is which.
    CHECK(pushcrypt_seal(payload, 1, signing_key, device_public, topic, now, NULL, push, 0, &length) == PUSHCRYPT_MISUSE);
    CHECK(found_anywhere(&of_signer) == 2);
    CHECK(pushcrypt_open(push, 0, NULL, provider_public, device_secret, topic, now, &opened, out, 0, &length) == PUSHCRYPT_MISUSE);
    CHECK(found_anywhere(&of_device) == 2);
    explicit_bzero(signing_key, TEXT);
    explicit_bzero(device_secret, TEXT);
    CHECK(found_anywhere(&of_signer) == 0 && found_anywhere(&of_device) == 0);
}

int main(int count, char **arguments) {
    if (count != 5) return 64;
    device_public = arguments[1];
    signing_key = read_secret(arguments[2]);
    device_secret = read_secret(arguments[3]);
    provider_public = arguments[4];
    there_and_back();
    null_pointers();
    small_outputs();
    texts_and_lengths();
    structures();
    texts_of_errors();
    threads();
    after_fork();
    secrets_are_gone();
    printf("library: C: pointers, buffers, texts, structures; %d threads, %d calls each; no secret left\n", THREADS, 2 * ROUNDS);
    return 0;
}
