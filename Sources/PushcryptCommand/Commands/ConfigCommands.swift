internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let config = Command(group: "config", "the store's defaults, which options override") {
        CommandGroup(
            discussion: Setting.allCases.map { "\($0.rawValue): \($0.meaning)." },
            commands: [
                Command("get", "print a setting", ConfigGetCommand.self),
                Command("set", "change a setting", ConfigSetCommand.self),
                Command("list", "print all settings", ConfigListCommand.self),
            ])
    }
}

extension Arguments {
    fileprivate mutating func setting() -> Setting { operand("NAME", placeholder: .title, help: "the setting") }
}

struct ConfigGetCommand: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("pushcrypt config get title")]) }

    private let setting: Setting
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        setting = arguments.setting()
        store = StoreArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        let value = try withStoreErrors { () throws(KeyStoreError) in try store.setting(setting) }
        guard let value else {
            throw .failed("\(setting) is not set", hint: "pushcrypt config set \(setting) VALUE")
        }
        try console.write(value + "\n")
        return .done
    }
}

struct ConfigSetCommand: CommandBody {
    static var page: CommandPage {
        CommandPage(examples: [Example("pushcrypt config set topic com.example.app")])
    }

    private let setting: Setting
    private let value: String?
    private let store: StoreArguments

    init(_ arguments: inout Arguments) {
        setting = arguments.setting()
        value = arguments.optionalOperand("VALUE", help: "the new value; default the built-in one")
        store = StoreArguments(&arguments)
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        if let value { try setting.check(value) }
        if setting == .topic,
            let topic = try value.map({ (value) throws(CommandFailure) in try Topic(value, in: "VALUE") })
        {
            console.warnOfSuffix(topic)
        }
        try withStoreErrors { () throws(KeyStoreError) in try store.setSetting(value, named: setting.rawValue) }
        return .done
    }
}

struct ConfigListCommand: CommandBody {
    static var page: CommandPage { CommandPage(examples: [Example("pushcrypt config list --json")]) }

    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
    }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        let store = try console.open(store)
        var rows: [(name: String, value: String?)] = []
        for setting in Setting.allCases {
            let value = try withStoreErrors { () throws(KeyStoreError) in try store.setting(setting) }
            rows.append((setting.rawValue, value))
        }
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                for row in rows {
                    if let value = row.value { json.string(value, for: row.name) } else { json.null(for: row.name) }
                }
            }
            try console.write(line: json.bytes)
        } else {
            let width = rows.map(\.name.count).max() ?? 0
            for row in rows {
                let name = row.name + String(repeating: " ", count: width - row.name.count)
                try console.write("\(name)  \(sanitized(forTerminal: row.value ?? "(not set)"))\n")
            }
        }
        return .done
    }
}
