extension Sealer {
    /// The arguments of `seal` for one message.
    package struct Message: Sendable {
        package var payload: ContiguousArray<UInt8>
        package var attachments: [AttachmentReference] = []
        package var fullBody: FullBody?
        package var from: CommunicationSender?
        package var recipient: DevicePublicKey
        package var now: Timestamp
        package var options: Options

        package init(
            _ payload: some Sequence<UInt8>, to recipient: DevicePublicKey, at now: Timestamp,
            options: Options = Options()
        ) {
            self.payload = ContiguousArray(payload)
            self.recipient = recipient
            self.now = now
            self.options = options
        }
    }

    package func seal(_ message: Message) throws(SealError) -> SealedPayload {
        try seal(
            bytes: message.payload, attachments: message.attachments, fullBody: message.fullBody, from: message.from,
            to: message.recipient, at: message.now, options: message.options)
    }
}
