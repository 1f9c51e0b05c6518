internal import Pushcrypt

extension LintFindings {
    /// Checks whether the system shows the push, or wakes the app for it.
    mutating func checkShowing(_ push: LintedPush) {
        switch push.type {
        case .alert?: checkAlert(push)
        case .background?: checkBackground(push)
        default: break
        }
    }

    private mutating func checkAlert(_ push: LintedPush) {
        guard let fields = push.fields else { return }
        if !fields.hasText {
            add(
                .error, .nothingToShow, at: "aps.alert",
                "has no title, subtitle or body, and the system starts no extension for a silent, badge-only or sound-only push",
                fix: push.envelope == nil
                    ? "add a title or a body, or send it unsealed: a badge alone tells nothing"
                    : "let 'pushcrypt seal' write the clear part")
        }
        if !fields.isMutableContent {
            if push.envelope != nil {
                add(
                    .error, .extensionNotStarted, at: "aps.mutable-content",
                    "is not the number 1, so the system starts no extension, and the phone shows the placeholder",
                    fix: "use \"mutable-content\":1, a number and not a string, and check that no client drops it")
            } else {
                add(
                    .note, .extensionNotStarted, at: "aps.mutable-content",
                    "is not the number 1, so the system starts no extension for the push as it is",
                    fix: "nothing, if it is going to be sealed: 'pushcrypt seal' adds it")
            }
        }
        if fields.isContentAvailable {
            add(
                .note, .alsoWakesApp, at: "aps.content-available",
                "the system may also start the app, and limits how often; both the app and the extension receive the push",
                fix: "leave it out unless the app has work to do before the user opens it")
        }
    }

    private mutating func checkBackground(_ push: LintedPush) {
        guard let aps = push.aps else { return }
        if aps["content-available"]?.integer != 1 {
            add(
                push.envelope == nil ? .warning : .error, .appNotWoken, at: "aps.content-available",
                "is not the number 1, so the system does not wake the app",
                fix: push.envelope == nil
                    ? "use \"content-available\":1; 'pushcrypt seal' adds it to a background push"
                    : "use \"content-available\":1")
        }
        for name in ["alert", "badge", "sound"] where aps.member(name) != nil {
            add(
                .warning, .backgroundShows, at: "aps.\(name)",
                "Apple's documentation does not allow it in a background push, which may then be shown, delayed or dropped",
                fix: "leave it out, or send the push as an alert")
        }
    }
}

// MARK: Sizes

extension LintFindings {
    /// Measures a push, and checks its length.
    mutating func measure(_ push: LintedPush) -> PayloadLint.Sizes {
        let minified = push.root.minified()
        let limit = (push.type ?? .alert).maximumPushLength
        let length = push.root.range.count
        let maximumReencodedLength = JSONText.maximumReencodedLength(of: minified.span)

        var bucket: Int?
        var remainingInBucket: Int?
        var remainingToSeal: Int?
        if let text = push.envelope?.string {
            let characters = ContiguousArray(text.utf8)
            bucket = (try? Envelope(inspecting: characters.span))?.innerLength
        } else if push.envelope == nil, let sealable = push.isReadByTheSystem ? nil : push.type ?? .alert {
            let remaining = sealable.maximumPayloadLength - minified.count
            remainingToSeal = remaining
            if remaining < 0 {
                add(
                    .error, .payloadTooLarge, at: "",
                    "has \(minified.count) bytes without white space, \(-remaining) more than can be sealed (\(sealable.maximumPayloadLength))",
                    fix: "shorten it by that much")
            } else {
                let inner = InnerPlaintext.body + minified.count
                bucket = Bucket.smallest(holding: inner, limit: sealable.largestBucket(.x25519), .x25519)
                remainingInBucket = bucket.map { min($0 - inner, remaining) }
                noteLimitOfSuite2(minified.count, sealable)
            }
        }
        // A push that is going to be sealed is sent in another form.
        if remainingToSeal == nil {
            checkLength(length, maximumReencodedLength, limit: limit)
        }
        return PayloadLint.Sizes(
            length: length, minifiedLength: minified.count, maximumReencodedLength: maximumReencodedLength,
            limit: limit, bucket: bucket, remainingInBucket: remainingInBucket, remainingToSeal: remainingToSeal)
    }

    /// Notes a payload that is too long for a device with a post-quantum key.
    private mutating func noteLimitOfSuite2(_ length: Int, _ type: PushType) {
        let limit = type.maximumPayloadLength(.xwing)
        guard length > limit else { return }
        add(
            .note, .payloadTooLarge, at: "",
            "has \(length) bytes without white space, \(length - limit) more than can be sealed for a device with a post-quantum key (\(limit))",
            fix: "shorten it by that much before phones change over")
    }

    private mutating func checkLength(_ length: Int, _ reencoded: Int, limit: Int) {
        if length > limit {
            add(
                .error, .pushTooLarge, at: "",
                "has \(length) bytes, \(length - limit) more than Apple accepts (\(limit))",
                fix: "shorten the clear part")
        } else if reencoded > limit {
            add(
                .warning, .growsWhenRewritten, at: "",
                "a client that re-encodes the JSON may make it \(reencoded) bytes long, \(reencoded - limit) more than Apple accepts (\(limit))",
                fix: "shorten the clear part, or make sure that exactly these bytes are sent")
        }
    }
}
