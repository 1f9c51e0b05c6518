public import CPushcrypt
internal import Pushcrypt

/// Seals an APNs payload.
///
/// Documented in `pushcrypt.h`, whose declaration the compiler compares with this one.
@c @implementation
public func pushcrypt_seal(
    _ payload: UnsafePointer<CChar>?, _ payloadLength: Int, _ deviceKey: UnsafePointer<CChar>?,
    _ signingKey: UnsafePointer<CChar>?, _ topicID: UnsafePointer<CChar>?, _ now: UInt64,
    _ options: UnsafePointer<pushcrypt_seal_options>?, _ push: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ length: UnsafeMutablePointer<Int>?
) -> CInt {
    unsafe call(about: topicID, push, capacity, length) { () throws(CallError) in
        let payload = try unsafe bytes(
            payload, payloadLength, limit: JSONDocument.defaultMaximumBytes, "payload")
        let topic = try unsafe topic(topicID)
        guard now >= earliestMoment else {
            throw .invalid("now is before 2001; it must be in milliseconds since 1970, not in seconds")
        }
        let (message, placeholder) = try unsafe read(options, payload)
        // The secret first: a caller who mixes the two up is refused before it is read as if it were public.
        let signer = try unsafe readSigningKey(signingKey, for: topic)
        let recipient = try unsafe readRecipient(deviceKey)
        do throws(SealError) {
            return try Sealer(signer: signer, topic: topic, placeholder: placeholder)
                .seal(message, to: recipient, at: Timestamp(milliseconds: now)).json
        } catch {
            throw CallError(error)
        }
    }
}

/// 2001-01-01 in milliseconds; in seconds, this number would be in the year 32970.
private let earliestMoment: UInt64 = 978_307_200_000

/// Reads a provider key, or a signing key with its certificate.
private func readSigningKey(_ start: UnsafePointer<CChar>?, for topic: Topic) throws(CallError) -> EnvelopeSigner {
    let place = "signing_key"
    let text = try unsafe text(start, place)
    do {
        guard unsafe text.starts(with: "PCK-".utf8) else {
            return EnvelopeSigner(try unsafe ProviderKey(text: text.span))
        }
        return try unsafe EnvelopeSigner(SigningCredential(text: text.span), for: topic)
    } catch let error as TrustError {
        throw CallError(error, in: place)
    } catch let error as KeyError {
        throw CallError(error, in: place)
    } catch {
        throw .invalid("\(place): \(error)")
    }
}

private func readRecipient(_ start: UnsafePointer<CChar>?) throws(CallError) -> DevicePublicKey {
    let text = try unsafe string(start, "device_key")
    do throws(KeyError) {
        return try DevicePublicKey(text: text)
    } catch {
        throw CallError(recipient: error)
    }
}

/// Reads the options; a newer caller may have more than this version knows.
private func read(
    _ start: UnsafePointer<pushcrypt_seal_options>?, _ payload: UnsafeBufferPointer<UInt8>
) throws(CallError) -> (Sealer.Message, Placeholder) {
    var message = unsafe Sealer.Message(payload)
    guard let start = unsafe start else { return (message, .standard) }
    let raw = unsafe UnsafeRawPointer(start)
    let size = unsafe raw.load(as: Int.self)
    let known = unsafe MemoryLayout<pushcrypt_seal_options>.size
    if let misfit = misfit(size, atLeast: known, "options") { throw misfit }
    guard unsafe UnsafeRawBufferPointer(start: raw + known, count: size - known).allSatisfy({ $0 == 0 }) else {
        throw .invalid("options has a member that version \(PUSHCRYPT_VERSION) does not support; leave it 0")
    }
    let given = unsafe start.pointee
    guard unsafe given.flags & ~PUSHCRYPT_SENT_EXACTLY == 0 else {
        throw .invalid("options->flags has a bit that version \(PUSHCRYPT_VERSION) does not support")
    }
    message.isSentExactly = unsafe given.flags & PUSHCRYPT_SENT_EXACTLY != 0
    if unsafe given.time_to_live != 0 { message.timeToLive = unsafe .seconds(UInt64(given.time_to_live)) }
    if unsafe given.message_name != nil {
        message.name = try unsafe string(given.message_name, "options->message_name")
    }
    let pushType = unsafe given.push_type == nil ? nil : try string(given.push_type, "options->push_type")
    let title = unsafe given.title == nil ? nil : try string(given.title, "options->title")
    do throws(SealError) {
        if let pushType { message.pushType = try PushType(pushType) }
        return (message, try title.map { (title) throws(SealError) in try Placeholder(title: title) } ?? .standard)
    } catch {
        throw CallError(error)
    }
}
