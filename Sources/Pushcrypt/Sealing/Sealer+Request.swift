extension Sealer {
    /// Creates the request for a sealed payload.
    ///
    /// The request always has a collapse id. Without `collapseName`, it is that of the message: a retry of a message
    /// with a name replaces its first copy on the phone, and other messages are not affected. With it, a push replaces
    /// the previous one with the same name and device, also after their keys have changed. (`Docs/FormatNotes.md`, Collapse id)
    ///
    /// - Parameters:
    ///   - sealed: A payload that this sealer has sealed.
    ///   - device: The provider's name for the device, 1 to 255 bytes, so that the collapse id stays the same when the
    ///     device's key changes; nil if the provider has only the key.
    ///   - collapseName: The name of a group of pushes that replace each other on a device; only a hash of it is sent.
    ///   - priority: The priority; nil for 5 for background pushes and 10 for others.
    ///   - expiration: Seconds since 1970-01-01 UTC; nil for the time until which receivers accept the message, a
    ///     multiple of 10 minutes unless it is a VoIP push, or 0 for a message that is shown now or never.
    /// - Throws: `invalidRequest` for an empty or too long name, or for a priority that APNs refuses for this push
    ///   type.
    public func request(
        for sealed: SealedPayload, device: String? = nil, collapseName: String? = nil,
        priority: PushRequest.Priority? = nil, expiration: UInt64? = nil
    ) throws(SealError) -> PushRequest {
        let id = try collapseID(
            for: device.map { .named($0) } ?? .key(sealed.recipient),
            collapseName.map { .named($0) } ?? .message(sealed.messageID))
        return try PushRequest(
            topic: envelopes.topic, pushType: sealed.pushType, priority: priority,
            expiration: expiration ?? sealed.expiration, collapseID: id, payload: sealed.json)
    }

    /// Creates the request for an unsealed payload, for a device without a key.
    ///
    /// It has no collapse name, whose hash would be the same for all such devices. Copies of one message replace each other.
    ///
    /// - Parameters:
    ///   - payload: The payload as it is sent, a minified and non-empty JSON object.
    ///   - options: The push type, the message's name and the time to live.
    ///   - priority: The priority; nil for 5 for background pushes and 10 for others.
    ///   - now: The present time; the push expires after the time to live, rounded as in a sealed one.
    /// - Throws: `invalidRequest` for an empty name, or for a priority that APNs refuses for this push type.
    package func request(
        unsealed payload: ContiguousArray<UInt8>, _ options: Options, priority: PushRequest.Priority? = nil,
        at now: Timestamp
    ) throws(SealError) -> PushRequest {
        let message = try options.messageID() ?? MessageID(prefixOf: Sodium.randomBytes(MessageID.length).span)
        return try PushRequest(
            topic: envelopes.topic, pushType: options.pushType, priority: priority,
            expiration: options.expiration(until: now.adding(options.sealedTimeToLive(at: now))),
            collapseID: collapseID(withoutKey: message), payload: payload)
    }

    /// Returns the collapse id of a push; throws `invalidRequest` for an empty name, or a device name of more than 255
    /// bytes.
    package func collapseID(
        for device: CollapseID.Device, _ subject: CollapseID.Subject
    ) throws(SealError) -> String {
        try CollapseID.text(of: envelopes.signer.providerKey, envelopes.topic, device, subject)
    }

    /// Returns the collapse id of a push to a device without a key: copies of one message replace each other, and no
    /// other pushes do.
    package func collapseID(withoutKey message: MessageID) -> String {
        CollapseID.text(of: envelopes.signer.providerKey, envelopes.topic, withoutKey: message)
    }
}
