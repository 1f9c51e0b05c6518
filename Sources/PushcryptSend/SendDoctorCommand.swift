internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// `doctor --send`: goes the way to APNs, with a device token that cannot exist.
extension DoctorArguments {
    /// The differences of clocks, in seconds, that are not worth a word, and that are not a problem.
    private static let smallDifference = 10
    private static let largeDifference = 300
    /// The days before a certificate ends in which it should be replaced.
    private static let lastDays = 30

    func checkSending(_ console: Console) throws {
        var findings: [Finding] = []
        var authorization: String?
        var certificate: ClientCertificate?
        do {
            if let token = try login.providerToken(console) {
                authorization = "bearer " + (try token.token(issuedAt: console.now() / 1000))
                findings.append(
                    Finding(.note, "the key \(token.keyID) of team \(token.team) is one on P-256, and signs"))
            } else if let own = try login.certificate(console) {
                let hasExpired = own.hasExpired(at: console.now() / 1000)
                certificate = hasExpired ? nil : own
                findings.append(
                    hasExpired
                        ? Finding(.error, "the certificate has expired", fix: "create a new one")
                        : own.daysLeft < Self.lastDays
                            ? Finding(.warning, "the certificate ends in \(own.daysLeft) days", fix: "create a new one")
                            : Finding(.note, "the certificate is valid for \(own.daysLeft) more days, and has its key"))
            } else {
                findings.append(Finding(.error, SendLogin.missing.line))
            }
        } catch {
            let error = Failure(error)
            findings.append(Finding(.error, error.line))
        }
        let hasLogin = authorization != nil || certificate != nil
        do {
            let destination = try login.destination(login.environment ?? .production, certificate)
            let result = try Probe(destination: destination).send(
                .harmless(topic: topic), authorization: authorization)
            findings += self.findings(result, destination.authority, hasLogin: hasLogin, console.now())
        } catch {
            let error = Failure(error)
            findings.append(Finding(.error, error.line))
        }
        try console.report(findings, isJSON: isJSON)
    }

    private func findings(
        _ result: Probe.Result, _ host: String, hasLogin: Bool, _ now: UInt64
    ) -> [Finding] {
        let made = Finding(.note, "\(host) is verified, and speaks HTTP/2")
        switch result {
        case .noConnection(let text): return [Finding(.error, "no connection to \(host): \(text)")]
        case .noAnswer(let text): return [made, Finding(.error, "\(host) gives no answer: \(text)")]
        case .answer(let response):
            let answer = PushAnswer(response)
            return [made, clock(answer.time.map { Int($0 / 1000) }, host, now)] + (hasLogin ? verdict(answer) : [])
        }
    }

    private func clock(_ time: Int?, _ host: String, _ now: UInt64) -> Finding {
        guard let time else { return Finding(.note, "\(host) does not say its time: the clock is not compared") }
        let difference = Int(now / 1000) - time
        let text = "the clock is \(abs(difference)) s \(difference < 0 ? "behind" : "ahead of") that of \(host)"
        let fix = "set it, or APNs refuses provider tokens"
        return switch abs(difference) {
        case ...Self.smallDifference: Finding(.note, "the clock agrees with that of \(host)")
        case ...Self.largeDifference: Finding(.warning, text, fix: fix)
        default: Finding(.error, text, fix: fix)
        }
    }

    private func verdict(_ answer: PushAnswer) -> [Finding] {
        let accepted = Finding(.note, "APNs accepts the login")
        return switch (answer.status, answer.reason) {
        case (400, "BadDeviceToken"):
            [accepted]
                + (topic == nil
                    ? [Finding(.warning, "no topic was checked: add --topic")]
                    : [Finding(.note, "APNs accepts the topic, and knows no device of zeros")])
        case (400, "MissingTopic") where topic == nil:
            [accepted, Finding(.warning, "no topic was checked: add --topic")]
        case (403, _): [Finding(.error, "APNs refuses the login with \(answer.text): \(answer.advice)")]
        case (400, "TopicDisallowed"), (400, "BadTopic"):
            [accepted, Finding(.error, "APNs refuses the topic with \(answer.text): \(answer.advice)")]
        default: [Finding(.warning, "APNs says \(answer.text), which shows nothing about the login: try again")]
        }
    }
}

extension Failure {
    /// The message with what to do.
    fileprivate var line: String { ([message] + hints).joined(separator: "; ") }
}
