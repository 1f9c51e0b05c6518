internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let keyCertify = Command(
        "certify", "certify a signing key, where the provider key is",
        about: [
            "Where the provider key is: certifies the signing key of a request that 'key rotate --request' wrote. Shows the app, the signing key, and what ends when; compare the key with what the server showed. Epoch, floor and grace follow from the certificates in the request. Uses no store."
        ],
        examples: [
            "pushcrypt key certify request.json --provider-key-file provider.key -o certificate.json"
        ]
    ) { a in
        let command = KeyCertifyCommand(&a)
        return { try command.run($0) }
    }
}

struct KeyCertifyCommand {
    private let file: String
    private let keyFile: String
    private let isAgreed: Bool
    private let output: OutputArguments

    init(_ arguments: inout Arguments) {
        keyFile = arguments.requiredValue(
            "--provider-key-file", "FILE", .secret, help: "the provider's secret key: a file, fd:N or -")
        isAgreed = arguments.consent()
        output = OutputArguments(&arguments)
        file = arguments.operand("REQUEST", .input, help: "what 'key rotate --request' wrote")
    }

    func run(_ console: Console) throws -> ExitCode {
        let place = file == "-" ? "standard input" : quoted(file)
        let bytes = try console.readRecord(file)
        let request = try naming(place) { try CertificateRequest(json: bytes) }
        let key = try console.readProviderKey(from: keyFile)
        let now = console.timestamp
        let plan = try naming(place) { try request.plan(at: now) }
        guard key.publicKey == request.provider else {
            throw Failure(
                TrustError(
                    .wrongCertificate,
                    "the request is for provider key \(request.provider.id), and this is \(key.id): give that key's file"
                ))
        }
        if let text = clockWarning(issuedAt: request.past.map(\.replacedAt).max(), at: now) { console.warning(text) }
        show(request, plan, console)
        if !isAgreed { try console.agree("certify this key?", otherwise: Arguments.consentHint) }
        let signed = try request.certify(by: key, at: now)
        try console.deliver(String(decoding: signed.json, as: UTF8.self) + "\n", to: output)
        return .done
    }

    private func show(_ request: CertificateRequest, _ plan: CertificatePlan, _ console: Console) {
        console.hint(
            "app \(request.topic), provider key \(request.provider.id), signing key \(request.signingKey.text)")
        let isFirst = request.current == nil && request.proven == nil
        let reason =
            isFirst
            ? "the first"
            : request.kind == .stolen ? "after a theft" : request.proven == nil ? "planned" : "of a stale store"
        console.hint(
            "epoch \(plan.epoch), \(reason): \(earlierKeys(floor: plan.floor, graceUntil: plan.graceUntil)); "
                + (plan.expiresAt.map { "expires at \($0)" } ?? "never expires"))
    }
}
