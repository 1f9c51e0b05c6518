internal import Pushcrypt
internal import PushcryptCommandKit

/// The explanation of a code: one entry of the table behind `explain`.
///
/// The texts are for a developer or an operator.
struct Explanation: Sendable {
    let code: String
    /// Where the code occurs: one area, or several where it means the same.
    let areas: [Area]
    /// One phrase, lower case, no full stop.
    let summary: String
    /// Why it happens, the most frequent cause first; nil if the summary says it.
    let cause: String?
    /// How to fix it.
    let fix: String
    /// The effect on the phone and at the command line, where it differs from the area's.
    private let ownEffect: String?

    /// The effect on the phone and at the command line.
    var shown: String { ownEffect ?? areas[0].shown }

    /// The parts of the project that have codes.
    enum Area: String, CaseIterable, Sendable {
        case delivery, opening, answers, attachments, sealing, lint, batches, sending, keys, trust, store,
            enrolment, pairing, categories, library, json
    }

    /// Creates an explanation. Without `fix`, there is nothing to fix; without `shown`, the effect is that of the first area.
    init(
        _ code: some CustomStringConvertible, _ areas: Area..., summary: String, cause: String? = nil,
        fix: String = noFix, shown: String? = nil
    ) {
        self.code = code.description
        self.areas = areas
        self.summary = summary
        self.cause = cause
        self.fix = fix
        ownEffect = shown
    }

    private static let noFix = "None needed."
}

// MARK: The table

extension Explanation {
    /// Every explanation, area by area. Built on first use, which few commands need.
    static let all =
        delivery + opening + answers + attachments + sealing + lint + batches + sending + keys + trust + store
        + enrolment + pairing
        + categories + library + json

    /// The explanations of a code: several if areas use it differently, none for an unknown code.
    static func of(_ code: String) -> [Explanation] {
        all.filter { $0.code == code }
    }
}

extension Explanation.Area {
    /// The heading above its codes.
    var title: String {
        switch self {
        case .delivery: "Delivering on a phone"
        case .opening: "Opening a push"
        case .answers: "Opening an answer"
        case .attachments: "Attachments"
        case .sealing: "Sealing a payload"
        case .lint: "Checking a push before it is sent"
        case .batches: "Lines of a batch or an import"
        case .sending: "Sending to APNs"
        case .keys: "Reading a key or a record"
        case .trust: "Certificates and pins"
        case .store: "The key store"
        case .enrolment: "Enrolling a phone"
        case .pairing: "Pairing a phone by a code"
        case .categories: "Declaring categories and actions"
        case .library: "Calling the C library or a package"
        case .json: "Reading JSON"
        }
    }

    /// The codes of the area, and where they appear.
    var introduction: String {
        switch self {
        case .delivery: "How a delivery ended. A journal also has the codes of opening and of the key store."
        case .opening: "Why a push does not open."
        case .answers: "Why what a user answered is refused: 'pushcrypt answer open'."
        case .attachments: "Why a file cannot be sealed or is not shown."
        case .sealing: "Why a payload is refused."
        case .lint: "What 'pushcrypt lint' finds."
        case .batches:
            "Why one line fails; others are unaffected. Codes of sealing, opening, keys, the key store and JSON occur too."
        case .sending: "Why 'pushcrypt send' did not bring a message to APNs. 'reason' beside it is APNs' own word."
        case .keys: "Why a key, or the record around one, is refused."
        case .trust:
            "Why a certificate, a request for one or a pin is refused. A message with such a certificate is authentication-failed."
        case .store: "Why a key store cannot do what was requested."
        case .enrolment: "What a launch of the app found."
        case .pairing:
            "Why a code, a request or a reply is refused. A sealed reply may also have a reason of a registration."
        case .categories: "Why an app's categories are refused, at launch or as JSON."
        case .library:
            "What 'pushcrypt_last_error' says of an invalid call. Other errors have the codes of sealing, opening and keys."
        case .json: "Why bytes are not JSON as pushcrypt accepts it: in brackets in a message, with the byte's number."
        }
    }

    /// A fact about all of its codes.
    var note: String? {
        switch self {
        case .keys:
            "Public keys are lower case: a device's begins with pcr1 (X25519) or pcrx1 (post-quantum), a provider's with pcs1 (Ed25519). Secret keys are upper case: PCR-SECRET-1, PCRX-SECRET-1, PCS-SECRET-1, and PCK-SECRET-1 of a signing key."
        case .lint:
            "The user notices nothing of clear content, but the relay, and anyone who reads its storage, sees it."
        default: nil
        }
    }

    /// The effect of most of its codes: what the phone shows, and who else learns of it.
    var shown: String {
        switch self {
        case .delivery, .opening: "The fallback: the clear title, the subtitle (Encrypted) and no text."
        case .attachments: "The notification without this attachment. The journal has opened-without-attachment."
        case .sealing: "Nothing. The caller has the code and a sentence."
        case .lint: "Only 'pushcrypt lint' reports it."
        case .batches:
            "The line's answer in a batch, which ends with 65, or with 1 if a line may succeed later; on standard error for 'device import' and 'device remove', which end with 65."
        case .sending:
            "The line's answer. The run continues, and ends with 1 if a line may be accepted later, otherwise with 65."
        case .keys: "Only the caller sees it. Nothing was stored."
        case .trust: "Only the caller sees it. Nothing was stored."
        case .store:
            "The command reports it; nothing was changed or sealed. A phone whose keys cannot be read shows the fallback."
        case .enrolment: "The user notices nothing."
        case .pairing: "The app says that the phone is not paired, and asks for another code."
        case .categories: "Only the developer sees it: nothing was registered, and notifications have no actions."
        case .library: "Only the calling program sees it. Nothing was written to the output."
        case .json: "Nothing alone: it is the reason inside another code."
        case .answers: "The caller sees it. The phone does not learn whether its answer was opened."
        }
    }
}

// MARK: Text forms

extension Explanation {
    /// Everything about the code, for a terminal.
    func text(_ console: Console) -> String {
        let rows: [(String, String?)] = [
            ("where", areas.map(\.title).joined(separator: "; ")), ("cause", cause), ("fix", fix), ("shown", shown),
            ("note", areas[0].note),
        ]
        return console.styled(code, .bold) + " - \(summary)\n\n"
            + listed(rows.compactMap { name, text in text.map { (name, $0) } }, indent: 0)
    }

    /// Writes the members of the object that programs read.
    func write(to json: inout JSONWriter) {
        json.string(code, for: "code")
        json.array(for: "where") { json in
            for area in areas { json.string(area.rawValue, for: nil) }
        }
        json.string(summary, for: "summary")
        if let cause { json.string(cause, for: "cause") }
        json.string(fix, for: "fix")
        json.string(shown, for: "shown")
    }

    /// One object on a line.
    var json: String {
        var json = JSONWriter()
        json.object(write)
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }

    /// All codes by area, each with its phrase.
    static var list: String {
        Area.allCases.map { area in
            "\(area.title):\n" + listed(all.filter { $0.areas.contains(area) }.map { ($0.code, $0.summary) })
        }.joined(separator: "\n")
    }

    // MARK: Document

    /// All codes as a document, which `make docs` writes and packages contain. What most codes of an area have in common is said once, at its beginning.
    static var document: String {
        let head = [
            "'pushcrypt explain CODE' prints one of these codes, 'pushcrypt explain JOURNAL' explains a phone's journal, and 'pushcrypt explain --markdown' writes this document.",
            "**Shown** is what the phone shows and who learns of the code. A code without it has its section's; one without a fix needs none. The phone's user never sees a code. Codes contain nothing of a notification or a key.",
        ]
        return "# Codes\n" + head.map { "\n" + paragraph($0) }.joined() + Area.allCases.map(section).joined()
    }

    private static func section(_ area: Area) -> String {
        let guests = all.filter { $0.areas.dropFirst().contains(area) }.map { "`\($0.code)`" }
        let head = [
            area.introduction, area.note, guests.isEmpty ? nil : "Explained above: \(guests.joined(separator: ", ")).",
            "**Shown:** \(area.shown)",
        ]
        return "\n## \(area.title)\n\n" + paragraph(head.compactMap(\.self).joined(separator: " "))
            + all.filter { $0.areas.first == area }.map { "\n" + paragraph("**`\($0.code)`**: \($0.sentences)") }
            .joined()
    }

    private var sentences: String {
        summary + "." + (cause.map { " \($0)" } ?? "")
            + (fix == Self.noFix ? "" : " **Fix:** \(fix)") + (ownEffect.map { " **Shown:** \($0)" } ?? "")
    }

    private static func paragraph(_ text: String) -> String { wrapped(text, width: 120) }
}
