/// What a code means: one entry of the table that `explain` and `Docs/Codes.md` are written from.
///
/// The texts are for a developer or an operator. Line breaks in them are the source's and count as spaces.
struct Explanation: Sendable {
    let code: String
    /// Where the code comes from: one place, or several where it means the same.
    let areas: [Area]
    /// One phrase, lower case, no full stop.
    let summary: String
    /// What has happened, most frequent cause first.
    let cause: String
    /// What to do about it.
    let fix: String
    /// What the person with the phone sees, and who else sees anything.
    let shown: String

    /// The parts of the project that have codes.
    enum Area: String, CaseIterable, Sendable {
        case delivery, opening, attachments, sealing, lint, batches, signing, keys, rotation, store, enrolment,
            categories,
            library, json
    }

    init(
        _ code: some CustomStringConvertible, _ areas: Area..., summary: String, cause: String, fix: String,
        shown: String
    ) {
        self.code = code.description
        self.areas = areas
        self.summary = summary
        self.cause = Self.joined(cause)
        self.fix = Self.joined(fix)
        self.shown = Self.joined(shown)
    }

    private static func joined(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ")
    }
}

// MARK: The table

extension Explanation {
    /// Every explanation, area by area.
    static let all =
        delivery + opening + attachments + sealing + lint + batches + signing + keys + rotation + store + enrolment
        + categories + library + json

    /// The explanations of a code: more than one where two areas mean different things by it, none for an unknown code.
    static func of(_ code: String) -> [Explanation] {
        all.filter { $0.code == code }
    }
}

extension Explanation.Area {
    /// What stands above its codes.
    var title: String {
        switch self {
        case .delivery: "Delivering on a phone"
        case .opening: "Opening a push"
        case .attachments: "Attachments"
        case .sealing: "Sealing a payload"
        case .lint: "Checking a push before it is sent"
        case .batches: "Answering the lines of a batch"
        case .signing: "Signing with a key elsewhere"
        case .keys: "Reading a key or a record"
        case .rotation: "Accepting a rotation statement"
        case .store: "The key store"
        case .enrolment: "Enrolling a phone"
        case .categories: "Declaring categories and actions"
        case .library: "Calling the library of C"
        case .json: "Reading JSON"
        }
    }

    /// Which codes these are, and where they are met.
    var introduction: String {
        switch self {
        case .delivery:
            "How a delivery ended. A phone's journal has these codes, and those of opening and of the key store."
        case .opening: "Why a push does not open: in a phone's journal, and printed by 'pushcrypt open'."
        case .attachments: "Why a file cannot be sealed, or is not shown with its notification."
        case .sealing: "Why a provider's payload is refused before anything is sealed."
        case .lint:
            "What 'pushcrypt lint' finds in a push: what would not be shown or sent, what the relay can read, what may not do what is meant."
        case .batches:
            "Why a line of a batch is not answered, for a reason of the line's own; it may as well be one of the codes of sealing, opening, keys, the key store and JSON."
        case .signing:
            "Why a key service or a hardware module gave no signature. The command says signing-failed, and one of these after it."
        case .keys: "Why a key, or the record around one, is not taken."
        case .rotation: "Why a statement that one sender key follows another is not accepted."
        case .store:
            "Why a key store cannot do what was asked: at the command line, and in the journal of a phone whose keys cannot be read."
        case .enrolment:
            "What a launch of the app has found: why nothing can be done, why it registers again, what the app should know."
        case .categories: "Why the categories of an app are not taken: at launch, and by tools that read them as JSON."
        case .library:
            "What 'pushcrypt_last_error' says of a call that cannot be; of others it has the codes of sealing, opening and keys."
        case .json:
            "Why bytes are no JSON text as this project takes it: in brackets in a message, with the number of the byte."
        }
    }
}

// MARK: Who sees what

extension Explanation {
    static let fallback = "On the phone: the fallback, which is the clear title, the subtitle (Encrypted) and no text."

    static let nothingSealed =
        "Nobody is shown anything: nothing was sealed. The caller has the code and a sentence."

    static let nothingTaken = "The caller sees it, and no phone does. Nothing was taken over."

    static let passedOver =
        """
        Nobody is shown it. In a message such a statement is passed over, and whether the message opens depends on the key
        that signed it. The library has the code.
        """

    static let nothingChanged = "Whoever runs the command sees it, and no phone does. Nothing was changed."

    /// Of a disk that fails at the end of a change nobody knows what it has kept.
    static let wholeOrNot = """
        Whoever runs the command sees it. A change is there as a whole or not at all; when the disk has failed at its very end,
        only a look tells which: list what is in the store.
        """

    static let unreadableKeys =
        "On a phone: the fallback. At the command line: whoever runs the command sees it. Nothing was changed."
}
