internal import Pushcrypt
internal import PushcryptCommandKit

/// `--answer`: what the user chooses, and types.
struct AnswerArgument: Sendable {
    private let action: String
    private let text: String?

    /// Declares the option; returns nil if it is not given.
    init?(_ arguments: inout Arguments) {
        let value = arguments.value(
            "--answer", "ACTION[=TEXT]", help: "write what the app sends if the user chooses this, and types the text")
        guard let value else { return nil }
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        action = String(parts[0])
        text = parts.count > 1 ? String(parts[1]) : nil
    }

    /// Returns the text that the app would send.
    func sealed(by opened: OpenedNotification, at now: Timestamp) throws(CommandFailure) -> String {
        let sealed: String?
        do throws(SealError) { sealed = try opened.answer(action, text: text, at: now) } catch {
            throw CommandFailure(error)
        }
        guard let sealed else {
            throw .refused("the message was not sealed with --answerable, so nobody can answer it")
        }
        return sealed
    }
}
