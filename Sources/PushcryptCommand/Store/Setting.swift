internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let config = Command(
        "config", "show or change the store's defaults, which options override",
        about: "Without NAME, shows all settings.\n"
            + Setting.allCases.map { "\($0.rawValue): \($0.meaning)." }.joined(separator: "\n"),
        examples: [
            "pushcrypt config", "pushcrypt config placeholder-title",
            "pushcrypt config topic com.example.app",
            Example("pushcrypt config topic --default", "as if it had never been set"),
        ]
    ) { a in
        let isReset = a.flag("--default", help: "forget the setting's value")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let name = a.optionalOperand(
            "NAME", .choice(Setting.allCases.map { $0.rawValue }), help: "the setting; default all of them")
        let value = a.optionalOperand("VALUE", help: "the new value")
        return { console in
            guard let setting = name.flatMap(Setting.init(rawValue:)) else {
                guard !isReset else { throw Failure.usage("NAME is missing", hint: "--default goes with one setting") }
                let store = try console.open(store)
                let rows = try Setting.allCases.map { ($0, try store.setting($0)) }
                return try isJSON ? console.writeObject { write(rows, to: &$0) } : console.write(text(rows))
            }
            if isReset, value != nil { throw Failure.usage("VALUE and --default exclude each other") }
            let store = try console.open(store)
            guard value != nil || isReset else {
                guard let value = try store.setting(setting) ?? setting.standard else {
                    throw Failure.refused(
                        "\(setting.rawValue) is not set", hint: "pushcrypt config \(setting.rawValue) VALUE")
                }
                return try console.write(value + "\n")
            }
            let value = value.map(setting.stored)
            if let value {
                try setting.check(value)
                if setting == .topic { console.warnOfSuffix(try Topic(value, in: "VALUE")) }
            }
            try store.setSetting(value, named: setting.rawValue)
            console.changed(value.map { "set \(setting.rawValue) to \($0)" } ?? "reset \(setting.rawValue)")
        }
    }
}

private func write(_ rows: [(Setting, value: String?)], to json: inout JSONWriter) {
    for (setting, value) in rows {
        let name = String(setting.rawValue.map { $0 == "-" ? "_" : $0 })
        if let value { json.string(value, for: name) } else { json.null(for: name) }
    }
}

private func text(_ rows: [(setting: Setting, value: String?)]) -> String {
    let width = rows.map(\.setting.rawValue.count).max() ?? 0
    return rows.map { setting, value in
        let name = setting.rawValue + String(repeating: " ", count: width - setting.rawValue.count)
        let text = value ?? setting.standard.map { "\($0) (default)" } ?? "(not set)"
        return "\(name)  \(sanitized(forTerminal: text))\n"
    }.joined()
}

/// A default in a store, which options override.
enum Setting: String, CaseIterable, Sendable {
    case title = "placeholder-title"
    case sound = "placeholder-sound"
    case clear
    case topic
    case ttl
    case grace
    case keyFile = "key-file"
    case keyID = "key-id"
    case team
    case environment
    case relay
    case suites

    /// The meaning; lower case, no full stop. Then the value if the setting is not set; nil if there is none, or if it depends
    /// on the message.
    private var facts: (meaning: String, standard: String?) {
        switch self {
        case .title: ("the title that Apple may read", Placeholder.standardTitle)
        case .sound: ("the sound that Apple may read, or none; otherwise 'default' if the payload has a sound", nil)
        case .clear: ("the fields of aps that the relay may read (see 'seal --clear'), separated by commas", nil)
        case .topic: ("the app, if no key is bound to one", nil)
        case .ttl: ("how long a message may be shown, such as 12h", "30d")
        case .grace: ("how long the old key opens after 'key rotate --confirm'", "31d")
        case .keyFile: ("the APNs key of 'send', an absolute path; with team", nil)
        case .keyID: ("its id; default the one in its name", nil)
        case .team: ("the id of the team that it belongs to", nil)
        case .environment: ("production or development, for 'send'", PushEnvironment.production.rawValue)
        case .relay: ("the origin of a publisher's relay, for 'send' without a login", nil)
        case .suites:
            (
                "the suites of which 'device add --reply' lets a phone make a key: 1, or 1,2 once every sealing server has libsodium 1.0.22; payloads are then at most 1,508 bytes",
                "1"
            )
        }
    }

    var meaning: String { facts.meaning }
    var standard: String? { facts.standard }

    /// The range of a time, in seconds.
    private var times: ClosedRange<Int>? {
        switch self {
        case .ttl: 1...Int(Freshness.maximumTimeToLive.seconds)
        case .grace: 0...400 * 86_400
        default: nil
        }
    }

    /// Returns a value as it is stored: a path as one that later commands find from elsewhere, an origin as it is signed.
    func stored(_ value: String) -> String {
        switch self {
        case .keyFile: absolutePath(value)
        case .relay: RelayOrigin(value)?.description ?? value
        default: value
        }
    }

    /// Refuses a value that a later command could not use.
    func check(_ value: String) throws {
        func choose(among words: [String]) throws { try ValueKind.choice(words).check(value, for: rawValue) }
        if let times { return try ValueKind.duration(times).check(value, for: rawValue) }
        switch self {
        case .title, .sound:
            guard sanitized(forTerminal: value) == value else {
                throw Failure.usage("\(rawValue) has control characters", hint: "write it without them")
            }
            _ = try PlaceholderChoice(
                title: self == .title ? value : nil, sound: self == .sound ? Placeholder.Sound(word: value) : nil
            ).placeholder()
        case .clear:
            let words = Placeholder.ClearField.allCases.map(\.rawValue)
            for field in Self.fields(value) { try ValueKind.choice(words).check(field, for: rawValue) }
        case .topic: _ = try Topic(value, in: "VALUE")
        case .keyID, .team:
            if !isAppleID(value) { throw Failure.usage("\(rawValue) must be ten capital letters and digits") }
        case .environment: try choose(among: PushEnvironment.allCases.map(\.rawValue))
        case .relay:
            guard RelayOrigin(value) != nil else {
                throw Failure.usage(
                    "relay must be an origin, such as https://push.example.com",
                    hint: "write it as the publisher does; http only in a private network")
            }
        case .suites:
            try choose(among: ["1", "1,2"])
            guard value == "1" || CipherSuite.xwing.isSupported else { throw Failure.usage(CipherSuite.requirement) }
        case .keyFile, .ttl, .grace: break
        }
    }

    /// The fields that `clear` names.
    fileprivate static func fields(_ value: String) -> [String] {
        value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// The seconds of a time.
    fileprivate func seconds(_ value: String) -> Int? {
        times.flatMap { parseDuration(value, in: $0) }
    }
}

// MARK: Reading

extension SQLiteKeyStore {
    func setting(_ setting: Setting) throws -> String? { try self.setting(named: setting.rawValue) }

    /// The topic for messages that have no other.
    func defaultTopic() throws -> Topic? { try setting(.topic).flatMap { try? Topic($0) } }

    /// The placeholder, as far as the settings determine it.
    func placeholder() throws -> PlaceholderChoice {
        PlaceholderChoice(
            title: try setting(.title), sound: try setting(.sound).map(Placeholder.Sound.init(word:)),
            clearFields: try setting(.clear).map { Set(Setting.fields($0).compactMap(Placeholder.ClearField.init)) })
    }

    /// The suites of which a phone may make a key. Another server may have set one that this build would refuse.
    func permittedSuites() throws -> [UInt8] {
        let suites = try setting(.suites).map { $0.split(separator: ",").compactMap { UInt8($0) } }
        return suites?.filter { CipherSuite(rawValue: $0)?.isSupported ?? false } ?? RegistrationReply.standardSuites
    }

    /// A time in seconds.
    func seconds(_ setting: Setting) throws -> Int? {
        try self.setting(setting).flatMap(setting.seconds)
    }
}
