internal import Pushcrypt

/// How events stand on standard error, one line each.
enum LogFormat: String, CaseIterable, Sendable {
    /// `pushcrypt: EVENT name=value …`: for people, and for programs that split at spaces.
    case text
    /// An object with `event` and the values under the same names.
    case json

    /// What an event has. Text has no quotes, so that a word must have no spaces where programs are to read it.
    enum Value {
        case word(String)
        case number(Int)
        /// A time, in nanoseconds.
        case seconds(UInt64)
        /// Numbers by name.
        case counts([String: Int])
    }

    /// One line, its newline included.
    func line(_ event: String, _ fields: [(name: String, value: Value)]) -> ContiguousArray<UInt8> {
        var line: ContiguousArray<UInt8>
        switch self {
        case .text:
            let text = fields.reduce("pushcrypt: \(event)") { "\($0) \($1.name)=\($1.value.text)" }
            line = ContiguousArray(text.utf8)
        case .json:
            var json = JSONWriter()
            json.object { json in
                json.string(event, for: "event")
                for field in fields { field.value.write(to: &json, for: field.name) }
            }
            line = json.bytes
        }
        line.append(newline)
        return line
    }
}

extension LogFormat.Value {
    fileprivate var text: String {
        switch self {
        case .word(let word): word
        case .number(let number): "\(number)"
        case .seconds(let nanoseconds): decimalText(nanoseconds: nanoseconds)
        case .counts(let counts):
            counts.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
        }
    }

    fileprivate func write(to json: inout JSONWriter, for name: String) {
        switch self {
        case .word(let word): json.string(word, for: name)
        case .number(let number): json.integer(number, for: name)
        case .seconds(let nanoseconds):
            json.raw(ContiguousArray(decimalText(nanoseconds: nanoseconds).utf8), for: name)
        case .counts(let counts):
            json.object(for: name) { json in
                for (name, count) in counts.sorted(by: { $0.key < $1.key }) { json.integer(count, for: name) }
            }
        }
    }
}

extension Option {
    static let log = Option(
        "--log", "FORMAT", .choice(LogFormat.allCases.map(\.rawValue)),
        help: "write a line for each message to standard error, without any content: as text or as JSON")
}

extension Invocation {
    /// How messages stand on standard error, where the command can be told.
    var logFormat: LogFormat? {
        guard command.options.contains(where: { $0.name == Option.log.name }) else { return nil }
        return value(Option.log.name).flatMap(LogFormat.init(rawValue:))
    }
}
