internal import Pushcrypt

extension LintFindings {
    // MARK: Fields and keys

    /// Checks the fields of `aps` and the keys beside it against Apple's documentation.
    mutating func checkForm(_ push: LintedPush) {
        if push.root[PayloadKeys.reserved] != nil {
            add(
                .error, .reservedKey, at: PayloadKeys.reserved,
                push.envelope == nil
                    ? "the key is reserved for the format, and a payload with it cannot be sealed"
                    : "the key is reserved: inside an envelope it holds the keys of attachments and of a full body, and it must not appear beside one",
                fix: push.envelope == nil ? "rename it" : "remove it")
        }
        for (name, value) in push.root.members where name != PayloadKeys.aps && !value.hasDoublesOnly {
            add(
                .warning, .invalidField, at: place("", name),
                "has a number beyond what phones read, and the app gets the push without this key",
                fix: "write the number as a string")
        }
        guard let fields = push.fields else {
            if push.envelope == nil || push.type != .voip {
                add(
                    .error, .missingAPS, at: PayloadKeys.aps,
                    "there is no aps object, and no phone shows a push without one",
                    fix: "give the whole payload, with aps at its top level")
            }
            return
        }
        for fault in fields.faults {
            add(
                .error, .invalidField, at: fault.place,
                "has a type or a value that Apple's documentation does not allow", fix: "use \(fault.expectation)")
        }
        for field in fields.unknown {
            add(
                .warning, .unknownField, at: place(field.parent, field.name),
                "the system does not know this field and ignores it, and the app never receives it from a sealed message",
                fix: "remove it, or move it beside aps if it belongs to the app")
        }
    }

    /// Returns the path of a member whose name is untrusted: quoted unless it consists of letters, digits, `-` and `_`, and
    /// shortened if it is long.
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

    // MARK: Envelope

    /// Checks whether a receiver can read the envelope.
    mutating func checkEnvelope(_ push: LintedPush) {
        guard let value = push.envelope else {
            findMisplacedEnvelope(push)
            return
        }
        guard let text = value.string else {
            add(
                .error, .notEncrypted, at: PayloadKeys.encryptedData,
                "is not a string, so the phone treats the push as not encrypted",
                fix: "send the output of 'pushcrypt seal' unchanged")
            return
        }
        do throws(OpenError) {
            // The phone opens it, whatever this build can open.
            let characters = ContiguousArray(text.utf8)
            _ = try Envelope(inspecting: characters.span)
        } catch {
            let code: PayloadLint.Code = error.code == .unsupportedSuite ? .unsupportedSuite : .malformedEnvelope
            add(
                .error, code, at: PayloadKeys.encryptedData, error.description,
                fix: "send the output of 'pushcrypt seal' unchanged; no client may encode it again")
        }
    }

    /// Finds envelopes below the top level or under a name in another case.
    private mutating func findMisplacedEnvelope(_ push: LintedPush) {
        func report(_ place: String) {
            add(
                .error, .misplacedEnvelope, at: place, "no receiver looks for an envelope here",
                fix: "put it at the top level, beside aps, as \(PayloadKeys.encryptedData)")
        }
        for (name, value) in push.root.members {
            if name.utf8.count < 32, Self.isSpelledAlike(name), value.kind == .string { report(place("", name)) }
            if value[PayloadKeys.encryptedData]?.kind == .string {
                report(place(place("", name), PayloadKeys.encryptedData))
            }
        }
    }

    /// Whether a name has the letters of `ENCRYPTED_DATA`, whatever their case and the characters between them.
    private static func isSpelledAlike(_ name: String) -> Bool {
        name.lowercased().filter { $0.isLetter } == "encrypteddata"
    }
}
