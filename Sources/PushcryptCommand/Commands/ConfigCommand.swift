internal import Pushcrypt
internal import PushcryptKeyStore

extension Command {
    static let config = Command(
        group: "config", "the store's defaults, which options override",
        discussion: [
            "title: the placeholder's title, instead of 'New message'.",
            "topic: the app, where no key is bound to one and --topic is not given.",
        ],
        examples: [Example("pushcrypt config set topic com.example.app")],
        commands: [configGet, configSet, configList])

    private static let setting = Operand("NAME", .choice(Setting.allCases.map(\.rawValue)), help: "title or topic")

    private static let configGet = Command(
        "get", "print a setting", operands: [setting], options: [.store, .passphraseFile],
        examples: [Example("pushcrypt config get title")],
        run: { (invocation, console) throws(CommandFailure) in
            let store = try console.openStore(invocation)
            let name = invocation.operand("NAME")
            let value = try withStoreErrors { () throws(KeyStoreError) in try store.setting(name) }
            guard let value else { throw .failed("\(name) is not set", hint: "pushcrypt config set \(name) VALUE") }
            try console.write(value + "\n")
            return .done
        })

    private static let configSet = Command(
        "set", "change a setting",
        operands: [setting, Operand("VALUE", .text, .optional, help: "the new value; nothing for the built-in one")],
        options: [.store, .passphraseFile], examples: [Example("pushcrypt config set topic com.example.app")],
        run: { (invocation, console) throws(CommandFailure) in
            let store = try console.openStore(invocation)
            let name = invocation.operand("NAME")
            let value = invocation.optionalOperand("VALUE")
            if let value { try Setting.check(value, name: name) }
            try withStoreErrors { () throws(KeyStoreError) in try store.setSetting(name, value) }
            return .done
        })

    private static let configList = Command(
        "list", "print all settings", options: [.store, .passphraseFile, .json],
        examples: [Example("pushcrypt config list --json")],
        run: { (invocation, console) throws(CommandFailure) in
            let store = try console.openStore(invocation)
            var rows: [(name: String, value: String?)] = []
            for setting in Setting.allCases {
                let value = try withStoreErrors { () throws(KeyStoreError) in try store.setting(setting.rawValue) }
                rows.append((setting.rawValue, value))
            }
            if invocation.flag("--json") {
                var json = JSONWriter()
                json.object { json in
                    for row in rows {
                        if let value = row.value { json.string(value, for: row.name) } else { json.null(for: row.name) }
                    }
                }
                try console.write(String(decoding: json.bytes, as: UTF8.self) + "\n")
            } else {
                for row in rows {
                    try console.write("\(row.name)  \(sanitized(forTerminal: row.value ?? "(not set)"))\n")
                }
            }
            return .done
        })
}

/// The settings that a store keeps.
private enum Setting: String, CaseIterable {
    case title
    case topic

    /// Refuses a value that a later command could not use.
    static func check(_ value: String, name: String) throws(CommandFailure) {
        switch Setting(rawValue: name) {
        case .title:
            guard sanitized(forTerminal: value) == value else {
                throw .usage("the title has control characters", hint: "write it without them")
            }
            do throws(SealError) {
                _ = try Placeholder(title: value)
            } catch {
                throw CommandFailure(error)
            }
        case .topic:
            do throws(InvalidTopic) {
                _ = try Topic(value)
            } catch {
                throw CommandFailure(error, in: "VALUE")
            }
        case nil: break
        }
    }
}
