/// What is wrong with a push before it is sent: what a phone would not show, what the relay can read that it should not,
/// what Apple refuses, and the room that is left.
///
///     let lint = PayloadLint(payload, headers: .init(pushType: "alert", collapseID: id))
///     for finding in lint.findings { print(finding.place, finding.text, finding.fix) }
///
/// Takes any push, sealed or not; one that is not sealed is looked at as what it is now and as what `Sealer` would be
/// given, and has an error where `Sealer` would refuse it. It opens nothing, and does not look into an envelope. Total:
/// whatever the bytes are, it ends, in time n·log n at most. (`Docs/Format.md`, Clear part, Size; Apple's "Generating a
/// remote notification" and "Sending notification requests to APNs")
package struct PayloadLint: Sendable {
    /// One finding, and how to fix it.
    package struct Finding: Hashable, Sendable {
        /// What it is, by name.
        package let code: Code
        /// How bad it is.
        package let severity: Severity
        /// Where: `aps.alert.title`, a header such as `apns-topic`, or nothing where it is the whole push. It may hold
        /// names of keys, as they stand in the push.
        package let place: String
        /// What was found; never holds a value of the push.
        package let text: String
        /// What to do about it.
        package let fix: String
    }

    /// How bad a finding is.
    package enum Severity: String, CaseIterable, Sendable {
        /// Apple refuses the push, a phone does not show it, or it cannot be sealed.
        case error
        /// The relay reads it, or it may not do what is meant.
        case warning
        /// Worth knowing.
        case note
    }

    /// What goes to Apple beside the payload, as text; nil for what is not known here.
    package struct Headers: Hashable, Sendable {
        /// `apns-topic`, with the suffix of its push type.
        package var topic: String?
        /// `apns-push-type`.
        package var pushType: String?
        /// `apns-priority`.
        package var priority: String?
        /// `apns-expiration`.
        package var expiration: String?
        /// `apns-collapse-id`.
        package var collapseID: String?
        /// `apns-id`.
        package var id: String?

        /// Takes what is known.
        package init(
            topic: String? = nil, pushType: String? = nil, priority: String? = nil, expiration: String? = nil,
            collapseID: String? = nil, id: String? = nil
        ) {
            self.topic = topic
            self.pushType = pushType
            self.priority = priority
            self.expiration = expiration
            self.collapseID = collapseID
            self.id = id
        }
    }

    /// Errors, then warnings, then notes; in each, first what is about the form, headers and lengths last.
    package let findings: [Finding]
    /// There is an `ENCRYPTED_DATA`, whatever it holds.
    package let isSealed: Bool
    /// The push type that the rules are those of: the one that was given, otherwise the one that the push looks like.
    package let pushType: String
    /// No push type was given.
    package let isPushTypeAssumed: Bool
    /// The service extension would be started for this push as it is.
    package let startsExtension: Bool
    /// How long it is; nil for what is no JSON object.
    package let sizes: Sizes?

    /// Looks at a push: its JSON, or the object that `pushcrypt seal --emit request` writes, whose members count as the
    /// headers that were not given.
    ///
    /// - Parameters:
    ///   - push: UTF-8 JSON, as it is sent.
    ///   - headers: what is sent with it.
    ///   - isSentExactly: nobody writes the JSON anew on its way to Apple.
    package init(_ push: some Sequence<UInt8>, headers: Headers = Headers(), isSentExactly: Bool = false) {
        var findings = LintFindings()
        if let push = LintedPush(ContiguousArray(push), headers, &findings) {
            findings.look(at: push)
            sizes = findings.measure(push, isSentExactly: isSentExactly)
            isSealed = push.envelope != nil
            pushType = push.typeName
            isPushTypeAssumed = push.isTypeAssumed
            startsExtension = push.startsExtension
        } else {
            sizes = nil
            isSealed = false
            pushType = headers.pushType ?? APNsPushType.alert.rawValue
            isPushTypeAssumed = headers.pushType == nil
            startsExtension = false
        }
        self.findings = findings.sorted
    }
}

/// What is found, as it comes.
struct LintFindings {
    private var findings: [PayloadLint.Finding] = []

    var sorted: [PayloadLint.Finding] {
        PayloadLint.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }

    mutating func add(
        _ severity: PayloadLint.Severity, _ code: PayloadLint.Code, at place: String, _ text: String, fix: String
    ) {
        findings.append(
            PayloadLint.Finding(code: code, severity: severity, place: place, text: text, fix: fix))
    }

    mutating func look(at push: LintedPush) {
        checkForm(push)
        checkEnvelope(push)
        checkShowing(push)
        findLeaks(push)
        checkHeaders(push)
    }
}
