extension Sealer {
    /// Creates the request for a sealed payload.
    ///
    /// The request always has a collapse id. Without `collapseName`, it is that of the message: a retry of a message
    /// with a name replaces its first copy on the phone, and other messages are not affected. With it, a push replaces
    /// the previous one with the same name and device, also after their keys have changed. (`Docs/Format.md`, Collapse id)
    ///
    /// - Parameters:
    ///   - sealed: A payload that this sealer has sealed.
    ///   - device: The provider's name for the device, 1 to 255 bytes, so that the collapse id stays the same when the
    ///     device's key changes; nil if the provider has only the key.
    ///   - collapseName: The name of a group of pushes that replace each other on a device; only a hash of it is sent.
    ///   - priority: The priority; nil for 5 for background pushes and 10 for others.
    /// - Throws: `invalidRequest` for an empty or too long name, or for a priority that APNs refuses for this push
    ///   type.
    public func request(
        for sealed: SealedPayload, device: String? = nil, collapseName: String? = nil,
        priority: PushRequest.Priority? = nil
    ) throws(SealError) -> PushRequest {
        let id = try collapseID(
            for: device.map { .named($0) } ?? .key(sealed.recipient),
            collapseName.map { .named($0) } ?? .message(sealed.messageID))
        return try PushRequest(
            topic: topic, pushType: sealed.pushType, priority: priority, expiration: sealed.expiration, collapseID: id,
            payload: sealed.json)
    }

    /// Creates the request for a message that is not sealed, for a device without a key.
    ///
    /// It has no collapse name, whose hash would be the same for all such devices. Copies of one message replace each other.
    /// The push expires after the time to live, rounded as in a sealed one.
    ///
    /// - Throws: `malformedPayload`, `reservedKey` or `pushTooLarge`, and `invalidRequest` for an empty name, a message that only
    ///   a receiver understands, or a priority that APNs refuses for this push type.
    package func request(
        unsealed message: Message, priority: PushRequest.Priority? = nil, at now: Timestamp
    ) throws(SealError) -> PushRequest {
        let id = try message.id() ?? MessageID(prefixOf: Sodium.randomBytes(MessageID.length).span)
        return try PushRequest(
            topic: topic, pushType: message.pushType, priority: priority,
            expiration: message.expiration(until: now.adding(message.sealedTimeToLive(at: now))),
            collapseID: CollapseID.text(of: signer.providerKey, topic, withoutKey: id), payload: message.unsealed())
    }

    /// Returns the collapse id of a push; throws `invalidRequest` for an empty name, or a device name of more than 255
    /// bytes.
    package func collapseID(
        for device: CollapseID.Device, _ subject: CollapseID.Subject
    ) throws(SealError) -> String {
        try CollapseID.text(of: signer.providerKey, topic, device, subject)
    }
}
