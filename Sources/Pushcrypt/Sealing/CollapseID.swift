/// The name under which a push replaces an earlier one on a phone: a keyed hash, so that the relay learns no name.
/// (`Docs/Format.md`, Collapse id)
package enum CollapseID {
    /// The bytes that are kept of the hash; 32 characters of the 64 that APNs takes.
    static let length = 24

    /// The longest name of a device, in bytes.
    static let maximumDeviceLength = 255

    /// Which device a push goes to.
    package enum Device {
        /// The name under which the provider keeps it, 1 to 255 bytes: the same after its key has changed.
        case named(String)
        /// Its key, for a provider that knows no more of it.
        case key(DevicePublicKey)
    }

    /// Which of its pushes replace each other.
    package enum Subject {
        /// Those that the caller gives one name, at least a character.
        case named(String)
        /// The copies of one message.
        case message(MessageID)
    }
}

extension EnvelopeSigner {
    /// The collapse id of a push; throws `invalidRequest` for an empty name, or one of a device above 255 bytes.
    func collapseID(
        for device: CollapseID.Device, _ subject: CollapseID.Subject, topic: Topic
    ) throws(SealError) -> String {
        var message = topic.lengthPrefixed
        switch device {
        case .named(let name):
            let name = ContiguousArray(name.utf8)
            guard (1...CollapseID.maximumDeviceLength).contains(name.count) else {
                throw SealError(.invalidRequest, "a device is named by 1 to \(CollapseID.maximumDeviceLength) bytes")
            }
            message.append(0x01)
            message.append(bigEndian: UInt16(name.count))
            message.append(contentsOf: name)
        case .key(let key):
            message.append(0x02)
            message.append(contentsOf: key.bytes)
        }
        switch subject {
        case .named(let name):
            // The empty name would make every push of a device replace the one before it.
            guard !name.isEmpty else {
                throw SealError(.invalidRequest, "the collapse name is empty; leave it out to collapse copies only")
            }
            message.append(0x01)
            message.append(contentsOf: name.utf8)
        case .message(let id):
            message.append(0x02)
            message.append(contentsOf: id.bytes)
        }
        return collapseID(hashing: message)
    }

    /// The collapse id of a push to a device without a key, which is known by nothing here: copies of one message replace
    /// each other, and no other pushes do.
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
