internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let config = Command(
        group: "config", "the store's defaults, which options override",
        discussion: Setting.allCases.map { "\($0.rawValue): \($0.meaning)." },
        examples: [Example("pushcrypt config set topic com.example.app")],
        commands: [configGet, configSet, configList])

    private static let setting =
        Operand("NAME", .choice(Setting.allCases.map(\.rawValue)), help: "which one")

    private static let configGet = Command(
        "get", "print a setting", operands: [setting], options: [.store, .passphraseFile],
        examples: [Example("pushcrypt config get title")],
        run: { (invocation, console) throws(CommandFailure) in
            let store = try console.openStore(invocation)
            let name = invocation.operand("NAME")
            let value = try withStoreErrors { () throws(KeyStoreError) in try store.setting(named: name) }
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
            if let value { try Setting(rawValue: name)?.check(value) }
            try withStoreErrors { () throws(KeyStoreError) in try store.setSetting(value, named: name) }
            return .done
        })

    private static let configList = Command(
        "list", "print all settings", options: [.store, .passphraseFile, .json],
        examples: [Example("pushcrypt config list --json")],
        run: { (invocation, console) throws(CommandFailure) in
            let store = try console.openStore(invocation)
            var rows: [(name: String, value: String?)] = []
            for setting in Setting.allCases {
                let value = try withStoreErrors { () throws(KeyStoreError) in try store.setting(named: setting.rawValue)
                }
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
                let width = rows.map(\.name.count).max() ?? 0
                for row in rows {
                    let name = row.name + String(repeating: " ", count: width - row.name.count)
                    try console.write("\(name)  \(sanitized(forTerminal: row.value ?? "(not set)"))\n")
                }
            }
            return .done
        })
}
