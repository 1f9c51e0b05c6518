extension LintFindings {
    /// Finds what keeps a receiver from reading the envelope.
    mutating func checkEnvelope(_ push: LintedPush) {
        guard let value = push.envelope else {
            findMisplacedEnvelope(push)
            return
        }
        guard let text = value.string else {
            add(
                .error, .notEncrypted, at: PayloadKeys.encryptedData,
                "is not a string, so the phone shows a push that was not encrypted",
                fix: "send what 'pushcrypt seal' wrote, unchanged")
            return
        }
        do throws(OpenError) {
            _ = try Envelope(text: text)
        } catch {
            let code: PayloadLint.Code = error.code == .unsupportedSuite ? .unsupportedSuite : .malformedEnvelope
            add(
                .error, code, at: PayloadKeys.encryptedData, error.description,
                fix: "send what 'pushcrypt seal' wrote, unchanged; no client may encode it once more")
        }
    }

    /// Receivers look at the top level, and capitals count.
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

    /// Whether a name has the letters of `ENCRYPTED_DATA`, whatever their case and what stands between them.
    private static func isSpelledAlike(_ name: String) -> Bool {
        name.lowercased().filter { $0.isLetter } == "encrypteddata"
    }
}
