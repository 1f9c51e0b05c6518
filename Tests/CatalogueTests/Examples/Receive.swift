import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver

/// An extension's state: the device's store and a folder, both shared with its app.
struct ExtensionReceiver {
    let store: any DeviceStore
    let folder: String
    let topic: Topic

    /// Shows what a push brings, and records it in the journal.
    func receive(_ push: IncomingPush, requestID: String, at now: Timestamp, show: (Delivery) -> Void) {
        let database = ExtensionDatabase(in: folder)
        let receiver = NotificationReceiver(store: store, database: database, topic: topic)
        let reception = receiver.receive(push, requestID: requestID, at: now)
        let problem = database.journal.append(
            JournalEntry(
                time: now, fingerprint: fingerprint(of: push), code: reception.delivery.code,
                keyState: reception.keyState, milliseconds: 0))
        for warning in reception.warnings + [problem?.description].compactMap(\.self) { print(warning) }
        show(reception.delivery)
        receiver.deleteRetiredKeys(after: reception.delivery, at: now)
    }

    /// The fingerprint by which the provider's log names the envelope.
    private func fingerprint(of push: IncomingPush) -> EnvelopeFingerprint? {
        guard case .text(let text) = push.encryptedData else { return nil }
        return EnvelopeFingerprint(of: text)
    }
}
