extension LintFindings {
    /// Finds what is no push as Apple's documents have it: the fields of `aps`, and the keys beside it.
    mutating func checkForm(_ push: LintedPush) {
        if push.root[PayloadKeys.reserved] != nil {
            add(
                .error, .reservedKey, at: PayloadKeys.reserved,
                push.envelope == nil
                    ? "the key is kept for the format, and a payload with it is not sealed"
                    : "inside an envelope this key holds the keys of attachments and of a full body; nothing of it belongs beside one",
                fix: push.envelope == nil ? "rename it" : "remove it")
        }
        guard let fields = push.fields else {
            if push.type?.needsAPS ?? true, !(push.envelope != nil && push.type == .voip) {
                add(
                    .error, .missingAPS, at: PayloadKeys.aps,
                    "there is no aps object, and no phone shows a push without one",
                    fix: "give the whole payload, with aps at its top level")
            }
            return
        }
        for fault in fields.faults {
            add(
                .error, .invalidField, at: fault.place, "has a type or a value that Apple's documents do not allow",
                fix: "write \(fault.expectation)")
        }
        for field in fields.unknown {
            add(
                .warning, .unknownField, at: place(field.parent, field.name),
                "the system does not know it and ignores it, and no app gets it from a sealed message",
                fix: "remove it, or move it beside aps if it is the app's own")
        }
        checkLiveActivity(push)
        noteEntitlements(push)
    }

    private mutating func checkLiveActivity(_ push: LintedPush) {
        guard push.type == .liveactivity, let aps = push.aps else { return }
        var needed = ["timestamp", "event"]
        switch aps["event"]?.string {
        case "start": needed += ["content-state", "attributes-type", "attributes", "alert"]
        case "end": break
        default: needed.append("content-state")
        }
        for name in needed where aps[name] == nil {
            add(
                .error, .missingField, at: "aps.\(name)", "the system ignores the push of a Live Activity without it",
                fix: "add it, as Apple's documents on ActivityKit push notifications have it")
        }
    }

    private mutating func noteEntitlements(_ push: LintedPush) {
        let fix = "nothing, if the app has it; otherwise ask Apple for it, or leave the field out"
        func note(_ place: String, _ entitlement: String) {
            add(
                .note, .needsEntitlement, at: place, "has no effect unless the app has the entitlement \(entitlement)",
                fix: fix)
        }
        let critical = "com.apple.developer.usernotifications.critical-alerts"
        if push.aps?["sound"]?["critical"]?.integer == 1 { note("aps.sound.critical", critical) }
        switch push.aps?["interruption-level"]?.string {
        case "critical": note("aps.interruption-level", critical)
        case "time-sensitive":
            note("aps.interruption-level", "com.apple.developer.usernotifications.time-sensitive")
        default: break
        }
    }

    /// The place of a member whose name is a stranger's: in quotes where it is not of letters, digits, `-` and `_`, and cut
    /// where it is long.
    func place(_ parent: String, _ name: String) -> String {
        let prefix = parent.isEmpty ? "" : parent + "."
        let limit = 64
        let isPlain = name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        if isPlain, (1...limit).contains(name.utf8.count) { return prefix + name }
        var json = JSONWriter()
        let start = String(name.unicodeScalars.prefix(limit))
        json.string(start.utf8.count == name.utf8.count ? name : start + "…")
        return prefix + String(decoding: json.bytes, as: UTF8.self)
    }
}
