package import Pushcrypt

/// Checks a push before it is sent: for what a phone would not show, what the relay can read but should not, and what Apple
/// refuses. It also says how much room is left.
///
///     let lint = PayloadLint(payload)
///     for finding in lint.findings { print(finding.place, finding.message, finding.fix) }
///
/// Accepts any push, sealed or not. A push that is not sealed is checked both as it is and as input for `Sealer`, and has an
/// error if `Sealer` would refuse it. The check opens nothing and does not look inside an envelope. It terminates on any
/// input, in at most n·log n time. (`Docs/Format.md`, Clear part, Size; Apple's "Generating a remote notification" and
/// "Sending notification requests to APNs")
package struct PayloadLint: Sendable {
    /// The APNs headers of a request, as text; nil for a header that is not known.
    struct Headers {
        /// `apns-topic`, including the suffix for the push type.
        var topic: String?
        var pushType: String?
        var priority: String?
        var expiration: String?
        var collapseID: String?
        var id: String?
    }

    /// The sizes of a push in bytes, and the room that is left.
    package struct Sizes: Hashable, Sendable {
        /// The length of the JSON as given, from the first brace to the last.
        package let length: Int
        /// The length without white space between tokens.
        package let minifiedLength: Int
        /// The length in the longest form that a client may re-encode the JSON to.
        package let maximumReencodedLength: Int
        /// The longest push of this type that Apple accepts.
        package let limit: Int
        /// The length of the envelope's inner plaintext, or of the one that sealing the push would give; nil if there is none.
        package let bucket: Int?
        /// The number of bytes that can still be added without changing the bucket; nil if the push cannot be sealed.
        package let remainingInBucket: Int?
        /// The number of bytes that can still be added before the push cannot be sealed, negative if it is too long already;
        /// nil if a push of this kind is never sealed.
        package let remainingToSeal: Int?

        /// The room left of `limit` for the longest form; negative if the push is too long.
        package var remaining: Int { limit - maximumReencodedLength }
    }

    /// The findings: errors, then warnings, then notes; within each, form first, headers and lengths last.
    ///
    /// `Finding.code` is the text of a ``Code``. `Finding.place` is a path such as `aps.alert.title`, a header such as
    /// `apns-topic`, or empty for the whole push. It may quote names of keys from the push, but no finding holds a value.
    package let findings: [Finding]
    /// Whether the push has an `ENCRYPTED_DATA` member, whatever its value.
    package let isSealed: Bool
    /// The push type that the rules were taken from: a request's, or else the one that the push looks like.
    package let pushType: String
    /// Whether the type is a guess.
    package let isPushTypeAssumed: Bool
    /// Whether the system would start the notification service extension for this push as it is.
    package let startsExtension: Bool
    /// The sizes of the push; nil if it is not a JSON object.
    package let sizes: Sizes?

    /// Checks a push: its JSON, or a request object such as `PushRequest.json`, with its headers.
    ///
    /// - Parameters:
    ///   - push: UTF-8 JSON, as it is sent.
    ///   - isToBeSealed: Whether the push is what a provider is going to seal: there are then no findings about what the relay
    ///     can read or about what sealing adds, and a field of `aps` that the system does not know is an error. Ignored for a
    ///     sealed push.
    package init(_ push: some Sequence<UInt8>, isToBeSealed: Bool = false) {
        var findings = LintFindings()
        if let push = LintedPush(ContiguousArray(push), &findings) {
            findings.check(push)
            if isToBeSealed, push.envelope == nil { findings.keepThoseOfSealing() }
            sizes = findings.measure(push)
            isSealed = push.envelope != nil
            pushType = push.typeName
            isPushTypeAssumed = push.isTypeAssumed
            startsExtension = push.startsExtension
        } else {
            sizes = nil
            isSealed = false
            pushType = "alert"
            isPushTypeAssumed = true
            startsExtension = false
        }
        self.findings = findings.sorted
    }
}

/// The findings so far.
struct LintFindings {
    private var findings: [Finding] = []

    var sorted: [Finding] {
        Finding.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }

    mutating func add(
        _ severity: Finding.Severity, _ code: PayloadLint.Code, at place: String, _ message: String, fix: String
    ) {
        findings.append(Finding(severity, code: code.description, at: place, message, fix: fix))
    }

    /// Leaves out what sealing changes; a misspelt field is worse than a warning, because nobody sees it later.
    mutating func keepThoseOfSealing() {
        let changed: [PayloadLint.Code] = [.notSealed, .clearText, .clearField, .clearKey, .extensionNotStarted]
        findings = findings.compactMap { finding in
            if changed.contains(where: { $0.description == finding.code }) { return nil }
            guard finding.code == PayloadLint.Code.unknownField.description else { return finding }
            return Finding(
                .error, code: finding.code, at: finding.place, finding.message, fix: finding.fix)
        }
    }

    mutating func check(_ push: LintedPush) {
        if push.isReadByTheSystem {
            add(
                push.envelope == nil ? .warning : .error, .pushTypeNotSealable, at: "apns-push-type",
                "the system reads a \(push.typeName) push before any of the app's code runs, so nothing opens it",
                fix: "send it without secrets, or send the secrets in an alert")
        } else {
            checkForm(push)
            checkEnvelope(push)
            checkShowing(push)
            checkLeaks(push)
        }
        checkHeaders(push)
    }
}
