internal import Pushcrypt
internal import PushcryptReceiver

// Codes that phones report.

extension Explanation {
    static let delivery = [
        Explanation(
            Delivery.Outcome.opened, .delivery,
            summary: "the message opened and was shown",
            cause: "A quiet second copy has this code too.",
            shown: "The sealed notification."),
        Explanation(
            Delivery.Outcome.openedWithoutAttachment, .delivery,
            summary: "the text was shown without an attachment",
            cause:
                "It took over 15 seconds (or the app's limit), was redirected to another host or away from https, or does not match the payload.",
            fix: "Fetch the URL without a login, and compare length and SHA-256. Leave large files to the app."),
        Explanation(
            Delivery.Outcome.passed, .delivery,
            summary: "the app's policy let an unsealed push through",
            fix:
                "Once every provider seals, let the policy mask clear pushes: until then anyone with the token can show text.",
            shown: "The push as it came."),
        Explanation(
            Delivery.Outcome.suppressed, .delivery,
            summary: "a second copy of a message was hidden",
            cause: "It came under another request, and the app claims the filtering entitlement.",
            fix: "For many, see duplicate. If placeholders appear, the build lacks the entitlement.",
            shown: "Nothing more; without the entitlement, the push as it came."),
        Explanation(
            Delivery.Outcome.withdrawn, .delivery,
            summary: "the message was withdrawn before it was shown",
            cause: "A later message of its sender names it ('seal --withdraw').",
            shown: "Nothing, or without the filtering entitlement the subtitle (Encrypted), quietly."),
        Explanation(
            Delivery.Outcome.dropped, .delivery,
            summary: "the message is not to be shown",
            cause: "It was sealed with 'seal --drop'.",
            shown: "Nothing, or without the filtering entitlement the sealed notification, quietly."),
        Explanation(
            Delivery.Reason.noTopic.code, .delivery,
            summary: "neither the extension nor the device key has a topic",
            fix:
                "Give the extension the app's bundle id (no suffix, not its own), bind the device key to it, or add --topic."
        ),
        Explanation(
            Delivery.Reason.deadline.code, .delivery,
            summary: "the message was not open by the extension's deadline",
            cause:
                "Something waited: a lock, the network, the app's key source. Opening takes milliseconds; the deadline is 25 seconds or the app's.",
            fix:
                "Remove every wait. After a start of the phone everything is slow: a retry under the same apns-collapse-id replaces the fallback."
        ),
        Explanation(
            Delivery.Reason.systemExpired.code, .delivery,
            summary: "the system ended the extension before its deadline",
            cause: "The deadline is too late, or the system gave less than its usual 30 seconds.",
            fix: "Set it to 25 seconds or less. Otherwise see deadline."),
        Explanation(
            Delivery.Reason.abandoned.code, .delivery,
            summary: "the session was released before it ended",
            cause: "The object that opens was in a local variable, or the process ended early.",
            fix: "Keep it in a stored property, and call it from both methods. Or look for crashes and memory reports."),
    ]

    static let opening = [
        Explanation(
            OpenError.Code.malformedNotification, .opening,
            summary: "the input is not one JSON object in UTF-8, or exceeds 65,536 bytes",
            cause: "It came from a file, a pipe or a server: on a phone the system parses pushes first.",
            fix: "Pass it on as received, whole and alone. The message names the byte where reading ended.",
            shown: "At most the subtitle (Encrypted)."),
        Explanation(
            OpenError.Code.notEncrypted, .opening, .lint,
            summary: "ENCRYPTED_DATA is missing or not a string",
            cause: "The push was not sealed, a relay or client dropped or moved the field, or someone else sent it.",
            fix:
                "Send what 'pushcrypt seal' prints: ENCRYPTED_DATA, in upper case, beside aps. Let the policy allow only pushes that stay clear for now.",
            shown: "The clear title and the text (Encrypted)."),
        Explanation(
            OpenError.Code.malformedEnvelope, .opening, .lint,
            summary: "ENCRYPTED_DATA is not an envelope",
            cause: "It was cut, encoded twice, or never was one.",
            fix:
                "Run 'pushcrypt inspect'. If the provider's log lacks the fingerprint, find what cuts or re-encodes the text."
        ),
        Explanation(
            OpenError.Code.unsupportedSuite, .opening, .lint,
            summary: "this build does not know the suite",
            cause:
                "The provider's format is newer than the app, suite 2 meets a libsodium before 1.0.22, or this is not an envelope.",
            fix: "Update the app or its libsodium, or see malformed-envelope."),
        Explanation(
            OpenError.Code.unknownRecipientKey, .opening,
            summary: "this device does not have the key",
            cause:
                "The app was reinstalled, moved or logged out, the key was replaced over 31 days ago, or token and key are of different installations.",
            fix:
                "Compare key ids with 'pushcrypt inspect'. Send and accept the registration record at every launch. Remove devices that APNs reports as Unregistered."
        ),
        Explanation(
            OpenError.Code.authenticationFailed, .opening,
            summary: "changed, or not sealed by a trusted provider for this app and device",
            cause:
                "Most often one end uses the extension's bundle id or a .voip topic instead of the app's. Otherwise the provider key is not pinned, the key that signed has ended or its certificate has expired, the text changed, or someone else sealed it.",
            fix:
                "Compare on both ends the topic, the provider's key ('key list', 'provider list') and the device's ('device list', 'key list'). A copy of a store from before a rotation, or a container with an old signing key file, seals what opens no more. If they agree and the provider's log lacks the fingerprint, someone else sealed it."
        ),
        Explanation(
            OpenError.Code.unsupportedMessage, .opening,
            summary: "authentic, but of an unknown type or with invalid times",
            cause:
                "The sealer is newer or breaks the format: a time to live of 0 or over 30 days, a time beyond 2^53 milliseconds, an unassigned type.",
            fix: "Update the app, or see Opening and Inner plaintext in Docs/Format.md."),
        Explanation(
            OpenError.Code.wrongPushClass, .opening,
            summary: "authentic, but sealed as another push type than the one it arrived as",
            cause:
                "The client sends another apns-push-type than it was sealed for, or somebody on the way changed it. An alert whose clear part has content-available comes to the app too, as well as to the extension, which opens it: there it is not an error.",
            fix: "Send what 'seal --push-type' sealed with that type, and open it there: 'open --push-type'."),
        Explanation(
            OpenError.Code.expired, .opening,
            summary: "authentic, but past its time to live",
            cause:
                "The phone was off or out of reach, the message waited in a queue after sealing, or a clock is wrong.",
            fix:
                "Seal just before sending, for hours or days (at most 30), with a matching apns-expiration, so that APNs drops late pushes. If many phones report it, check the provider's clock ('pushcrypt doctor')."
        ),
        Explanation(
            OpenError.Code.notYetValid, .opening,
            summary: "authentic, but sent more than 24 hours from now",
            cause: "One of the two clocks is wrong.",
            fix: "If many phones report it, set the provider's. If one does, its date was set by hand."),
        Explanation(
            OpenError.Code.malformedPayload, .opening,
            summary: "authentic, but the sealed body is not a payload",
            cause: "It has no aps, or is not valid JSON.",
            fix: "Fix the other sealer: see Body in Docs/Format.md."),
        Explanation(
            OpenError.Code.duplicate, .opening,
            summary: "authentic, but already shown, under a strict policy",
            cause:
                "It was sent again, by anyone, under another request, or is older than all that the phone remembers.",
            fix:
                "Retry with the same apns-collapse-id, to replace the first try, and message name. Or use the default policy, which shows copies silently."
        ),
    ]

    static let attachments = [
        Explanation(
            AttachmentError.Code.malformedReference, .attachments,
            summary: "the payload's reference to an attachment is unusable",
            cause:
                "A member is missing, url is not https, key or hash not base64url of 32 bytes, name has a slash, or type is not a uniform type identifier.",
            fix: "Give the sealer what sealing the file returned, with its address. See Docs/FormatAttachments.md."),
        Explanation(
            AttachmentError.Code.tooMany, .attachments, .sealing,
            summary: "more than 8 attachments",
            fix: "Send 8 or fewer. Most phones show one."),
        Explanation(
            AttachmentError.Code.bodyTooLong, .attachments,
            summary: "the body exceeds the 65,536 bytes of a sealed file",
            fix: "Send the beginning, and let the app fetch the rest.",
            shown: "Nothing is sealed."),
        Explanation(
            AttachmentError.Code.changedFile, .attachments,
            summary: "the file changed during sealing",
            fix: "Discard the output. Seal again when nothing writes to it."),
        Explanation(
            AttachmentError.Code.notSealed, .attachments,
            summary: "the file does not begin with PCA1, as sealed files do",
            cause: "The url leads to the plain file, a login or not-found page, or a later version's file.",
            fix: "Fetch it as a phone does, without a login."),
        Explanation(
            AttachmentError.Code.wrongSize, .attachments,
            summary: "the file is longer or shorter than the payload says",
            cause:
                "Another file is at the url, a transfer was cut, or the server changed it, as image services and compressing proxies do.",
            fix: "Store the sealed file as bytes of no known type."),
        Explanation(
            AttachmentError.Code.wrongHash, .attachments,
            summary: "the file is not the one that the payload means",
            cause: "It was sealed again, or swapped, under the same key.",
            fix: "Store this reference's file again, or send the new one's reference."),
        Explanation(
            AttachmentError.Code.authenticationFailed, .attachments,
            summary: "part of the file is not sealed under this key",
            cause: "It changed in storage or on the way, or key and url are of different files.",
            fix: "Store or seal it again. Keep each reference with its own url."),
        Explanation(
            AttachmentError.Code.malformedFile, .attachments,
            summary: "another sealer's file breaks the format",
            fix: "Fix that sealer: see Docs/FormatAttachments.md."),
    ]

    // MARK: In the app

    static let enrolment = enrolmentObstacles + registrationReasons

    /// What an app should know at a launch.
    private static let enrolmentObstacles = [
        Explanation(
            "not-configured", .enrolment,
            summary: "the app's configuration is incomplete, or another app's",
            cause:
                "The topic is not the app's own bundle id, as in a variant with a copied one; or there is no app group.",
            fix: "Give each variant its own bundle id as topic. Variants may share an app group and a Keychain group."),
        Explanation(
            EnrolmentNotice.stateDamaged.rawValue, .enrolment,
            summary: "what the phone had stored could not be read, and it has begun anew",
            fix:
                "None is needed: accounts register under new device ids. The provider forgets an old id when APNs refuses its token, or the token arrives with another.",
            shown: "The fallback, for what was sealed to the old keys."),
        Explanation(
            EnrolmentNotice.providerReplaced.rawValue, .enrolment,
            summary: "the pinned provider key was not built into the app, and a built-in one replaced it",
            cause:
                "The app has a built-in key for the first time, or a new one after a theft. Otherwise someone answered the first registration instead of the provider.",
            fix: "After such a release none is needed. Without one, find out who controlled the channel.",
            shown: "Messages of the old key no longer open."),
        Explanation(
            EnrolmentNotice.certificateConflict.rawValue, .enrolment,
            summary: "a certificate contradicts one of the same epoch that the phone has accepted",
            cause: "Two machines certified within one second, or somebody else has the provider key.",
            fix: "If you did not certify twice, see Stolen in Docs/KeyRotation.md."),
        Explanation(
            EnrolmentNotice.noPushKey.rawValue, .enrolment,
            summary: "the server names no push key, and the app registers grants of its relay",
            cause: "The server was set up for APNs and not for the publisher's relay.",
            fix: "Make a push key: pushcrypt key new push. Phones learn it at their next launches.",
            shown: "Nothing: the server cannot push."),
        Explanation(
            EnrolmentNotice.pairAgain.rawValue, .enrolment,
            summary: "the server knows this phone no more",
            cause:
                "Its operator has removed the phone, its store was lost, or it has another phone's update key under this id.",
            fix:
                "Ask the user to scan another code of the server, or to log in again. The phone goes on sending its record.",
            shown: "Nothing, once the server does not push."),
        Explanation(
            EnrolmentNotice.alertsOff.rawValue, .enrolment,
            summary: "the user does not let the app show alerts",
            fix: "Say in the app what is missed. The registration stays.",
            shown: "Nothing. The system does not start the extension."),
    ]

    /// Why a launch registers again.
    private static let registrationReasons = [
        Explanation(
            EnrolmentNotice.clockBehind.rawValue, .enrolment,
            summary: "the phone's clock is more than a day behind: no message opens",
            cause: "The last push was sealed by the provider, later than tomorrow by this phone's clock.",
            fix: "Ask the user to set the date. A provider whose clock is ahead looks the same: 'pushcrypt doctor' there.",
            shown: "Every push as (Encrypted), until the date is right."),
        Explanation(
            EnrolmentStep.Reason.first.rawValue, .enrolment,
            summary: "the provider has never acknowledged the account",
            cause: "The account is new on this phone, or no reply has arrived yet."),
        Explanation(
            EnrolmentStep.Reason.keyIsOld.rawValue, .enrolment,
            summary: "the device key is older than 30 days, or the app's limit",
            cause: "A new one is registered; the old one opens for another 31 days."),
        Explanation(
            EnrolmentStep.Reason.postQuantumPermitted.rawValue, .enrolment,
            summary: "the provider permits a post-quantum key",
            cause: "One is registered; the key before it opens for another 31 days. The phone never goes back."),
        Explanation(
            EnrolmentStep.Reason.keyNotAcknowledged.rawValue, .enrolment,
            summary: "the provider has not acknowledged the current key",
            cause: "The record or its reply was lost, or not saved. The key is registered again; it opens already."),
        Explanation(
            EnrolmentStep.Reason.providerChanged.rawValue, .enrolment,
            summary: "the phone trusts another provider key than it last reported",
            cause: "The first reply brought the key, or the provider or the app replaced it. The record reports it."),
        Explanation(
            EnrolmentStep.Reason.tokenChanged.rawValue, .enrolment,
            summary: "APNs gave another device token",
            cause: "The system was updated or restored, or notifications were turned off and on.",
            fix: "Send the new token with the record.",
            shown: "Nothing, until the provider has it."),
        Explanation(
            EnrolmentStep.Reason.grantChanged.rawValue, .enrolment,
            summary: "the relay issued another grant",
            cause: "The record passes it on."),
        Explanation(
            EnrolmentStep.Reason.appVersionChanged.rawValue, .enrolment,
            summary: "the app was updated or downgraded",
            cause: "The record reports its version."),
        Explanation(
            EnrolmentStep.Reason.timePassed.rawValue, .enrolment,
            summary: "a day passed since the provider acknowledged the record",
            cause: "The provider may have lost it, and gets it again."),
    ]

    static let categories = [
        Explanation(
            CategoryError.Code.malformedCategories, .categories,
            summary: "the JSON of the categories breaks its rules",
            cause: "A value is missing or of another kind, or a name is mistyped.",
            fix: "Correct the place that the message names. Names are Apple's, in Swift's spelling."),
        Explanation(
            CategoryError.Code.invalidIdentifier, .categories,
            summary: "an identifier is not valid",
            cause: "It does not have 1 to 255 bytes, has a control character, or begins with com.apple.",
            fix: "Choose another, also in aps.category."),
        Explanation(
            CategoryError.Code.repeatedIdentifier, .categories,
            summary: "two categories, or two actions of one, share an identifier",
            cause: "Two that differ only in case are nearly always a typo.",
            fix: "Rename one. Actions of different categories may share one."),
        Explanation(
            CategoryError.Code.tooManyActions, .categories,
            summary: "more than the 10 actions that the system shows",
            fix: "Keep the most important. Where there is little room it shows two."),
        Explanation(
            CategoryError.Code.emptyTitle, .categories,
            summary: "a button has no title, or an empty localised key",
            fix: "Give it one."),
    ]
}
