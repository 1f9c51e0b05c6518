/// The id by which a push replaces an earlier one on a phone: a keyed hash, so that the relay learns no names.
/// (`Docs/FormatNotes.md`, Collapse id)
package enum CollapseID {
    /// The number of bytes of the hash: 32 characters, of the 64 that APNs allows.
    static let length = 24

    /// The maximum length of a device name in bytes.
    static let maximumDeviceLength = 255

    /// The device that a push is for.
    package enum Device {
        /// The name that the provider has for it, 1 to 255 bytes, which stays the same when its key changes.
        case named(String)
        /// Its key, for a provider that has no name for it.
        case key(DevicePublicKey)
    }

    /// The group of pushes to a device that replace each other.
    package enum Subject {
        /// The pushes with this name, which is not empty.
        case named(String)
        /// The copies of one message.
        case message(MessageID)
    }
}

extension EnvelopeSigner {
    /// Returns the collapse id of a push; throws `invalidRequest` for an empty name, or a device name of more than 255
    /// bytes.
    func collapseID(
        for device: CollapseID.Device, _ subject: CollapseID.Subject, topic: Topic
    ) throws(SealError) -> String {
        var message = topic.lengthPrefixed
        switch device {
        case .named(let name):
            let name = ContiguousArray(name.utf8)
            guard (1...CollapseID.maximumDeviceLength).contains(name.count) else {
                throw SealError(
                    .invalidRequest, "the name of a device must have 1 to \(CollapseID.maximumDeviceLength) bytes")
            }
            message.append(0x01)
            message.append(bigEndian: UInt16(name.count))
            message.append(contentsOf: name)
        case .key(let key):
            message.append(key.suite == .x25519 ? 0x02 : 0x04)
            message.append(contentsOf: key.transcript)
        }
        switch subject {
        case .named(let name):
            // With an empty name, every push to a device would replace the one before it.
            guard !name.isEmpty else {
                throw SealError(
                    .invalidRequest, "the collapse name is empty; leave it out to collapse only copies of one message")
            }
            message.append(0x01)
            message.append(contentsOf: name.utf8)
        case .message(let id):
            message.append(0x02)
            message.append(contentsOf: id.bytes)
        }
        return collapseID(hashing: message)
    }

    /// Returns the collapse id of a push to a device without a key: copies of one message replace each other, and no
    /// other pushes do.
    func collapseID(withoutKey message: MessageID, topic: Topic) -> String {
        collapseID(hashing: topic.lengthPrefixed + [0x03] + message.bytes)
    }

    private func collapseID(hashing message: ContiguousArray<UInt8>) -> String {
        let hmac = hedged()
        hmac.update("pushcrypt/1 collapse\0")
        hmac.update(message.span)
        let hash = ContiguousArray(hmac.finishPublic().prefix(CollapseID.length))
        return Base64URL.string(hash.span)
    }
}
