// The way back for answers: a phone that cannot reach its server leaves them with the relay. (`Docs/Relay.md`)

extension RelayRequest {
    /// Where answers come from.
    package static let answersPath = "/v1/answers/take"
    /// The most seconds for which a relay waits for a first answer.
    package static let longestWait = 25
    /// The most answers that a request acknowledges.
    package static let mostDone = 200

    /// Signs a request for the answers that phones left for a push key.
    ///
    /// - Parameters:
    ///   - seconds: For how long the relay waits if there are none, 0 to 25.
    ///   - done: Up to 200 texts that were taken: the relay forgets them.
    ///   - origin: The relay's, from the caller's own configuration.
    ///   - key: The push key.
    ///   - now: The relay's present time, as far as the caller knows it.
    package init(
        waiting seconds: Int, done: [String], to origin: RelayOrigin, signedBy key: PushKey, at now: Timestamp
    ) {
        precondition((0...Self.longestWait).contains(seconds), "a relay waits for 0 to 25 seconds")
        precondition(done.count <= Self.mostDone, "a request acknowledges up to 200 answers")
        var json = JSONWriter()
        json.object { json in
            json.integer(UInt64(seconds), for: "wait")
            json.array(for: "done") { json in for text in done { json.string(Self.name(ofAnswer: text)) } }
        }
        self.init(body: json.bytes, for: Self.answersPath, to: origin, signedBy: key, at: now)
    }

    /// How an acknowledgement names a text: 22 characters.
    private static func name(ofAnswer text: String) -> String {
        let digest = ContiguousArray(SHA256.digest(ContiguousArray(text.utf8).span).prefix(16))
        return Base64URL.string(digest.span)
    }
}
