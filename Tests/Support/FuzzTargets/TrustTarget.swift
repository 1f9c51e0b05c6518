@testable import Pushcrypt

/// Certificates: a phone takes one exactly when the format says so, keeps the highest of each in any order, and a refused one
/// changes nothing.
///
/// Input: the pins and what is known of them, then up to three certificates, field by field and signed by the harness, or one as
/// raw bytes; then a message's epoch and times.
struct TrustTarget: FuzzTarget {
    static let name = "trust"

    private let scene = TrustScene()

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let start = choices.byte()
        let before = trust(start)
        var (trust, model) = (before, TrustModel(before))
        if start & 0x80 != 0 {
            take(choices.rest(), TrustModel.Facts(pin: nil), into: &trust, &model)
            return
        }
        var taken: [Certificate] = []
        for _ in 0..<3 where !choices.isEmpty {
            let (bytes, pin) = certificate(&choices, pins: trust.pinned)
            if let one = take(bytes, TrustModel.Facts(pin: pin), into: &trust, &model) { taken.append(one) }
        }
        var other = before
        for certificate in taken.reversed() { _ = try? other.accept(certificate, for: KnownKeys.topic) }
        require(other == trust, "trust: the order of certificates makes no difference")
        checkMerging(before, trust)
        checkEpochs(&choices, trust, model, taken.last)
    }

    /// One pin or two, of which the first knows nothing, or several epochs.
    private func trust(_ choice: UInt8) -> ProviderTrust {
        let keys = scene.providers.map(\.publicKey)
        let pins = choice & 1 == 0 ? [keys[0]] : [keys[0], keys[1]]
        guard choice & 2 != 0 else { return ProviderTrust(pinned: pins) }
        return ProviderTrust(
            pins.map { key in
                key == keys[0] ? ProviderTrust.Pin(key, scene.learned) : ProviderTrust.Pin(key)
            })
    }

    // MARK: Certificates

    /// A certificate, and the pin that it is good for.
    private func certificate(_ choices: inout Choices, pins: [ProviderPublicKey]) -> (Bytes, Int?) {
        let flags = choices.byte()
        let provider = scene.providers[choices.number(below: scene.providers.count)]
        let signing = scene.signing[choices.number(below: scene.signing.count)]
        var fields = CertificateFields(signingKey: signing.publicKey.bytes)
        fields.epoch = flags & 1 == 0 ? 100 * UInt32(choices.byte() & 7) : choices.integer()
        fields.floor = flags & 2 == 0 ? 50 * UInt32(choices.byte() & 15) : choices.integer()
        if flags & 4 != 0 { fields.graceUntil = choices.integer() }
        fields.graceUntil = fields.floor == fields.epoch && flags & 4 == 0 ? 0 : fields.graceUntil
        if flags & 8 != 0 { fields.expiresAt = choices.integer() }
        if flags & 16 != 0 { fields.signingKey = choices.bytes(32) }
        if flags & 32 != 0 { fields.signingKey = provider.publicKey.bytes }
        if flags & 64 != 0 { fields.version = choices.byte() }
        let isForAnotherApp = flags & 128 != 0 && choices.byte() & 1 == 1
        var bytes = fields.signed(by: provider, for: isForAnotherApp ? KnownKeys.otherTopic : KnownKeys.topic)
        let signed = bytes
        if flags & 128 != 0 { bytes.edit(&choices) }
        let isGood = bytes == signed && !isForAnotherApp
        return (bytes, isGood ? pins.firstIndex(of: provider.publicKey) : nil)
    }

    @discardableResult
    private func take(
        _ bytes: Bytes, _ facts: TrustModel.Facts, into trust: inout ProviderTrust, _ model: inout TrustModel
    ) -> Certificate? {
        let before = trust
        let expected = model.take(bytes, facts, pins: trust.pinned.map(\.bytes))
        let outcome: TrustModel.Outcome
        var taken: Certificate?
        do throws(TrustError) {
            let certificate = try Certificate(bytes: bytes.span)
            require(certificate.bytes == bytes, "trust: a certificate is written as it was read")
            let text = certificate.description
            require((try? Certificate(text: text)) == certificate, "trust: a certificate's text is read again")
            switch try trust.accept(certificate, for: KnownKeys.topic) {
            case .raised: outcome = .raised
            case .unchanged: outcome = .unchanged
            case .conflict: outcome = .conflict
            }
            taken = certificate
        } catch {
            outcome = .refused(error.code)
            require(trust == before, "trust: a refused certificate changes nothing")
        }
        require(outcome == expected, "trust: \(expected), not \(outcome)")
        require(model == TrustModel(trust), "trust: what is known is that of the format")
        for (old, new) in zip(before.pins, trust.pins) {
            let isKept = old.learned.certificate.map { $0 <= new.learned.certificate ?? $0 } ?? true
            require(isKept && old.learned.floor <= new.learned.floor, "trust: nothing ever goes down")
        }
        return taken
    }

    // MARK: Epochs

    private func checkMerging(_ before: ProviderTrust, _ after: ProviderTrust) {
        for (old, new) in zip(before.pins, after.pins) {
            var (there, back) = (old.learned, new.learned)
            there.merge(new.learned)
            back.merge(old.learned)
            require(there == new.learned && back == new.learned, "trust: merging takes the maximum")
        }
    }

    private func checkEpochs(
        _ choices: inout Choices, _ trust: ProviderTrust, _ model: TrustModel, _ certificate: Certificate?
    ) {
        for (pin, known) in zip(trust.pins, model.known) {
            let (sentAt, now): (UInt64, UInt64) = (choices.integer(), choices.integer())
            for (epoch, under) in [(0, nil), (certificate?.epoch ?? 0, certificate)] {
                let opens = pin.learned.admits(
                    epoch: epoch, under: under, sentAt: Timestamp(milliseconds: sentAt),
                    at: Timestamp(milliseconds: now))
                // A message's certificate was learned before.
                guard epoch <= pin.learned.certificate?.epoch ?? 0 else { continue }
                let expected = known.admits(epoch: UInt64(epoch), under: under?.bytes, sentAt: sentAt, now: now)
                require(opens == expected, "trust: epoch \(epoch) opens: \(expected)")
            }
        }
    }
}

/// A certificate before it is signed.
struct CertificateFields {
    var version: UInt8 = 1
    var epoch: UInt32 = 1
    var floor: UInt32 = 0
    var graceUntil: UInt64 = KnownKeys.now.milliseconds
    var expiresAt: UInt64 = .max
    var signingKey: Bytes

    init(signingKey: Bytes) { self.signingKey = signingKey }

    func signed(by provider: ProviderKey, for topic: Topic = KnownKeys.topic) -> Bytes {
        var claim: Bytes = [version]
        claim.append(bigEndian: epoch)
        claim.append(bigEndian: floor)
        claim.append(bigEndian: graceUntil)
        claim.append(bigEndian: expiresAt)
        claim.append(contentsOf: signingKey)
        let name = Bytes(topic.bundleID.utf8)
        let label = Bytes("pushcrypt/1 certificate\0".utf8)
        let message = label + provider.publicKey.bytes + [0, UInt8(name.count)] + name + claim
        return claim + provider.signature(of: message.span)
    }
}
