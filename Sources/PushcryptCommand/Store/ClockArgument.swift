internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `--clock-is-right`, of the commands that end or date a key, or date messages.
struct ClockArgument: Sendable {
    static let option = "--clock-is-right"

    private let isRight: Bool

    init(_ arguments: inout Arguments) {
        isRight = arguments.flag(
            Self.option, help: "you have checked the clock: proceed, however long ago the store last changed")
    }

    /// What is known about the clock.
    func assurance(_ console: Console) -> ClockAssurance {
        if isRight { return .confirmed }
        return console.isClockSynchronised() ? .synchronised : .unknown
    }
}
