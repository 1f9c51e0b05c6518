public import CPushcrypt
internal import Pushcrypt

/// Opens a received push.
///
/// Documented in `pushcrypt.h`, whose declaration the compiler compares with this one.
@c @implementation
public func pushcrypt_open(
    _ push: UnsafePointer<CChar>?, _ pushLength: Int, _ pushType: UnsafePointer<CChar>?,
    _ deviceKeys: UnsafePointer<CChar>?, _ providers: UnsafePointer<CChar>?, _ topicID: UnsafePointer<CChar>?,
    _ now: UInt64, _ opened: UnsafeMutablePointer<pushcrypt_opened>?, _ payload: UnsafeMutablePointer<CChar>?,
    _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
) -> CInt {
    var said = pushcrypt_opened()
    let misfit = unsafe clear(opened)
    let result = unsafe call(about: topicID, payload, capacity, length) { () throws(CallError) in
        if let misfit { throw misfit }
        let push = try unsafe bytes(push, pushLength, limit: ReceivedPush.maximumLength, "push")
        let pushClass = try unsafe pushClass(pushType)
        let topic = try unsafe topic(topicID)
        let now = Timestamp(milliseconds: now)
        // Secrets first: if the caller mixes the two lists up, no secret is treated as public.
        let deviceKeys = try unsafe readDeviceKeys(deviceKeys)
        let usable = deviceKeys.filter { $0.until.map { now <= $0 } ?? true }.map(\.key)
        let trust = try unsafe readProviders(providers, for: topic)
        let opener = Opener(topic: topic, deviceKeys: usable, trust: trust)
        do throws(OpenError) {
            let notification = try unsafe opener.open(push, at: now, as: pushClass)
            said = pushcrypt_opened(notification, knowing: trust)
            let place = deviceKeys.firstIndex { $0.key.publicKey == notification.openedWith }
            said.device_number = UInt32((place ?? -1) + 1)
            return notification.payloadWithoutKeys
        } catch {
            throw CallError(error)
        }
    }
    if let opened = unsafe opened, result == PUSHCRYPT_DONE { unsafe opened.fill(with: said) }
    return result
}

// MARK: Input

/// Fills the structure with zeros after its size, or returns the error.
private func clear(_ opened: UnsafeMutablePointer<pushcrypt_opened>?) -> CallError? {
    guard let opened = unsafe opened else { return .invalid("opened is NULL; a replay guard needs its contents") }
    let size = unsafe opened.pointee.size
    if let misfit = misfit(size, atLeast: MemoryLayout<pushcrypt_opened>.size, "opened") { return misfit }
    let raw = UnsafeMutableRawPointer(opened)
    let header = MemoryLayout.size(ofValue: size)
    unsafe (raw + header).initializeMemory(as: UInt8.self, repeating: 0, count: size - header)
    return nil
}

/// Returns the class of messages that a push of this type has.
private func pushClass(_ start: UnsafePointer<CChar>?) throws(CallError) -> PushClass {
    guard unsafe start != nil else { return .alert }
    let name = try unsafe string(start, "push_type")
    do throws(SealError) {
        return try PushType(name).sealableClass()
    } catch {
        throw CallError(error)
    }
}

/// Reads the device's keys, with their ends.
private func readDeviceKeys(
    _ list: UnsafePointer<CChar>?
) throws(CallError) -> [(key: DeviceKey, until: Timestamp?)] {
    try unsafe KeyList(list, "device_keys").keys { (text) throws(KeyError) in try DeviceKey(text: text) }
}

// MARK: Output

extension OpenedNotification {
    /// The payload without the keys of files.
    fileprivate var payloadWithoutKeys: ContiguousArray<UInt8> {
        let visible = visibleMembers
        guard visible.count != root.members.count else { return payload }
        var json = JSONWriter()
        json.object { json in for (name, value) in visible { json.raw(value, for: name) } }
        return json.bytes
    }
}

extension pushcrypt_opened {
    fileprivate init(_ notification: OpenedNotification, knowing trust: ProviderTrust) {
        self.init()
        sent_at = notification.sentAt.milliseconds
        expires_at = notification.expiresAt.milliseconds
        file_count = UInt32(notification.attachments.count) + (notification.fullBody == nil ? 0 : 1)
        epoch = notification.epoch
        certificate_conflict = notification.hasCertificateConflict ? 1 : 0
        write(notification.messageID, to: &message_id)
        write(notification.provider, to: &provider)
        if notification.openedWith.suite == .x25519 { write(notification.openedWith, to: &device_key) }
        let known = trust.pins.first { $0.key == notification.provider }?.learned
        if let certificate = notification.learned.certificate, notification.learned != known {
            write("\(certificate) \(notification.learned.floor)", to: &learned)
        }
    }
}

/// Writes a text of a fixed length into a C array, whose last bytes stay 0.
private func write<Field>(_ value: some CustomStringConvertible, to field: inout Field) {
    unsafe withUnsafeMutableBytes(of: &field) { unsafe $0.copyBytes(from: value.description.utf8) }
}

extension UnsafeMutablePointer<pushcrypt_opened> {
    /// Writes all members except the size, which belongs to the caller.
    fileprivate func fill(with said: pushcrypt_opened) {
        var said = said
        said.size = unsafe pointee.size
        unsafe pointee = said
    }
}
