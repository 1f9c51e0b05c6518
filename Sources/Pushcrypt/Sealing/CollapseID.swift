/// The id by which a push replaces an earlier one on a phone: a hash, so that the relay learns no names. It has no secret, and
/// stays the same whatever keys change. (`Docs/Format.md`, Collapse id)
package enum CollapseID {
    /// The maximum length of a device's id in bytes.
    static let maximumDeviceLength = 255
    private static let maximumNameLength = Int(UInt16.max)

    /// The device that a push is for.
    package enum Device {
        /// The id under which the provider keeps it, 1 to 255 bytes, which stays the same when its key changes.
        case named(String)
        /// Its key, for a provider that has no id for it.
        case key(DevicePublicKey)
    }

    /// The group of pushes to a device that replace each other.
    package enum Subject {
        /// The pushes with this name, which is not empty.
        case named(String)
        /// The copies of one message.
        case message(MessageID)
    }

    /// Returns the collapse id of a push; throws `invalidRequest` for an empty or too long name.
    static func text(
        of provider: ProviderPublicKey, _ topic: Topic, _ device: Device, _ subject: Subject
    ) throws(SealError) -> String {
        var pushes = ContiguousArray<UInt8>()
        switch device {
        case .named(let name):
            guard pushes.append(0x01, name, upTo: maximumDeviceLength) else {
                throw SealError(.invalidRequest, "the name of a device must have 1 to \(maximumDeviceLength) bytes")
            }
        case .key(let key):
            pushes.append(key.suite == .x25519 ? 0x02 : 0x04)
            pushes.append(contentsOf: key.transcript)
        }
        switch subject {
        case .named(let name):
            // With an empty name, every push to a device would replace the one before it.
            guard pushes.append(0x01, name, upTo: maximumNameLength) else {
                throw SealError(
                    .invalidRequest,
                    "the collapse name must have 1 to \(maximumNameLength) bytes; leave it out to collapse only copies of one message"
                )
            }
        case .message(let id):
            pushes.append(0x02)
            pushes.append(contentsOf: id.bytes)
        }
        return hash(provider, topic, pushes)
    }

    /// Returns the collapse id of a push to a device without a key: copies of one message replace each other, and no
    /// other pushes do.
    static func text(of provider: ProviderPublicKey, _ topic: Topic, withoutKey message: MessageID) -> String {
        hash(provider, topic, [0x03] + message.bytes)
    }

    private static func hash(
        _ provider: ProviderPublicKey, _ topic: Topic, _ pushes: ContiguousArray<UInt8>
    ) -> String {
        var hashed = ContiguousArray("pushcrypt/1 collapse\0".utf8)
        hashed.append(contentsOf: provider.bytes)
        hashed.append(contentsOf: topic.lengthPrefixed)
        hashed.append(contentsOf: pushes)
        return Base64URL.string(SHA256.digest(hashed.span).span)
    }
}

extension ContiguousArray<UInt8> {
    /// Appends a type and a name with its length; returns false for one that is empty or too long.
    fileprivate mutating func append(_ type: UInt8, _ name: String, upTo maximum: Int) -> Bool {
        guard (1...maximum).contains(name.utf8.count) else { return false }
        append(type)
        append(bigEndian: UInt16(name.utf8.count))
        append(contentsOf: name.utf8)
        return true
    }
}
