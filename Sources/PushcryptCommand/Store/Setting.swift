internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

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

    /// The name in JSON.
    var member: String { String(rawValue.map { $0 == "-" ? "_" : $0 }) }

    /// The value if the setting is not set; nil if there is none, or if it depends on the message.
    var standard: String? {
        switch self {
        case .title: Placeholder.standardTitle
        case .ttl: "30d"
        case .grace: "31d"
        case .environment: PushEnvironment.production.rawValue
        case .suites: "1"
        case .sound, .clear, .topic, .keyFile, .keyID, .team, .relay: nil
        }
    }

    /// The meaning; lower case, no full stop.
    var meaning: String {
        switch self {
        case .title: "the title that Apple may read"
        case .sound: "the sound that Apple may read, or none; otherwise 'default' if the payload has a sound"
        case .clear:
            "the fields of aps that the relay may read (see 'seal --clear'), separated by commas"
        case .topic: "the app, if no key is bound to one"
        case .ttl: "how long a message may be shown, such as 12h"
        case .grace: "how long the old key opens after 'key rotate --confirm'"
        case .keyFile: "the APNs key of 'send', an absolute path; with team"
        case .keyID: "its id; default the one in its name"
        case .team: "the id of the team that it belongs to"
        case .environment: "production or development, for 'send'"
        case .relay: "the origin of a publisher's relay, for 'send' without a login"
        case .suites:
            "the suites of which 'device add --reply' lets a phone make a key: 1, or 1,2 once every sealing server has libsodium 1.0.22; payloads are then at most 1,508 bytes"
        }
    }

    private static let environments = PushEnvironment.allCases.map(\.rawValue)
    private static let clearFields = Placeholder.ClearField.allCases.map(\.rawValue)

    private var kind: ValueKind {
        switch self {
        case .ttl: .duration(1...Int(Freshness.maximumTimeToLive.seconds))
        case .grace: .duration(0...400 * 86_400)
        default: .text
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
        switch self {
        case .title: try check(PlaceholderChoice(title: value), value)
        case .sound: try check(PlaceholderChoice(sound: Placeholder.Sound(word: value)), value)
        case .clear:
            for field in Self.fields(value) { try ValueKind.choice(Self.clearFields).check(field, for: rawValue) }
        case .topic:
            _ = try Topic(value, in: "VALUE")
        case .keyFile: break
        case .keyID, .team:
            guard isAppleID(value) else {
                throw Failure.usage("\(self.rawValue) must be ten capital letters and digits")
            }
        case .environment: try ValueKind.choice(Self.environments).check(value, for: rawValue)
        case .relay:
            guard RelayOrigin(value) != nil else {
                throw Failure.usage(
                    "relay must be an origin, such as https://push.example.com",
                    hint: "write it as the publisher does; http only in a private network")
            }
        case .ttl, .grace: try kind.check(value, for: rawValue)
        case .suites:
            try ValueKind.choice(["1", "1,2"]).check(value, for: rawValue)
            guard value == "1" || CipherSuite.xwing.isSupported else { throw Failure.usage(CipherSuite.requirement) }
        }
    }

    private func check(_ choice: PlaceholderChoice, _ value: String) throws {
        guard sanitized(forTerminal: value) == value else {
            throw Failure.usage("\(rawValue) has control characters", hint: "write it without them")
        }
        _ = try choice.placeholder()
    }

    /// The fields that `clear` names.
    fileprivate static func fields(_ value: String) -> [String] {
        value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// The seconds of a time.
    fileprivate func seconds(_ value: String) -> Int? {
        guard case .duration(let range) = kind else { return nil }
        return parseDuration(value, in: range)
    }
}

// MARK: Reading

extension SQLiteKeyStore {
    func setting(_ setting: Setting) throws(KeyStoreError) -> String? { try self.setting(named: setting.rawValue) }

    /// The topic for messages that have no other.
    func defaultTopic() throws(KeyStoreError) -> Topic? { try setting(.topic).flatMap { try? Topic($0) } }

    /// The placeholder, as far as the settings determine it.
    func placeholder() throws(KeyStoreError) -> PlaceholderChoice {
        PlaceholderChoice(
            title: try setting(.title), sound: try setting(.sound).map(Placeholder.Sound.init(word:)),
            clearFields: try setting(.clear).map { Set(Setting.fields($0).compactMap(Placeholder.ClearField.init)) })
    }

    /// The suites of which a phone may make a key. Another server may have set one that this build would refuse.
    func permittedSuites() throws(KeyStoreError) -> [UInt8] {
        let suites = try setting(.suites).map { $0.split(separator: ",").compactMap { UInt8($0) } }
        return suites?.filter { CipherSuite(rawValue: $0)?.isSupported ?? false } ?? RegistrationReply.standardSuites
    }

    /// A time in seconds.
    func seconds(_ setting: Setting) throws(KeyStoreError) -> Int? {
        try self.setting(setting).flatMap(setting.seconds)
    }
}
