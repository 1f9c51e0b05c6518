import Pushcrypt

@testable import PushcryptCommand

/// The command line: whatever the words, it is understood or refused; what was understood can be written again and means the
/// same; and no message repeats a secret.
///
/// Input: the words, a zero byte between them.
struct ArgumentsTarget: FuzzTarget {
    static let name = "arguments"

    private let parser = Parser(table: .pushcrypt)
    /// The text of a secret key, put in for a word of one byte, 0x01, or for that byte in a word.
    private let secret = KnownKeys.sender(1).withText { String(decoding: Bytes(copying: $0), as: UTF8.self) }
    private let leak: Bytes

    init() { leak = Bytes(secret.lowercased().utf8.dropFirst(20).prefix(24)) }

    func run(_ input: Bytes) {
        let words = input.split(separator: 0, omittingEmptySubsequences: false).map { word in
            let text = String(decoding: word, as: UTF8.self)
            return text.contains("\u{1}") ? text.split(separator: "\u{1}", omittingEmptySubsequences: false).joined(separator: secret) : text
        }
        do throws(CommandFailure) {
            switch try parser.parse(words) {
            case .help(let path):
                require(parser.table.command(at: path) != nil || path.isEmpty, "arguments: help is about a command")
            case .version: break
            case .command(let invocation, _): checkAccepted(invocation, words)
            }
        } catch {
            require(error.exit == .usage, "arguments: a mistake is exit 64")
            for text in [error.message] + error.hints {
                require(!Bytes(text.lowercased().utf8).contains(leak), "arguments: no message repeats a secret key")
                require(text == sanitized(forTerminal: text), "arguments: no message steers the terminal")
            }
        }
    }

    private func checkAccepted(_ invocation: Invocation, _ words: [String]) {
        for word in words {
            require(!Bytes(word.lowercased().utf8).contains(leak), "arguments: a secret key is refused")
        }
        let again = canonical(invocation)
        guard case .command(let second, _)? = try? parser.parse(again) else {
            fail("arguments: what was understood is understood when it is written again")
        }
        require(second.path == invocation.path, "arguments: the command is the same")
        require(canonical(second) == again, "arguments: every option and operand comes back")
        let values = again.filter { $0 != "--" }.count
        require(values <= words.count + 1, "arguments: nothing is added")
    }

    /// The command, its options in the order of the table, and its operands.
    private func canonical(_ invocation: Invocation) -> [String] {
        var words = invocation.path
        for option in invocation.command.options {
            for value in invocation.values(option.name) {
                words.append(option.value == nil ? option.name : "\(option.name)=\(value)")
            }
        }
        words.append("--")
        for operand in invocation.command.operands { words += invocation.operands(operand.name) }
        return words
    }
}
