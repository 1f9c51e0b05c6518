extension Sealer {
    /// Makes the request that carries a sealed payload.
    ///
    /// It always has a collapse id. Without `collapseName` that is of the message: a retry of a message that the caller has named
    /// replaces its first copy on the phone, and so does none of another message. With it, a push replaces the one before
    /// it that had the same name and device. It changes with the sender's key; the receiver's own rules then keep a
    /// retry from being shown twice. (`Docs/Format.md`, Collapse id)
    ///
    /// - Parameters:
    ///   - sealed: what this sealer has sealed.
    ///   - device: the name under which the provider keeps the device, 1 to 255 bytes, so that the collapse id
    ///     stays when the device's key changes; nil if it keeps nothing but the key.
    ///   - collapseName: which pushes to a device replace each other; it leaves as a keyed hash only.
    ///   - priority: nil for 5 with a background push and 10 with the others.
    ///   - expiration: seconds since 1970-01-01 UTC; nil for the moment at which receivers no longer take the message.
    /// - Throws: `invalidRequest`: an empty or too long name, or a header that Apple does not take with this push type.
    public func request(
        for sealed: SealedPayload, device: String? = nil, collapseName: String? = nil,
        priority: PushRequest.Priority? = nil, expiration: UInt64? = nil
    ) throws(SealError) -> PushRequest {
        let id = try collapseID(
            for: device.map { .named($0) } ?? .key(sealed.recipient),
            collapseName.map { .named($0) } ?? .message(sealed.messageID))
        return try PushRequest(
            topic: envelopes.topic, pushType: sealed.pushType, priority: priority,
            expiration: expiration ?? sealed.expiry.milliseconds / 1000, collapseID: id, payload: sealed.json)
    }

    /// Makes the request that carries a payload unsealed, to a device without a key.
    ///
    /// There is no collapse name: its hash would be the same for all such devices. Copies of one message replace each other.
    ///
    /// - Parameters:
    ///   - payload: the payload as it is sent, a minified JSON object that is not empty.
    ///   - options: the push type, the message's name and its time to live.
    ///   - now: the present time; the push expires after the time to live.
    /// - Throws: `invalidRequest`: an empty name, or a header that Apple does not accept with this push type.
    package func request(
        unsealed payload: ContiguousArray<UInt8>, _ options: Options, priority: PushRequest.Priority? = nil,
        at now: Timestamp
    ) throws(SealError) -> PushRequest {
        let message = try options.messageID() ?? MessageID(prefixOf: Sodium.randomBytes(MessageID.length))
        return try PushRequest(
            topic: envelopes.topic, pushType: options.pushType, priority: priority,
            expiration: now.adding(seconds: UInt64(options.timeToLive)).milliseconds / 1000,
            collapseID: collapseID(withoutKey: message), payload: payload)
    }

    /// The collapse id of a push; throws `invalidRequest` for an empty name, or one of a device above 255 bytes.
    package func collapseID(
        for device: CollapseID.Device, _ subject: CollapseID.Subject
    ) throws(SealError) -> String {
        try envelopes.signer.collapseID(for: device, subject, topic: envelopes.topic)
    }

    /// The collapse id of a push to a device without a key, which is known by nothing here: copies of one message replace
    /// each other, and no other pushes do.
    package func collapseID(withoutKey message: MessageID) -> String {
        envelopes.signer.collapseID(withoutKey: message, topic: envelopes.topic)
    }
}
