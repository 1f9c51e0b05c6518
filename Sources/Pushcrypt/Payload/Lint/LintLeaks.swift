extension LintFindings {
    /// A field of `aps` that says something about the message.
    private struct Telling {
        let name: String
        let severity: PayloadLint.Severity
        /// What the relay learns from it.
        let tells: String
    }

    /// Those that tell something whatever they hold.
    private static let tellingFields = [
        Telling(name: "badge", severity: .warning, tells: "how much waits for the person"),
        Telling(name: "thread-id", severity: .warning, tells: "which messages belong together"),
        Telling(name: "category", severity: .warning, tells: "what kind of message it is"),
        Telling(name: "target-content-id", severity: .warning, tells: "which part of the app it is about"),
        Telling(name: "filter-criteria", severity: .warning, tells: "what a Focus of the person's decides by"),
        Telling(name: "content-state", severity: .warning, tells: "what the Live Activity shows"),
        Telling(name: "attributes", severity: .warning, tells: "what the Live Activity is about"),
        Telling(name: "attributes-type", severity: .note, tells: "which Live Activity it is"),
        Telling(name: "url-args", severity: .warning, tells: "what is opened"),
        Telling(name: "interruption-level", severity: .note, tells: "how urgent it is"),
        Telling(name: "relevance-score", severity: .note, tells: "how much it matters"),
    ]

    /// Finds what the relay, and whoever stands between, can read that it should not.
    mutating func findLeaks(_ push: LintedPush) {
        if push.envelope == nil, push.type?.sealable != nil {
            add(
                .warning, .notSealed, at: "", "nothing of it is sealed: everything below can be read on the way",
                fix: "seal it with 'pushcrypt seal', and send the result")
        }
        let fix =
            switch (push.envelope != nil, push.type?.sealable != nil) {
            case (true, _): "leave it out of the clear part; the phone takes it from what is sealed"
            case (false, true): "seal the push; the phone takes it from what is sealed"
            case (false, false): "send nothing secret in it"
            }
        if let aps = push.aps {
            findClearText(aps, isSealed: push.envelope != nil, fix: fix)
            findClearSound(aps["sound"], fix: fix)
            for field in Self.tellingFields where aps[field.name] != nil {
                if field.name == "interruption-level", aps[field.name]?.string == "active" { continue }
                add(field.severity, .clearField, at: "aps.\(field.name)", "tells the relay \(field.tells)", fix: fix)
            }
        }
        for (name, _) in push.root.members
        where !PayloadKeys.all.contains(name) && name != LintedPush.simulatorKey {
            add(.warning, .clearKey, at: place("", name), "a key of the app's own, which the relay reads", fix: fix)
        }
    }

    private mutating func findClearText(_ aps: JSONValue, isSealed: Bool, fix: String) {
        guard let alert = aps["alert"] else { return }
        if let text = alert.string {
            let isPlaceholder = isSealed && [Placeholder.body, Placeholder.standardTitle].contains(text)
            if !text.isEmpty, !isPlaceholder { addClearText(at: "aps.alert", fix: fix) }
            return
        }
        for (name, value) in alert.members where APSRules.alert[name] != nil {
            let text = value.string
            let isEmpty = text?.isEmpty ?? (value.elements.isEmpty && value.members.isEmpty)
            switch name {
            case _ where isEmpty: continue
            case "body" where isSealed && text == Placeholder.body,
                "title" where isSealed && text == Placeholder.standardTitle,
                // The app's tables have the English words as keys.
                "loc-key" where isSealed && text == Placeholder.body,
                "title-loc-key" where isSealed && text == Placeholder.standardTitle:
                continue
            case "title" where isSealed, "title-loc-key" where isSealed:
                add(
                    .note, .ownPlaceholder, at: "aps.alert.\(name)",
                    "is not the standard placeholder's, and the relay reads it",
                    fix: "nothing, if it is the same for every message; otherwise seal without --title")
            case "launch-image":
                add(
                    .warning, .clearField, at: "aps.alert.\(name)", "tells the relay what the app begins with",
                    fix: fix)
            default: addClearText(at: "aps.alert.\(name)", fix: fix)
            }
        }
    }

    private mutating func addClearText(at place: String, fix: String) {
        add(.warning, .clearText, at: place, "the relay reads what the person reads", fix: fix)
    }

    /// A sound of the app's own is one of a few, each for a kind of message.
    private mutating func findClearSound(_ sound: JSONValue?, fix: String) {
        guard let sound else { return }
        for (place, name) in [("aps.sound", sound.string), ("aps.sound.name", sound["name"]?.string)] {
            guard let name, !name.isEmpty, name != "default" else { continue }
            add(
                .warning, .clearField, at: place, "tells the relay which sound it has, and so what kind it is of",
                fix: fix)
        }
        if sound["critical"]?.integer == 1 {
            add(.note, .clearField, at: "aps.sound.critical", "tells the relay how urgent it is", fix: fix)
        }
    }
}
