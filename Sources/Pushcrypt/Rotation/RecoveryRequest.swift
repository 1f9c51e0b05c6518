/// A recovery that the recovery key has not signed yet, made by the provider and carried to the machine with the
/// recovery key.
///
/// It holds no secret. The new key has signed it. (`Docs/FormatRotation.md`, Recovery statement)
package struct RecoveryRequest: Hashable, Sendable {
    /// The key that is to sign.
    package let recoveryKey: RecoveryPublicKey
    /// The app whose devices the statement is for.
    package let topic: Topic
    /// The key that is to be pinned.
    package let newKey: ProviderPublicKey
    /// The first 53 bytes of the statement.
    private let claim: ContiguousArray<UInt8>
    private let signatureByNew: ContiguousArray<UInt8>

    /// The number of the recovery, above the previous one.
    package var serial: UInt32 { claim.span.bigEndian(at: 49) }
    /// The time of the request, for people.
    package var issuedAt: Timestamp { Timestamp(milliseconds: claim.span.bigEndian(at: 37)) }

    /// Prepares the recovery of a sender.
    ///
    /// - Parameters:
    ///   - recoveryKey: The key that is to sign: one that the app's devices have pinned.
    ///   - topic: The app.
    ///   - new: The sender's new key.
    ///   - serial: A number above that of every earlier recovery by this key for this app; not 0.
    ///   - now: The present time.
    /// - Throws: `malformedStatement` for serial 0; `supersededKey` if both keys are the same.
    package init(
        by recoveryKey: RecoveryPublicKey, for topic: Topic, to new: ProviderKey, serial: UInt32, at now: Timestamp
    ) throws(RotationError) {
        guard serial > 0 else {
            throw RotationError(1, .malformedStatement, "the serial of a recovery is at least 1")
        }
        guard new.publicKey.bytes != recoveryKey.bytes else {
            throw RotationError(20, .supersededKey, "the new key is the recovery key: each needs its own")
        }
        let claim = RotationStatement.claim(
            version: RotationStatement.recoveryVersion, signedBy: recoveryKey.id, new.publicKey, at: now, .max, serial)
        let message = RotationStatement.message(.new, by: recoveryKey, topic, claim.span)
        signatureByNew = new.signature(of: message.span)
        self.recoveryKey = recoveryKey
        self.topic = topic
        newKey = new.publicKey
        self.claim = claim
    }

    /// Signs the statement; this is the recovery key's only use.
    ///
    /// The caller first shows the app, the serial and the new key to a person.
    ///
    /// - Throws: `unknownRecoveryKey` if the request is for another recovery key.
    package func signed(by key: RecoveryKey) throws(RotationError) -> SignedRecovery {
        guard key.publicKey == recoveryKey else {
            throw RotationError(
                15, .unknownRecoveryKey,
                "the request is for recovery key \(recoveryKey.id), this is \(key.publicKey.id): use the other one")
        }
        let message = RotationStatement.message(.recovery, by: recoveryKey, topic, claim.span)
        let statement = RotationStatement(claim: claim, key.signature(of: message.span), signatureByNew)
        return SignedRecovery(request: self, statement: statement)
    }

    // MARK: As a file

    /// Parses a request as written by `json`.
    ///
    /// - Throws: `malformedStatement`; `badSignature` if the new key did not sign it; `weakKey`.
    package init(json: ContiguousArray<UInt8>) throws(RotationError) {
        self = try SignedRecovery.parts(of: json).request
    }

    /// The request as a JSON object: `{"version":1,"recovery":"pcv1…","topic":"…","request":"…"}`.
    ///
    /// `request` is the statement without the signature of the recovery key, 117 bytes in base64url.
    package var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in write(to: &json) }
        return json.bytes
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.integer(SignedRecovery.version, for: "version")
        json.string(recoveryKey.description, for: "recovery")
        json.string(topic.bundleID, for: "topic")
        let bytes = claim + signatureByNew
        json.string(Base64URL.string(bytes.span), for: "request")
    }

    fileprivate init(
        recoveryKey: RecoveryPublicKey, topic: Topic, bytes: ContiguousArray<UInt8>
    ) throws(RotationError) {
        let claim = ContiguousArray(bytes.prefix(RotationStatement.claimLength))
        let signature = ContiguousArray(bytes.dropFirst(RotationStatement.claimLength))
        let unsigned = ContiguousArray<UInt8>(repeating: 0, count: Ed25519.signatureLength)
        let whole = claim + unsigned + signature
        let statement = try RotationStatement(bytes: whole.span)
        guard statement.isRecovery, statement.keyID == recoveryKey.id else {
            throw RotationError(1, .malformedStatement, "the request's key id does not match its recovery key")
        }
        newKey = try statement.newKey(afterRecoveryBy: recoveryKey, for: topic)
        self.recoveryKey = recoveryKey
        self.topic = topic
        self.claim = claim
        signatureByNew = signature
    }
}

/// A recovery that both keys have signed, carried back to the provider.
package struct SignedRecovery: Hashable, Sendable {
    fileprivate static let version = 1

    /// What was requested.
    package let request: RecoveryRequest
    /// The statement, for every device of the app.
    package let statement: RotationStatement

    fileprivate init(request: RecoveryRequest, statement: RotationStatement) {
        self.request = request
        self.statement = statement
    }

    /// Parses a signed recovery as written by `json`, and checks both signatures.
    ///
    /// - Throws: `malformedStatement`, `badSignature`, `weakKey`.
    package init(json: ContiguousArray<UInt8>) throws(RotationError) {
        let (request, statement) = try Self.parts(of: json)
        guard let statement else {
            throw RotationError(
                1, .malformedStatement, "this is a request that the recovery key has not signed yet: sign it first")
        }
        guard let parsed = try? RotationStatement(bytes: statement.span),
            parsed.isSigned(
                byRecovery: request.recoveryKey, for: request.topic)
        else { throw RotationError(16, .badSignature, "the recovery key did not sign the statement") }
        self.request = request
        self.statement = parsed
        guard parsed.claim == request.statementClaim,
            (try? parsed.newKey(afterRecoveryBy: request.recoveryKey, for: request.topic)) != nil
        else { throw RotationError(18, .badSignature, "the statement does not match its request") }
    }

    /// The signed recovery as a JSON object: the members of the request, and `statement`, 181 bytes in base64url.
    package var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            request.write(to: &json)
            json.string(Base64URL.string(statement.bytes.span), for: "statement")
        }
        return json.bytes
    }

    fileprivate static func parts(
        of json: ContiguousArray<UInt8>
    ) throws(RotationError) -> (request: RecoveryRequest, statement: ContiguousArray<UInt8>?) {
        guard let root = try? JSONDocument(parsing: json).root, root["version"]?.integer == Int64(version),
            let key = root["recovery"]?.string.flatMap(RecoveryPublicKey.init),
            let topic = root["topic"]?.string.flatMap({ try? Topic($0) }),
            let bytes = root["request"]?.string.flatMap(bytes(of:)),
            bytes.count == RotationStatement.length - Ed25519.signatureLength
        else {
            throw RotationError(
                1, .malformedStatement, "not a valid recovery request: copy the whole file")
        }
        let request = try RecoveryRequest(recoveryKey: key, topic: topic, bytes: bytes)
        guard let statement = root["statement"] else { return (request, nil) }
        guard let bytes = statement.string.flatMap(bytes(of:)) else {
            throw RotationError(1, .malformedStatement, "the signed statement cannot be read: copy the whole file")
        }
        return (request, bytes)
    }

    private static func bytes(of text: String) -> ContiguousArray<UInt8>? {
        let characters = ContiguousArray(text.utf8)
        return Base64URL.decode(characters.span)
    }
}

extension RecoveryRequest {
    fileprivate var statementClaim: ContiguousArray<UInt8> { claim }
}
