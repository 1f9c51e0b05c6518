internal import Pushcrypt
internal import PushcryptDeveloperTools

// Codes that those who seal and send get.

extension Explanation {
    static let sealing = [
        Explanation(
            SealError.Code.malformedPayload, .sealing, .lint,
            summary: "the payload is not valid JSON",
            cause:
                "It is not one object in UTF-8, is nested deeper than 32, or is ambiguous: a repeated name, half a surrogate pair, a byte order mark.",
            fix: "Fix the byte that the message names. 'pushcrypt explain' knows the code in brackets."),
        Explanation(
            SealError.Code.missingAPS, .sealing, .lint,
            summary: "the payload has no aps object at its top level",
            cause: "Often only the custom part was given, or it is wrapped in another object.",
            fix: "Give the whole payload that APNs gets today."),
        Explanation(
            SealError.Code.invalidField, .sealing, .lint,
            summary: "a field of aps is not as Apple documents it",
            cause:
                "Its type or range is wrong, such as a badge as a string. The phone ignores the field or the push.",
            fix: "Write it as the message says."),
        Explanation(
            SealError.Code.nothingToShow, .sealing, .lint,
            summary: "an alert without a title, subtitle or body",
            cause: "The system starts no extension for it, as for silent, badge-only and sound-only pushes.",
            fix: "Add a title, a body or a localised key. To wake the app, seal with --push-type background."),
        Explanation(
            SealError.Code.reservedKey, .sealing, .lint,
            summary: "the payload already has ENCRYPTED_DATA or pushcrypt",
            cause: "It was sealed before, or uses a key that the format reserves.",
            fix:
                "Seal the original, once for each device. Rename the app's key; give attachments to the sealer separately."
        ),
        Explanation(
            SealError.Code.payloadTooLarge, .sealing, .lint,
            summary: "the payload is too long to be sealed",
            cause:
                "Without white space the limit is 2,596 bytes, 3,364 for voip; for a device with a post-quantum key 1,508 and 2,276. Each attachment takes about 200.",
            fix: "Let the app fetch long content. Characters outside ASCII take two to four bytes."),
        Explanation(
            SealError.Code.pushTooLarge, .sealing, .lint,
            summary: "the push is longer than Apple accepts",
            cause:
                "The limit is 4,096 bytes, 5,120 for voip, in the widest form that a client may send: a space after each separator, characters outside ASCII as escapes.",
            fix:
                "Shorten the title, or leave out clear fields."
        ),
        Explanation(
            SealError.Code.pushTypeNotSealable, .sealing, .lint,
            summary: "the system reads this push type before the app can",
            cause: "It handles liveactivity, widgets, location and others itself. Or no type has this name.",
            fix: "Seal as alert, background or voip. Put no secrets in others."),
        Explanation(
            SealError.Code.invalidPlaceholder, .sealing,
            summary: "the placeholder would show nothing, or fits no push",
            cause: "Its title or sound name has no visible character, or over 4,096 bytes.",
            fix:
                "Give a title that reads well alone: a phone shows it if the extension does not run. For no sound use --placeholder-sound none."
        ),
        Explanation(
            SealError.Code.invalidTime, .sealing,
            summary: "the time to live or the clock is out of range, or the certificate has expired",
            fix:
                "Choose 1 second to 30 days. Set the clock; 'pushcrypt doctor' shows it. After a certificate's end, run 'pushcrypt key rotate'."
        ),
        Explanation(
            SealError.Code.invalidRequest, .sealing,
            summary: "the request around the push is invalid",
            cause:
                "A background push has priority 10, the collapse or message name is empty, or the device name is empty or over 255 bytes.",
            fix: "Leave out the priority, for 5, and empty names."),
        Explanation(
            SealError.Code.unusableKey, .sealing,
            summary: "libsodium refused the device's key",
            cause: "Import refuses such keys: it came another way, or libsodium is damaged.",
            fix: "Have the device register again. Run 'pushcrypt doctor' where you seal."),
    ]

    // MARK: Checking a push

    static let lint = lintedShowing + lintedLeaks + lintedHeaders

    private static let lintedShowing = [
        Explanation(
            PayloadLint.Code.unknownField, .lint,
            summary: "a field of aps that the system ignores",
            cause: "It is a typo, withdrawn, or the app's own: once sealed, the app gets only the members beside aps.",
            fix: "Correct the name, or move it beside aps."),
        Explanation(
            PayloadLint.Code.extensionNotStarted, .lint,
            summary: "mutable-content is not the number 1",
            cause: "Without it the system starts no extension. Sealing adds it; a client dropped or changed it.",
            fix: "Send what 'pushcrypt seal' prints. Check what the client really sends.",
            shown: "The placeholder."),
        Explanation(
            PayloadLint.Code.alsoWakesApp, .lint,
            summary: "content-available may also wake the app",
            cause: "App and extension both see the push; if both show it, it appears twice.",
            fix: "Leave it out, unless the app has work to do."),
        Explanation(
            PayloadLint.Code.appNotWoken, .lint,
            summary: "a background push without content-available",
            cause: "Only the number 1, in the clear, wakes the app.",
            fix: "Add it; sealing a background push does."),
        Explanation(
            PayloadLint.Code.backgroundShows, .lint,
            summary: "a background push with an alert, badge or sound",
            cause: "Apple allows none; the system may delay or drop it.",
            fix: "Send what the user is to see as an alert."),
        Explanation(
            PayloadLint.Code.misplacedEnvelope, .lint,
            summary: "an envelope where no receiver looks for it",
            cause: "A client moved ENCRYPTED_DATA into aps or another object, or changed its capitals.",
            fix: "Put it beside aps; most clients have a parameter for custom top-level keys.",
            shown: "The text (Encrypted)."),
        Explanation(
            PayloadLint.Code.growsWhenRewritten, .lint,
            summary: "a push that a client may make too long for Apple",
            cause:
                "It fits as it is, but clients may add spaces, and escape slashes, some signs and characters outside ASCII.",
            fix: "Shorten the clear part, unless your client sends the very bytes it gets."),
    ]

    private static let lintedLeaks = [
        Explanation(
            PayloadLint.Code.notSealed, .lint,
            summary: "no part of the push is sealed",
            fix: "Send the output of 'pushcrypt seal'."),
        Explanation(
            PayloadLint.Code.clearText, .lint,
            summary: "a text for the user is in the clear",
            cause: "The push is not sealed, or someone added to its clear part.",
            fix: "Seal the push, or remove the text."),
        Explanation(
            PayloadLint.Code.clearField, .lint,
            summary: "a clear field of aps says something about the message",
            cause: "Sealing leaves one clear only for --clear or --placeholder-sound.",
            fix:
                "Leave it to the envelope, unless the fallback needs it, such as the category for its text on a locked screen."
        ),
        Explanation(
            PayloadLint.Code.clearKey, .lint,
            summary: "the app's own key is in the clear",
            fix: "Move it into the sealed payload: the app finds it in userInfo."),
        Explanation(
            PayloadLint.Code.ownPlaceholder, .lint,
            summary: "the clear title is not the standard one",
            fix: "Use one for every message: a title that depends on the message reveals it."),
    ]

    private static let lintedHeaders = [
        Explanation(
            PayloadLint.Code.unknownPushType, .lint,
            summary: "Apple has no push type of this name",
            fix: "Correct apns-push-type; alert, background and voip can be sealed."),
        Explanation(
            PayloadLint.Code.wrongTopic, .lint,
            summary: "the topic does not fit the push type",
            cause: "Apple refuses it: a suffix such as .voip is missing or unexpected, or a character is invalid.",
            fix: "Write it as the message says. Seal for the bundle id, without the suffix."),
        Explanation(
            PayloadLint.Code.wrongPriority, .lint,
            summary: "the priority does not fit the push type",
            fix: "Write 5 for a background push; otherwise 10 (at once), 5 or 1."),
        Explanation(
            PayloadLint.Code.wrongExpiration, .lint,
            summary: "the expiration is not a time in seconds",
            cause: "It is not a whole number, or counts milliseconds.",
            fix: "Write seconds since 1970, or 0 for one attempt."),
        Explanation(
            PayloadLint.Code.wrongCollapseID, .lint,
            summary: "the collapse id does not have 1 to 64 bytes",
            cause: "Characters outside ASCII have two to four.",
            fix: "Send a keyed hash of the name: HMAC-SHA256 in base64url has 43."),
        Explanation(
            PayloadLint.Code.wrongID, .lint,
            summary: "the apns-id is not a UUID in lower case",
            cause: "Apple refuses others, and its answers do not match capitals.",
            fix: "Write one, or leave it out: Apple makes one."),
    ]

    // MARK: Batches and signers

    static let batches = [
        Explanation(
            LineError.Code.malformedLine, .batches,
            summary: "a line, or an answer of APNs, breaks its rules",
            cause:
                "It is not an object, or a member is missing, unknown or wrong, as the message says. A line of an export needs --from-export.",
            fix: "Write it as --help says, and give it again."),
        Explanation(
            LineError.Code.lineTooLong, .batches,
            summary: "a line exceeds 1 MiB, or 64 KiB for a device or an answer of APNs",
            cause: "A newline is missing, or this is not newline-delimited JSON.",
            fix: "Write one object a line."),
        Explanation(
            LineError.Code.reservedKey, .batches,
            summary: "a key passed through is one of the answer's own",
            cause:
                "Lines pass unknown keys to their answers, which have their own, such as error, line and unencrypted.",
            fix: "Rename it. The error leaves it out."),
        Explanation(
            LineError.Code.noDevice, .batches,
            summary: "the user has no device",
            cause: "None was added with --user, or all were removed.",
            fix: "Name the user with 'pushcrypt device add --user'."),
        Explanation(
            LineError.Code.noKey, .batches,
            summary: "the device has no key to seal to",
            cause: "The line has null for to: the app, mostly an old version, has registered none.",
            fix: "Wait until it does, or send its pushes readable to the relay, with --unencrypted pass."),
        Explanation(
            LineError.Code.noTopic, .batches,
            summary: "there is no topic for the message",
            cause: "The line, the command line, the provider key, the device and the store have none.",
            fix: "Add --topic with the app's bundle id, or a topic to the line."),
        Explanation(
            LineError.Code.overflowFailed, .batches,
            summary: "the file of a long body cannot be written",
            cause: "The folder of --overflow is gone, full, or not writable.",
            fix: "Make room or name another, and send the line again."),
    ]

    // MARK: Libraries

    static let library = [
        Explanation(
            "implausible-time", .library,
            summary: "a time that is more than a day from the clock",
            cause:
                "Only the packages report this: seconds were passed as milliseconds, or the reverse, or a clock is wrong.",
            fix: "Pass the language's own time type, and set the clock."),
        Explanation(
            "invalid-call", .library,
            summary: "an argument is invalid",
            cause:
                "It is null, too long, without an end, not UTF-8, a time in seconds, or unknown to this version; the message names it.",
            fix: "See pushcrypt.h or Docs/OtherLanguages.md."),
        Explanation(
            "buffer-too-small", .library,
            summary: "the output buffer is too small",
            fix:
                "Call again with the length written to the last argument, or a capacity of the header that always suffices. A payload sealed again is a separate message, unless it has a name."
        ),
    ]

    static let json = [
        Explanation(
            JSONError.Code.unexpectedEnd, .json,
            summary: "the text ends inside a value, or is empty",
            cause: "It was cut, or the program that writes it failed.",
            fix: "Send all of it."),
        Explanation(
            JSONError.Code.unexpectedByte, .json,
            summary: "a byte that JSON does not allow there",
            cause: "Often a comma too many or too few, single quotes, a comment, or a name without quotes.",
            fix: "Fix it. A JSON library writes none of these."),
        Explanation(
            JSONError.Code.invalidNumber, .json,
            summary: "a number that JSON does not have",
            fix: "Write 0.5, 5 and 50, not .5, 05 and +50, nor NaN."),
        Explanation(
            JSONError.Code.invalidEscape, .json,
            summary: "a backslash that begins no escape of JSON",
            cause: "A path or a regular expression was quoted as it is.",
            fix: "Write the backslash twice."),
        Explanation(
            JSONError.Code.invalidUTF8, .json,
            summary: "a string is not UTF-8",
            cause: "The text has another encoding, or a string was cut inside a character.",
            fix: "Write the text as UTF-8. Shorten strings between characters."),
        Explanation(
            JSONError.Code.loneSurrogate, .json,
            summary: "half of a surrogate pair",
            cause: "A string was cut inside a character, mostly an emoji.",
            fix: "Write both halves or the character."),
        Explanation(
            JSONError.Code.controlCharacter, .json,
            summary: "an unescaped control character in a string",
            cause: "Often a line break or a tab.",
            fix: "Escape it; a line break is backslash and n."),
        Explanation(
            JSONError.Code.tooDeep, .json,
            summary: "more than 32 objects and arrays inside each other",
            fix: "Flatten the payload; look for data that contains itself."),
        Explanation(
            JSONError.Code.duplicateName, .json,
            summary: "a name appears twice in one object",
            cause: "Templates and concatenated text cause this.",
            fix: "Remove one of the two."),
        Explanation(
            JSONError.Code.trailingBytes, .json,
            summary: "something follows the value",
            cause: "There is a second value, or the rest of a buffer.",
            fix: "Give one value alone."),
        Explanation(
            JSONError.Code.byteOrderMark, .json,
            summary: "the text begins with a byte order mark",
            cause: "An editor or a shell saved it with a mark, or as UTF-16.",
            fix: "Save it as UTF-8 without a mark."),
        Explanation(
            JSONError.Code.tooLarge, .json,
            summary: "more bytes than are accepted",
            cause: "The input is not a payload, or has a file in it.",
            fix: "Shorten it; attach files."),
    ]
}
