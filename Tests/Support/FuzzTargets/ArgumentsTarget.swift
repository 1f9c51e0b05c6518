import Pushcrypt

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// The command line: whatever the words, it is understood or refused; what was understood can be written again and means the
/// same; and no message repeats a secret.
///
/// Input: the words, a zero byte between them; the byte 0x01 stands for the text of a secret key.
struct ArgumentsTarget: FuzzTarget {
    static let name = "arguments"

    private let parser = Parser(table: .pushcrypt)
    /// The text of a secret key; stands in the words where the input has the byte 0x01.
    private let secret = KnownKeys.provider(1).withText { Bytes(copying: $0) }
    private let leak: Bytes

    init() { leak = Bytes(secret.dropFirst(20).prefix(24).map { $0 | 0x20 }) }

    func run(_ input: Bytes) {
        let words = input.split(separator: 0, omittingEmptySubsequences: false).map { word in
            String(decoding: Bytes(word.flatMap { $0 == 1 ? secret : [$0] }), as: UTF8.self)
        }
        do {
            switch try parser.parse(words) {
            case .help(let path, _):
                require(parser.table.command(at: path) != nil || path.isEmpty, "arguments: help is about a command")
            case .version: break
            case .command(_, let arguments): checkAccepted(arguments, words)
            }
        } catch {
            guard let error = error as? Failure else { fail("arguments: a mistake is a failure") }
            require(error.exit == .usage, "arguments: a mistake is exit 64")
            for text in [error.message] + error.hints {
                require(!holdsSecret(text), "arguments: no message repeats a secret key")
                require(
                    !text.unicodeScalars.contains(where: Self.steersTerminal),
                    "arguments: no message steers the terminal")
            }
        }
    }

    /// Controls, what ends a line, and what turns the direction of the text beside it, by what Unicode says of each character. The
    /// marks that are letters of a direction and no more stay, because texts in Arabic and Hebrew have them.
    private static func steersTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isBidiControl && !["\u{61C}", "\u{200E}", "\u{200F}"].contains(scalar)
        }
    }

    private func holdsSecret(_ text: String) -> Bool { Bytes(text.utf8.map { $0 | 0x20 }).contains(leak) }

    private func checkAccepted(_ arguments: Arguments, _ words: [String]) {
        for word in words {
            require(!holdsSecret(word), "arguments: a secret key is refused")
        }
        let again = canonical(arguments)
        guard case .command(_, let second)? = try? parser.parse(again) else {
            fail("arguments: what was understood is understood when it is written again")
        }
        require(second.path == arguments.path, "arguments: the command is the same")
        require(canonical(second) == again, "arguments: every option and operand comes back")
        require(again.count <= words.count + 1, "arguments: nothing is added")
    }

    /// The command, its options in the order of the table, and its operands.
    private func canonical(_ arguments: Arguments) -> [String] {
        var words = arguments.path
        for option in arguments.options {
            for (name, values) in arguments.taken where name == option.name {
                words += values.map { option.value == nil ? name : "\(name)=\($0)" }
            }
        }
        words.append("--")
        for operand in arguments.operands {
            words += arguments.taken.first { $0.name == operand.name }?.values ?? []
        }
        return words
    }
}
