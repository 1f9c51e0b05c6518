/// The explanation of a code: one entry of the table behind `explain` and `Docs/Codes.md`.
///
/// The texts are for a developer or an operator. Line breaks in them are the source's and count as spaces.
struct Explanation: Sendable {
    let code: String
    /// Where the code occurs: one area, or several where it means the same.
    let areas: [Area]
    /// One phrase, lower case, no full stop.
    let summary: String
    /// Why it happens, the most frequent cause first.
    let cause: String
    /// How to fix it.
    let fix: String
    /// The effect on the phone and at the command line, where it differs from the area's.
    private let ownEffect: String?

    /// The effect on the phone and at the command line.
    var shown: String { ownEffect ?? areas[0].shown }

    /// Whether the effect is not the one that most codes of the area have.
    var hasOwnEffect: Bool { ownEffect != nil }

    /// The parts of the project that have codes.
    enum Area: String, CaseIterable, Sendable {
        case delivery, opening, attachments, sealing, lint, batches, signing, keys, rotation, store, enrolment,
            categories,
            library, json
    }

    /// Creates an explanation. Without `shown`, the effect is that of the first area.
    init(
        _ code: some CustomStringConvertible, _ areas: Area..., summary: String, cause: String, fix: String,
        shown: String? = nil
    ) {
        self.code = code.description
        self.areas = areas
        self.summary = summary
        self.cause = Self.joined(cause)
        self.fix = Self.joined(fix)
        ownEffect = shown.map(Self.joined)
    }

    private static func joined(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ")
    }
}

// MARK: The table

extension Explanation {
    /// Every explanation, area by area. Built on first use, which few commands need.
    static let all =
        delivery + opening + attachments + sealing + lint + batches + signing + keys + rotation + store + enrolment
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
        case .attachments: "Attachments"
        case .sealing: "Sealing a payload"
        case .lint: "Checking a push before it is sent"
        case .batches: "Lines of a batch or an import"
        case .signing: "Signing with an external signer"
        case .keys: "Reading a key or a record"
        case .rotation: "Accepting a rotation statement"
        case .store: "The key store"
        case .enrolment: "Enrolling a phone"
        case .categories: "Declaring categories and actions"
        case .library: "Calling the C library"
        case .json: "Reading JSON"
        }
    }

    /// Which codes these are, and where they appear.
    var introduction: String {
        switch self {
        case .delivery:
            "How a delivery ended. A phone's journal has these codes and those of opening and of the key store."
        case .opening: "Why a push does not open: in a phone's journal, and printed by 'pushcrypt open'."
        case .attachments: "Why a file cannot be sealed, or is not shown with its notification."
        case .sealing: "Why a provider's payload is refused before anything is sealed."
        case .lint:
            "What 'pushcrypt lint' finds in a push: what would not be shown or sent, what the relay can read, what may not work as intended."
        case .batches:
            "Why one line fails. A line can also fail with a code of sealing, opening, keys, the key store or JSON."
        case .signing:
            "Why a key service or hardware module returned no signature. The command reports signing-failed, followed by one of these."
        case .keys: "Why a key, or the record around one, is refused."
        case .rotation: "Why a statement that one sender key follows another is not accepted."
        case .store:
            "Why a key store cannot do what was requested: at the command line, and in the journal of a phone whose keys cannot be read."
        case .enrolment:
            "What a launch of the app found: why nothing can be done, why it registers again, what the app should know."
        case .categories: "Why an app's categories are refused: at launch, and by tools that read them as JSON."
        case .library:
            "What 'pushcrypt_last_error' says of an invalid call; other errors have the codes of sealing, opening and keys."
        case .json:
            "Why bytes are not a JSON text that this project accepts: in brackets in a message, with the byte's number."
        }
    }

    /// The effect of most of its codes: what the phone shows, and who else learns of it.
    var shown: String {
        switch self {
        case .delivery, .opening: "The fallback: the clear title, the subtitle (Encrypted) and no text."
        case .attachments:
            "The notification with its text, without this attachment. The journal has opened-without-attachment."
        case .sealing, .signing: Explanation.nothingSealed
        case .lint:
            "Only 'pushcrypt lint' reports it, before anything is sent. What is in the clear changes nothing for the user, but the relay, and anyone who reads its storage, sees it."
        case .batches:
            "In a batch the error is the line's answer, no phone shows anything, and the command ends with 1; 'device import' and 'device remove' name the line on standard error and end with 65. Other lines are unaffected."
        case .keys: "Only the caller gets the error. Nothing was stored."
        case .rotation:
            "Nothing: a message ignores such a statement, and opens or not by the key that signed it. The library has the code."
        case .store:
            "The command reports it, and nothing was changed or sealed. A phone that cannot read its keys for this reason shows the fallback."
        case .enrolment: "The user notices nothing."
        case .categories: "Only the developer sees it: nothing was registered, and notifications have no actions."
        case .library: "Only the calling program gets it. Nothing was written to the output."
        case .json: "It never appears alone: it is the reason inside another code."
        }
    }
}

extension Explanation {
    static let nothingSealed = "Nothing was sealed, so no phone shows anything. The caller has the code and a sentence."
}
