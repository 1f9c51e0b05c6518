internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let config = Command(
        "config", "show or change the store's defaults, which options override",
        about: ["Without NAME, shows all settings."]
            + Setting.allCases.map { "\($0.rawValue): \($0.meaning)." },
        examples: [
            "pushcrypt config", "pushcrypt config placeholder-title",
            "pushcrypt config topic com.example.app",
            Example("pushcrypt config topic --default", "as if it had never been set"),
        ]
    ) { a in
        let command = ConfigCommand(&a)
        return { try command.run($0) }
    }
}

struct ConfigCommand {
    private let name: String?
    private let value: String?
    private let isReset: Bool
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        isReset = arguments.flag("--default", help: "forget the setting's value")
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        name = arguments.optionalOperand(
            "NAME", .choice(Setting.allCases.map { $0.rawValue }), help: "the setting; default all of them")
        value = arguments.optionalOperand("VALUE", help: "the new value")
    }

    func run(_ console: Console) throws -> ExitCode {
        guard let setting = name.flatMap(Setting.init(rawValue:)) else {
            guard !isReset else { throw Failure.usage("NAME is missing", hint: "--default goes with one setting") }
            return try list(try console.open(store), console)
        }
        if isReset, value != nil { throw Failure.usage("VALUE and --default exclude each other") }
        let store = try console.open(store)
        guard value != nil || isReset else {
            let set = try store.setting(setting)
            guard let value = set ?? setting.standard else {
                throw Failure.refused(
                    "\(setting.rawValue) is not set", hint: "pushcrypt config \(setting.rawValue) VALUE")
            }
            try console.write(value + "\n")
            return .done
        }
        let value = self.value.map(setting.stored)
        if let value { try setting.check(value) }
        if setting == .topic,
            let topic = try value.map({ value in try Topic(value, in: "VALUE") })
        {
            console.warnOfSuffix(topic)
        }
        try store.setSetting(value, named: setting.rawValue)
        console.changed(value.map { "set \(setting.rawValue) to \($0)" } ?? "reset \(setting.rawValue)")
        return .done
    }

    private func list(_ store: SQLiteKeyStore, _ console: Console) throws -> ExitCode {
        var rows: [(setting: Setting, value: String?)] = []
        for setting in Setting.allCases {
            rows.append((setting, try store.setting(setting)))
        }
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                for (setting, value) in rows {
                    if let value { json.string(value, for: setting.member) } else { json.null(for: setting.member) }
                }
            }
            try console.write(line: json.bytes)
        } else {
            let width = rows.map(\.setting.rawValue.count).max() ?? 0
            for (setting, value) in rows {
                let name = setting.rawValue + String(repeating: " ", count: width - setting.rawValue.count)
                let text = value ?? setting.standard.map { "\($0) (default)" } ?? "(not set)"
                try console.write("\(name)  \(sanitized(forTerminal: text))\n")
            }
        }
        return .done
    }
}
