public import CPushcrypt
internal import Pushcrypt

/// Opens a received push.
///
/// Documented in `pushcrypt.h`, whose declaration the compiler compares with this one.
@c @implementation
public func pushcrypt_open(
    _ push: UnsafePointer<CChar>?, _ pushLength: Int, _ deviceKeys: UnsafePointer<CChar>?,
    _ senders: UnsafePointer<CChar>?, _ topicID: UnsafePointer<CChar>?, _ now: UInt64,
    _ opened: UnsafeMutablePointer<pushcrypt_opened>?, _ payload: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> CInt {
    var said = pushcrypt_opened()
    let misfit = unsafe clear(opened)
    let result = unsafe call(about: topicID, payload, capacity, length) { () throws(CallError) in
        if let misfit { throw misfit }
        let push = try unsafe bytes(push, pushLength, limit: ReceivedPush.maximumLength, "push")
        let topic = try unsafe topic(topicID)
        let now = Timestamp(milliseconds: now)
        // Secrets first: if the caller mixes the two lists up, no secret is treated as public.
        let deviceKeys = try unsafe readDeviceKeys(deviceKeys)
        let usable = deviceKeys.filter { $0.until.map { now <= $0 } ?? true }.map(\.key)
        let trust = try unsafe ProviderList(senders).trust
        let opener = Opener(topic: topic, deviceKeys: usable, trust: trust)
        do throws(OpenError) {
            let notification = try unsafe opener.open(push, at: now)
            said = pushcrypt_opened(notification, trust: trust, for: topic, at: now)
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
    fileprivate init(_ notification: OpenedNotification, trust: ProviderTrust, for topic: Topic, at now: Timestamp) {
        self.init()
        sent_at = notification.sentAt.milliseconds
        expires_at = notification.expiresAt.milliseconds
        file_count = UInt32(notification.attachments.count) + (notification.fullBody == nil ? 0 : 1)
        write(notification.messageID, to: &message_id)
        write(notification.sender, to: &sender)
        if notification.openedWith.suite == .x25519 { write(notification.openedWith, to: &device_key) }

        var changed: [pushcrypt_rotation] = []
        var trust = trust
        for statement in notification.statements {
            var rotation = pushcrypt_rotation()
            switch try? trust.accept(statement, for: topic, at: now) {
            case .rotated(let old, let new):
                rotation.old_until = statement.overlapEnd.milliseconds
                write(old, to: &rotation.old_sender)
                write(new, to: &rotation.new_sender)
            case .recovered(let new):
                write(new, to: &rotation.new_sender)
                if let last = trust.senders.compactMap(\.lastRecovery).first { write(last.text, to: &recovered) }
            case .unchanged, nil: continue
            }
            changed.append(rotation)
        }
        recovery_conflict = notification.hasRecoveryConflict ? 1 : 0
        rotation_count = UInt32(changed.count)
        unsafe withUnsafeMutableBytes(of: &rotations) { field in
            unsafe changed.withUnsafeBytes { unsafe field.copyBytes(from: $0) }
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
