internal import Pushcrypt

/// A certificate that a device reports, verified.
struct ReportedCertificate {
    let epoch: UInt32
    /// The provider's state with it, if it was never issued here.
    fileprivate let noted: ProviderState?
}

extension StoreTransaction {
    /// Returns the certificate that a device reports, if the provider key that it has pinned, or any if it names none, is this
    /// store's and has signed it.
    func reportedCertificate(_ registration: DeviceRegistration) throws(KeyStoreError) -> ReportedCertificate? {
        // Damaged keys must not stop a registration: whatever uses them says so.
        guard registration.certificate != nil, let state = try providerIfSound() else { return nil }
        var noted = state
        guard let epoch = noted.note(registration, verified: &memory.verified) else { return nil }
        let isNews = zip(state.keys, noted.keys).contains { $0.proven != $1.proven }
        return ReportedCertificate(epoch: epoch, noted: isNews ? noted : nil)
    }

    /// Remembers a certificate that this store never issued as long as phones may believe it: the store is an old copy, or the
    /// provider key was stolen. [D-36]
    func note(_ reported: ReportedCertificate) throws(KeyStoreError) {
        guard let noted = reported.noted else { return }
        try changeProvider { $0 = noted }
    }
}
