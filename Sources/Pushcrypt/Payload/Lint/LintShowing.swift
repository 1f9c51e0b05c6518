extension LintFindings {
    /// Finds what keeps a push from being shown, or the app from being woken.
    mutating func checkShowing(_ push: LintedPush) {
        switch push.type {
        case .alert: checkAlert(push)
        case .background: checkBackground(push)
        case .voip, nil: break
        case let type?:
            let isSealed = push.envelope != nil
            add(
                isSealed ? .error : .warning, .pushTypeNotSealable, at: "apns-push-type",
                isSealed
                    ? "the system reads a \(type) push before any code of the app, so nothing opens this one"
                    : "the system reads a \(type) push before any code of the app, so it cannot be sealed",
                fix: "send it without secrets, or what is secret as an alert")
        }
    }

    private mutating func checkAlert(_ push: LintedPush) {
        guard let fields = push.fields else { return }
        if !fields.hasText {
            add(
                .error, .nothingToShow, at: "aps.alert",
                "has no title, subtitle or body, and the system starts no extension for a silent, badge-only or sound-only push",
                fix: push.envelope == nil
                    ? "add a title or a body, or send it as a background push"
                    : "let 'pushcrypt seal' write the clear part")
        }
        if !fields.isMutableContent {
            if push.envelope != nil {
                add(
                    .error, .extensionNotStarted, at: "aps.mutable-content",
                    "is not the number 1, so the system starts no extension, and the phone shows the placeholder",
                    fix: "write \"mutable-content\":1, a number and no string, and check that no client drops it")
            } else {
                add(
                    .note, .extensionNotStarted, at: "aps.mutable-content",
                    "is not the number 1, so the system starts no extension for the push as it is",
                    fix: "nothing, if it is sealed: 'pushcrypt seal' writes it")
            }
        }
        if fields.isContentAvailable {
            add(
                .note, .alsoWakesApp, at: "aps.content-available",
                "the system may start the app too, and limits how often; both the app and the extension see the push",
                fix: "leave it out unless the app has work to do before it is opened")
        }
    }

    private mutating func checkBackground(_ push: LintedPush) {
        guard let aps = push.aps, let fields = push.fields else { return }
        if !fields.isContentAvailable {
            add(
                push.envelope == nil ? .warning : .error, .appNotWoken, at: "aps.content-available",
                "is not the number 1, so the system does not wake the app",
                fix: push.envelope == nil
                    ? "write \"content-available\":1; 'pushcrypt seal --push-type background' does"
                    : "write \"content-available\":1")
        }
        for name in ["alert", "badge", "sound"] where aps[name] != nil {
            add(
                .warning, .backgroundShows, at: "aps.\(name)",
                "a background push with it may be shown, be late or be dropped: Apple's documents do not allow it",
                fix: "leave it out, or send the push as an alert")
        }
    }
}
