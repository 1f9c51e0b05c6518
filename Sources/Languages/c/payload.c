// The strict JSON of payloads: Docs/Format.md, "Body", rules [J-1] to [J-7].
//
// `parse_object` checks a text once; later accesses rely on that. No tree is built.
#include <stdlib.h>
#include <string.h>

#include "pushcrypt.h"

enum { DEPTH = 32, BAD = -1, CLOSING = -2 };

// The parser's state. `names` has room for the names of all open objects.
struct parser {
    const uint8_t *at, *end;
    struct json *names;
    size_t name_count;
};

static bool value(struct parser *parser, int depth);

// The length of a UTF-8 character [J-1], or 0.
static size_t utf8_length(const uint8_t *at, const uint8_t *end) {
    const size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    if (length > (size_t)(end - at)) return 0;
    for (size_t index = 1; index < length; index++)
        if ((at[index] & 0xc0) != 0x80) return 0;
    // Overlong forms, surrogates, and values above U+10FFFF.
    if (at[0] == 0xe0 && at[1] < 0xa0) return 0;
    if (at[0] == 0xed && at[1] > 0x9f) return 0;
    if (at[0] == 0xf0 && at[1] < 0x90) return 0;
    if (at[0] == 0xf4 && at[1] > 0x8f) return 0;
    return length;
}

bool is_utf8(const uint8_t *data, size_t length) {
    const uint8_t *at = data, *end = data + length;
    size_t character = 1;
    for (; at < end && character > 0; at += character) character = utf8_length(at, end);
    return character > 0;
}

static int32_t hex4(const uint8_t **at, const uint8_t *end) {
    int32_t unit = 0;
    if (end - *at < 4) return BAD;
    for (int digit = 0; digit < 4; digit++) {
        const uint8_t byte = *(*at)++;
        if (byte >= '0' && byte <= '9')
            unit = unit << 4 | (byte - '0');
        else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
            unit = unit << 4 | ((byte | 0x20) - 'a' + 10);
        else
            return BAD;
    }
    return unit;
}

// The next code point of a string, unescaped; `CLOSING` at its end, `BAD` if it breaks a rule.
static int32_t next_code_point(const uint8_t **at, const uint8_t *end) {
    if (*at == end || **at < 0x20) return BAD;
    if (**at == '"') {
        ++*at;
        return CLOSING;
    }
    if (**at != '\\') {
        const size_t length = utf8_length(*at, end);
        if (length == 0) return BAD;
        int32_t point = length == 1 ? **at : **at & (0xff >> (length + 1));
        for (size_t index = 1; index < length; index++) point = point << 6 | ((*at)[index] & 0x3f);
        *at += length;
        return point;
    }
    if (++*at == end) return BAD;
    const char escape = (char)*(*at)++;
    if (escape != 'u') {
        static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        const char *found = escape == 0 ? NULL : strchr(escapes, escape);
        return found == NULL ? BAD : meanings[found - escapes];
    }
    const int32_t first = hex4(at, end);
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u') return BAD;
    *at += 2;
    const int32_t second = hex4(at, end);
    if (second < 0xdc00 || second > 0xdfff) return BAD;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

// Compares two checked names, given after their opening quotation marks.
static int compare_names(const void *first, const void *second) {
    struct json a = *(const struct json *)first, b = *(const struct json *)second;
    for (;;) {
        const int32_t one = next_code_point(&a.at, a.end), other = next_code_point(&b.at, b.end);
        if (one != other) return one < other ? -1 : 1;
        if (one == CLOSING) return 0;
    }
}

static bool takes(struct parser *parser, char character) {
    while (parser->at < parser->end && memchr(" \t\n\r", *parser->at, 4) != NULL) parser->at++;
    if (parser->at == parser->end || *parser->at != (uint8_t)character) return false;
    parser->at++;
    return true;
}

// Reads a string after its opening quotation mark.
static bool string(struct parser *parser) {
    int32_t point;
    do point = next_code_point(&parser->at, parser->end);
    while (point >= 0);
    return point == CLOSING;
}

static bool object(struct parser *parser, int depth) {
    const size_t outer = parser->name_count;
    if (takes(parser, '}')) return true;
    do {
        if (!takes(parser, '"')) return false;
        parser->names[parser->name_count++] = (struct json){parser->at, parser->end};
        if (!string(parser) || !takes(parser, ':') || !value(parser, depth)) return false;
    } while (takes(parser, ','));
    if (!takes(parser, '}')) return false;
    const size_t count = parser->name_count - outer;
    qsort(parser->names + outer, count, sizeof *parser->names, compare_names);
    for (size_t index = outer + 1; index < parser->name_count; index++)
        if (compare_names(&parser->names[index - 1], &parser->names[index]) == 0) return false;
    parser->name_count = outer;
    return true;
}

static bool array(struct parser *parser, int depth) {
    if (takes(parser, ']')) return true;
    do
        if (!value(parser, depth)) return false;
    while (takes(parser, ','));
    return takes(parser, ']');
}

static bool digits(struct parser *parser) {
    const uint8_t *start = parser->at;
    while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9') parser->at++;
    return parser->at > start;
}

static bool is_at(const struct parser *parser, const char *characters) {
    return parser->at < parser->end && *parser->at != 0 && strchr(characters, (char)*parser->at) != NULL;
}

static bool number_token(struct parser *parser) {
    if (is_at(parser, "-")) parser->at++;
    if (is_at(parser, "0"))
        parser->at++;
    else if (!digits(parser))
        return false;
    if (is_at(parser, ".") && (parser->at++, !digits(parser))) return false;
    if (!is_at(parser, "eE")) return true;
    parser->at++;
    if (is_at(parser, "+-")) parser->at++;
    return digits(parser);
}

static bool word(struct parser *parser, const char *text) {
    const size_t length = strlen(text);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, text, length) != 0) return false;
    parser->at += length;
    return true;
}

// Reads a value at this depth of objects and arrays.
static bool value(struct parser *parser, int depth) {
    if (takes(parser, '{')) return depth < DEPTH && object(parser, depth + 1);
    if (takes(parser, '[')) return depth < DEPTH && array(parser, depth + 1);
    if (takes(parser, '"')) return string(parser);
    return word(parser, "true") || word(parser, "false") || word(parser, "null") || number_token(parser);
}

// Parses a JSON object by [J-1] to [J-6]; refuses anything else with the code. The result points into `data`.
refusal parse_object(struct json *found, const uint8_t *data, size_t length, refusal code) {
    // Room for one name per four bytes: a name needs at least `{"":`.
    struct parser parser = {data, data + length, malloc((length / 4 + 1) * sizeof(struct json)), 0};
    if (parser.names == NULL) return code;
    bool good = takes(&parser, '{');
    *found = (struct json){parser.at - good, data + length};
    good = good && object(&parser, 1);
    while (good && parser.at < parser.end && memchr(" \t\n\r", *parser.at, 4) != NULL) parser.at++;
    good = good && parser.at == parser.end;
    free(parser.names);
    return good ? NULL : code;
}

// Parses a payload by [J-1] to [J-7].
refusal check_payload(struct json *payload, const uint8_t *data, size_t length) {
    struct json aps;
    const refusal refused = parse_object(payload, data, length, "malformed-payload");
    if (refused != NULL) return refused;
    return json_member(&aps, *payload, "aps") && json_is(aps, '{') ? NULL : "malformed-payload";
}

// The length of a checked value.
size_t json_token(struct json json) {
    const uint8_t *at = json.at;
    size_t level = 0;
    do {
        if (*at == '"') {
            for (at++; *at != '"'; at++)
                if (*at == '\\') at++;
        } else if (*at == '{' || *at == '[') {
            level++;
        } else if (*at == '}' || *at == ']') {
            level--;
        } else if (level == 0) {
            while (at + 1 < json.end && strchr(",]} \t\n\r", at[1]) == NULL) at++;
        }
        at++;
    } while (level > 0);
    return (size_t)(at - json.at);
}

// Skips white space and one of the characters in a checked object or array.
static const uint8_t *behind(const uint8_t *at, const char *characters) {
    while (memchr(" \t\n\r", *at, 4) != NULL) at++;
    if (strchr(characters, (char)*at) != NULL) at++;
    while (memchr(" \t\n\r", *at, 4) != NULL) at++;
    return at;
}

// Finds a member of an object. The name is ASCII.
bool json_member(struct json *found, struct json json, const char *name) {
    for (const uint8_t *at = behind(json.at, "{"); *at != '}'; at = behind(at, ",")) {
        const uint8_t *character = at + 1;
        size_t index = 0;
        int32_t point = next_code_point(&character, json.end);
        for (; point >= 0 && point == name[index] && name[index] != 0; index++) point = next_code_point(&character, json.end);
        at = behind(at + json_token((struct json){at, json.end}), ":");
        *found = (struct json){at, json.end};
        if (point == CLOSING && name[index] == 0) return true;
        at += json_token(*found);
    }
    return false;
}

// Finds an element of an array.
bool json_element(struct json *found, struct json json, size_t index) {
    for (const uint8_t *at = behind(json.at, "["); *at != ']'; at = behind(at, ",")) {
        *found = (struct json){at, json.end};
        if (index-- == 0) return true;
        at += json_token(*found);
    }
    return false;
}

// Whether a value starts with the character, which determines its type.
bool json_is(struct json json, char first) {
    return *json.at == (uint8_t)first;
}

// Whether a value equals the token.
bool json_equals(struct json json, const char *token) {
    return json_token(json) == strlen(token) && memcmp(json.at, token, strlen(token)) == 0;
}

// Copies a string as UTF-8, with a terminating zero byte; false if the value is not a string or does not fit.
bool json_string(uint8_t *text, size_t capacity, size_t *length, struct json json) {
    if (!json_is(json, '"')) return false;
    *length = 0;
    for (const uint8_t *at = json.at + 1;;) {
        const int32_t point = next_code_point(&at, json.end);
        if (*length + 5 > capacity) return false;
        if (point < 0) break;
        if (point < 0x80) {
            text[(*length)++] = (uint8_t)point;
            continue;
        }
        const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
        text[(*length)++] = (uint8_t)(0xff00 >> (more + 1) | point >> 6 * more);
        for (int left = more - 1; left >= 0; left--) text[(*length)++] = (uint8_t)(0x80 | (point >> 6 * left & 0x3f));
    }
    text[*length] = 0;
    return true;
}

// Removes the white space between the tokens of a checked JSON text; strings and numbers keep their bytes [S-7].
// Returns the length.
size_t json_minify(uint8_t *result, const uint8_t *data, size_t length) {
    size_t count = 0;
    for (size_t index = 0, inside = 0; index < length; index++) {
        if (!inside && memchr(" \t\n\r", data[index], 4) != NULL) continue;
        result[count++] = data[index];
        if (data[index] == '"') inside = !inside;
        if (inside && data[index] == '\\') result[count++] = data[++index];
    }
    return count;
}
