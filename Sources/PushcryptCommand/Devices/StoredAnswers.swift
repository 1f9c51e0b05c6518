internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// Opens answers with a store.
package struct StoredAnswers: Sendable {
    private let store: SQLiteKeyStore
    private let topic: Topic?
    private let limit: Interval
    private let console: Console

    /// Refuses a store without a provider key, which can open no answer.
    init(_ store: SQLiteKeyStore, _ topic: Topic?, _ limit: Interval, _ console: Console) throws {
        try ProviderKeys(of: store).refuseNone()
        (self.store, self.topic, self.limit, self.console) = (store, topic, limit, console)
    }

    func open(_ text: String) throws -> DeviceAnswer {
        try store.openAnswer(text, topic: topic, within: limit, at: console.timestamp)
    }

    /// Opens an answer and writes it to standard output, for people or as JSON.
    package func show(_ text: String, asJSON: Bool) throws {
        try console.write(try open(text).shown(asTable: console.showsOutput && !asJSON, console))
    }
}

extension DeviceAnswer {
    /// Rows for people, or a line for programs.
    func shown(asTable: Bool, _ console: Console) -> String {
        asTable ? rows(console) : console.shown(json: json) + "\n"
    }
}

extension Arguments {
    /// Reads how long an answer counts.
    mutating func answerLimit() -> Interval {
        let life = Int(AnswerKey.life.seconds)
        let seconds = self.seconds(
            "--within", "TIME", 1...life,
            help: "how long after it was sealed a message may be answered; default, and at most, 31d")
        return .seconds(UInt64(clamping: seconds ?? life))
    }
}
