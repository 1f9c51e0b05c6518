@testable import Pushcrypt

/// The format's rules for an inner plaintext (`Docs/Format.md`, Opening, steps 5 to 7), read apart from the product, over the
/// harness's knowledge of who has signed it and its certificate.
struct InnerModel {
    /// A genuine signature.
    struct Signature {
        let signing: Bytes
        let provider: ProviderPublicKey
        let epoch: UInt32
    }

    /// Why it is refused; nil when it opens.
    let code: OpenError.Code?
    /// The pin that it is from.
    let provider: ProviderPublicKey?

    private let inner: Bytes
    private let block: Int

    /// - Parameter signature: nil if nobody has signed this inner plaintext rightly.
    init(inner: Bytes, signature: Signature?, scene: TrustScene, expected: PushClass, now: Timestamp) {
        self.inner = inner
        let (kind, epoch) = (inner[68], number(inner[0..<4]))
        let body = inner.dropFirst(99).prefix(Int(number(inner[97..<99])))
        let block = kind & 0x80 == 0 ? 0 : 121
        self.block = block
        let certificate = scene.entry(Bytes(body.prefix(block)))
        let sentAt = number(inner[85..<93])
        var from: ProviderPublicKey?
        let isLaidOut =
            body.count == Int(number(inner[97..<99])) && body.count >= block && kind & 0x70 == 0
            && (epoch == 0) == (block == 0) && !inner.dropFirst(99 + body.count).contains { $0 != 0 }
        if isLaidOut, let signature, UInt64(signature.epoch) == epoch {
            from =
                scene.trust.pins.first { pin in
                    var known = TrustModel.Known(pin.learned)
                    let signer = certificate?.signing.publicKey.bytes ?? pin.key.bytes
                    if block > 0 {
                        guard let certificate, certificate.provider == pin.key,
                            UInt64(certificate.certificate.epoch) == epoch
                        else { return false }
                        known.learn(certificate.certificate.bytes)
                    }
                    return signature.provider == pin.key && signature.signing == signer
                        && known.admits(
                            epoch: epoch, under: certificate?.certificate.bytes, sentAt: sentAt, now: now.milliseconds)
                }?.key
        }

        provider = from
        let seconds = number(inner[93..<97])
        let (end, isEndless) = sentAt.addingReportingOverflow(seconds * 1000)
        code =
            if from == nil {
                .authenticationFailed
            } else if !(1...3).contains(kind & 15) {
                .unsupportedMessage
            } else if kind & 15 != expected.rawValue {
                .wrongPushClass
            } else if !(1...2_592_000).contains(seconds) || sentAt >= 1 << 53 {
                .unsupportedMessage
            } else if now.milliseconds > end, !isEndless {
                .expired
            } else if sentAt > now.milliseconds + 86_400_000 {
                .notYetValid
            } else if !Self.isPayload(Bytes(body.dropFirst(block))) {
                .malformedPayload
            } else {
                nil
            }
    }

    /// The bytes of which an opened notification tells; what it does not tell of, signature, kind and certificate, is taken over.
    func written(_ opened: OpenedNotification) -> Bytes {
        var bytes = Bytes()
        bytes.append(bigEndian: opened.epoch)
        bytes.append(contentsOf: inner[4..<69])
        bytes.append(contentsOf: opened.messageID.bytes)
        bytes.append(bigEndian: opened.sentAt.milliseconds)
        bytes.append(bigEndian: UInt32((opened.expiresAt.milliseconds - opened.sentAt.milliseconds) / 1000))
        bytes.append(bigEndian: UInt16(block + opened.payload.count))
        bytes.append(contentsOf: inner[99..<99 + block])
        bytes.append(contentsOf: opened.payload)
        bytes.append(contentsOf: repeatElement(0, count: inner.count - bytes.count))
        return bytes
    }

    private static func isPayload(_ bytes: Bytes) -> Bool {
        guard let root = (try? JSONDocument(parsing: bytes))?.root else { return false }
        return root["aps"]?.kind == .object
    }
}
