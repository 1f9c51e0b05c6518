internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// Why a message was not accepted, in words.
struct SendFailure {
    let code: SendCode
    let message: String
    let answer: PushAnswer?
    /// Whether the same line may succeed later.
    let mayRetry: Bool

    private init(_ code: SendCode, _ message: String, _ answer: PushAnswer? = nil, mayRetry: Bool) {
        self.code = code
        self.message = message
        self.answer = answer
        self.mayRetry = mayRetry
    }

    /// Nil for a message that was accepted.
    init?(_ outcome: Outcome) {
        switch outcome {
        case .accepted: return nil
        case .refused(let answer): self.init(refused: answer)
        case .expired(.unknown): self.init(.noAnswer, "its expiration came before an answer", mayRetry: false)
        case .expired(let setback):
            let answer: PushAnswer? = if case .answer(let answer) = setback { answer } else { nil }
            self.init(
                .tooLate, "its expiration has come" + (answer.map { ": \($0.speaker) said \($0.text)" } ?? ""), answer,
                mayRetry: false)
        case .gaveUp(let answer):
            self.init(
                .apnsBusy, "\(answer.speaker) said \(answer.text) until the time for retries ended", answer,
                mayRetry: true)
        case .stopped(let answer):
            self.init(.notSent, "the run ended after \(answer.speaker) said \(answer.text)", answer, mayRetry: true)
        case .held(let answer):
            let others = answer.concernsLogin ? "the login to its environment" : "every message of its topic"
            self.init(.onHold, "APNs refuses \(others): \(answer.advice)", mayRetry: true)
        case .unknown(let answer):
            let refusal = answer.map { "; \($0.speaker) refuses another copy with \($0.text): \($0.advice)" } ?? ""
            self.init(.noAnswer, "it was sent, and the answer did not come" + refusal, mayRetry: true)
        case .unrepeated:
            self.init(
                .noAnswer, "it was sent without encryption, and the answer did not come: a second copy may ring again",
                mayRetry: false)
        case .notSent: self.init(.notSent, "the run ended before it was sent", mayRetry: true)
        case .notTried: self.init(.notTried, "the time for retries ended before it could be sent", mayRetry: true)
        case .unreachable(let text): self.init(.unreachable, text, mayRetry: true)
        }
    }

    private init(refused answer: PushAnswer) {
        let code: SendCode =
            switch answer.status {
            case _ where answer.concernsLogin: .loginRefused
            case 403: .wrongAddress
            case 410: .unregistered
            case _ where answer.reason == "ExpiredToken": .unregistered
            default: answer.concernsSetup ? .wrongAddress : .requestRefused
            }
        self.init(code, answer.advice, answer, mayRetry: answer.concernsLogin || answer.scope == .strange)
    }
}

// MARK: JSON

extension SendLine {
    /// The line of the output.
    func answer(_ outcome: Outcome) -> ContiguousArray<UInt8> {
        guard let failure = SendFailure(outcome) else {
            return success { json in
                guard case .accepted(let answer) = outcome else { return }
                json.integer(answer.status, for: "status")
                if let id = answer.apnsID { json.string(id, for: "apns_id") }
                if let time = answer.grantExpires { json.integer(time, for: "grant_expires") }
            }
        }
        return error { json in
            json.object(for: "error") { json in
                json.string(failure.code.rawValue, for: "code")
                json.string(failure.message, for: "message")
            }
            json.integer(number, for: "line")
            if let answer = failure.answer {
                json.integer(answer.status, for: "status")
                if let reason = answer.reason { json.string(reason, for: "reason") }
                if let timestamp = answer.timestamp { json.integer(timestamp, for: "timestamp") }
            }
            json.bool(failure.mayRetry, for: "retry")
        }
    }

    /// The line of the output for a message that `--dry-run` would send.
    var dryAnswer: ContiguousArray<UInt8> { success { $0.bool(true, for: "dry_run") } }

    /// The line of the output for a line that cannot be sent.
    func answer(_ failure: Failure) -> ContiguousArray<UInt8> {
        error { json in
            failure.write(line: number, to: &json)
            json.bool(false, for: "retry")
        }
    }

    private func success(_ write: (inout JSONWriter) -> Void) -> ContiguousArray<UInt8> {
        jsonObject { json in
            writeFront(to: &json)
            write(&json)
            writeBack(to: &json)
        } + [newline]
    }

    private func error(_ write: (inout JSONWriter) -> Void) -> ContiguousArray<UInt8> {
        jsonObject { json in
            write(&json)
            writeFront(to: &json)
            writeHeaders(to: &json)
            writeBack(to: &json)
        } + [newline]
    }
}
