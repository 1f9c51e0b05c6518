internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// A message, the device that it is for, and the sealer for both: nothing more is needed to seal it.
final class SealTarget {
    private(set) var request: SealRequest
    let device: SealingKeys.Device
    private let sealer: Sealer

    init(_ request: SealRequest, _ device: SealingKeys.Device, _ sealer: Sealer) {
        (self.request, self.device, self.sealer) = (request, device, sealer)
    }

    /// The message for the sealer.
    private func message(_ settings: SealSettings) -> Sealer.Message {
        var message = Sealer.Message(
            request.payload, to: device.key, at: settings.now(), options: request.options)
        message.attachments = request.attachments
        message.from = request.from
        // A message that is too long is sealed again, with its body in a file.
        if settings.overflow != nil { message.options.fitting = [] }
        return message
    }

    /// Seals the message, and makes its request if one is written.
    ///
    /// - Parameter shared: The file for a body that is too long.
    func seal(
        _ settings: SealSettings, sharing shared: SealOverflow.SharedFile?
    ) throws(SealFailure) -> SealedMessage {
        var sealed: SealedPayload
        var file: SealOverflow.File?
        do throws(SealError) {
            sealed = try sealer.seal(message(settings))
        } catch {
            guard let overflow = settings.overflow, let shared, overflow.isNeeded(after: error) else {
                throw .sealing(error)
            }
            (sealed, file) = try overflow.seal(
                message(settings), fitting: request.options.fitting, by: sealer, sharing: shared)
        }
        guard settings.emission != .payload else {
            return SealedMessage(payload: sealed, request: nil, overflow: file)
        }
        do throws(SealError) {
            let push = try sealer.request(
                for: sealed, device: device.id, collapseName: request.headers.collapseName,
                priority: request.headers.priority)
            let message = settings.emission == .relay ? try RelayMessage(push) : nil
            return SealedMessage(payload: sealed, request: push, relayMessage: message, overflow: file)
        } catch {
            throw .sealing(error)
        }
    }
}

// MARK: One message

extension SealSource {
    /// Finds the device, the key and the app of one message, whose payload is still to come, and ends the command if the message
    /// cannot be sealed. The store is not needed afterwards.
    ///
    /// - Parameters:
    ///   - name: The id or the public key of the device.
    ///   - place: The option or operand that gives it.
    func target(
        to name: String, in place: String, _ settings: SealSettings, _ console: Console
    ) throws(CommandFailure) -> SealTarget {
        let recipient: SealRequest.Recipient
        do throws(KeyError) {
            recipient = try SealRequest.Recipient(named: name)
        } catch {
            throw CommandFailure(error, inOption: place)
        }
        let keys = try withStoreErrors { () throws(KeyStoreError) in try self.keys() }
        let devices = try withStoreErrors { () throws(KeyStoreError) in try keys.devices(for: [recipient]) }
        do throws(SealFailure) {
            guard let device = try devices.first?.first?.get() else {
                preconditionFailure("a name is of one device")
            }
            let target = try keys.target(settings.request, device, settings)
            console.warn(ofStale: keys.signers.lazy.compactMap(\.warning).first)
            return target
        } catch {
            throw CommandFailure(error, deviceGivenIn: place)
        }
    }
}

extension SealTarget {
    /// Seals a payload, and ends the command if it is refused.
    func seal(
        _ payload: ContiguousArray<UInt8>, _ settings: SealSettings, deviceGivenIn place: String
    ) throws(CommandFailure) -> SealedMessage {
        request.payload = payload
        do throws(SealFailure) {
            return try seal(settings, sharing: settings.overflow.map { _ in SealOverflow.SharedFile() })
        } catch {
            throw CommandFailure(error, deviceGivenIn: place)
        }
    }
}
