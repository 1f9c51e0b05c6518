internal import Pushcrypt

/// What the store knows of a device id: the device, or what its removal has left. Later registrations are measured by it.
struct KnownDevice {
    var device: DeviceRecord?
    var removed: RemovedDevice?
    /// The key under which its records are signed, and the last sequence.
    var signing: RemovedDevice.Signing

    init(device: DeviceRecord) {
        self.device = device
        signing = RemovedDevice.Signing(updateKey: device.updateKey, sequence: device.sequence)
    }

    init(removed: RemovedDevice? = nil) {
        self.removed = removed
        signing = removed?.signing ?? RemovedDevice.Signing()
    }

    /// Whether a record without a session may change the device.
    var acceptsOpenRecords: Bool { device != nil || removed?.isLost ?? false }

    var topic: Topic? { device.map(\.topic) ?? removed?.topic }

    var user: String? { device.map(\.user) ?? removed?.user }

    var lastKey: RemovedDevice.LastKey? {
        device.map {
            RemovedDevice.LastKey(generation: $0.generation, suite: $0.publicKey.suite, id: $0.publicKey.id)
        } ?? removed?.lastKey
    }

    var generation: UInt64? { device?.generation ?? removed?.lastKey?.generation }
    var suite: CipherSuite? { device?.publicKey.suite ?? removed?.lastKey?.suite }

    /// Whether the device's last key was this one; of a removed device's key only the id is known.
    func hasLast(_ key: DevicePublicKey) -> Bool {
        if let device { return device.publicKey == key }
        return removed?.lastKey?.id == key.id
    }

    /// Refuses a user whose device it is not, and another key of a user's device without that user: either session could
    /// take the device over. [D-22]
    func checkUser(_ session: DeviceOwner, of key: DevicePublicKey, id: String) throws(KeyStoreError) {
        guard user != nil || lastKey != nil else { return }
        switch (session, user) {
        case (.user(let user), let owner?) where !StoreName.areEqual(user, owner):
            throw KeyStoreError(.userMismatch, "device '\(id)' \(belongs) to user '\(owner)', not to '\(user)'")
        case (.user(let user), nil):
            throw KeyStoreError(.userMismatch, "device '\(id)' \(belongs) to no user, and not to '\(user)'")
        case (.unchanged, let owner?) where !hasLast(key), (.nobody, let owner?) where !hasLast(key):
            throw KeyStoreError(
                .userMismatch, "device '\(id)' \(belongs) to user '\(owner)', and nobody else may change its key")
        default: return
        }
    }

    private var belongs: String { device == nil ? "belonged, before it was removed," : "belongs" }

    /// A phone that makes a key a day for three years stays below it; someone who could register the largest
    /// generation would lock the phone out. [D-28]
    private static let maximumGenerationStep: UInt64 = 1024

    func checkGeneration(of registration: DeviceRegistration, id: String) throws(KeyStoreError) {
        let generation = registration.generation
        if let last = self.generation {
            guard generation >= last else {
                throw KeyStoreError(
                    .generationRollback,
                    "device '\(id)' registered generation \(last) before, this is generation \(generation): an old copy"
                )
            }
            guard generation > last || hasLast(registration.publicKey) else {
                throw KeyStoreError(
                    .generationRollback,
                    "device '\(id)' registered another key with generation \(generation) before"
                )
            }
        }
        let (highest, overflow) = (self.generation ?? 0).addingReportingOverflow(Self.maximumGenerationStep)
        guard overflow || generation <= highest else {
            throw KeyStoreError(
                .generationTooHigh,
                "device '\(id)' registered generation \(generation); after \(self.generation ?? 0) at most \(highest) is accepted"
            )
        }
    }

    /// A device that has changed over to suite 2 never goes back. [D-29]
    func checkSuite(of key: DevicePublicKey, id: String) throws(KeyStoreError) {
        guard let suite, key.suite < suite else { return }
        throw KeyStoreError(
            .suiteDowngrade,
            "device '\(id)' has a post-quantum key, and this one is not: somebody may want to read what is sent to it")
    }
}

extension StoreTransaction {
    func known(_ id: String) throws(KeyStoreError) -> KnownDevice {
        if let device = try device(id: id) { return KnownDevice(device: device.record) }
        return KnownDevice(removed: try removedDevice(id))
    }

    /// Returns what the sound rows say.
    func knownIfSound(_ id: String) throws(KeyStoreError) -> KnownDevice {
        do throws(KeyStoreError) {
            return try known(id)
        } catch {
            guard error.concernsOneRow else { throw error }
            return KnownDevice()
        }
    }
}
