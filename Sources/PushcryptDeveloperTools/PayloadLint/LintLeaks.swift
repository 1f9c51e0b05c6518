internal import Pushcrypt

extension LintFindings {
    /// The fields that reveal something whatever their value, with the information that the relay gets.
    private static let tellingFields: [(name: String, severity: Finding.Severity, tells: String)] = [
        ("badge", .warning, "how much is waiting for the user"),
        ("thread-id", .warning, "which messages belong together"),
        ("category", .warning, "what kind of message it is"),
        ("target-content-id", .warning, "which part of the app it is about"),
        ("filter-criteria", .warning, "what the user's Focus filters go by"),
        ("url-args", .warning, "what it opens"),
        ("interruption-level", .note, "how urgent it is"),
        ("relevance-score", .note, "how relevant it is"),
    ]

    /// Finds what the relay, and anyone on the way, can read but should not.
    mutating func checkLeaks(_ push: LintedPush) {
        if push.envelope == nil {
            add(
                .warning, .notSealed, at: "", "nothing in it is sealed: everything below can be read on the way",
                fix: "seal it with 'pushcrypt seal', and send the result")
        }
        let fix =
            push.envelope == nil
            ? "seal the push; the phone takes it from the sealed payload"
            : "leave it out of the clear part; the phone takes it from the sealed payload"
        if let aps = push.aps {
            findClearText(aps, isSealed: push.envelope != nil, fix: fix)
            findClearSound(aps["sound"], fix: fix)
            for field in Self.tellingFields where aps.member(field.name) != nil {
                if field.name == "interruption-level", aps[field.name]?.string == "active" { continue }
                add(field.severity, .clearField, at: "aps.\(field.name)", "tells the relay \(field.tells)", fix: fix)
            }
        }
        for (name, _) in push.root.members
        where !PayloadKeys.all.contains(name) && name != LintedPush.simulatorKey {
            add(.warning, .clearKey, at: place("", name), "the relay can read this key of the app", fix: fix)
        }
    }

    private mutating func findClearText(_ aps: JSONValue, isSealed: Bool, fix: String) {
        guard let alert = aps["alert"] else { return }
        if let text = alert.string {
            let isPlaceholder = isSealed && [Placeholder.body, Placeholder.standardTitle].contains(text)
            if !text.isEmpty, !isPlaceholder { addClearText(at: "aps.alert", fix: fix) }
            return
        }
        for (name, value) in alert.members where APSRules.alertField(name) != nil {
            let text = value.string
            let isEmpty = text?.isEmpty ?? (value.elements.isEmpty && value.members.isEmpty)
            switch name {
            case _ where isEmpty: continue
            case "body" where isSealed && text == Placeholder.body,
                "title" where isSealed && text == Placeholder.standardTitle,
                // The app's string tables have the English words as keys.
                "loc-key" where isSealed && text == Placeholder.body,
                "title-loc-key" where isSealed && text == Placeholder.standardTitle:
                continue
            case "title" where isSealed, "title-loc-key" where isSealed:
                add(
                    .note, .ownPlaceholder, at: "aps.alert.\(name)",
                    "is not the standard placeholder, and the relay can read it",
                    fix: "nothing, if it is the same for every message; otherwise use the standard title")
            case "launch-image":
                add(
                    .warning, .clearField, at: "aps.alert.\(name)", "tells the relay what the app starts with",
                    fix: fix)
            default: addClearText(at: "aps.alert.\(name)", fix: fix)
            }
        }
    }

    private mutating func addClearText(at place: String, fix: String) {
        add(.warning, .clearText, at: place, "the relay can read this text", fix: fix)
    }

    /// An app has few sounds, each for one kind of message.
    private mutating func findClearSound(_ sound: JSONValue?, fix: String) {
        guard let sound else { return }
        for (place, name) in [("aps.sound", sound.string), ("aps.sound.name", sound["name"]?.string)] {
            guard let name, !name.isEmpty, name != "default" else { continue }
            add(
                .warning, .clearField, at: place,
                "tells the relay which sound it plays, and so what kind of message it is",
                fix: fix)
        }
        if sound["critical"]?.flag == true {
            add(.note, .clearField, at: "aps.sound.critical", "tells the relay how urgent it is", fix: fix)
        }
    }
}
