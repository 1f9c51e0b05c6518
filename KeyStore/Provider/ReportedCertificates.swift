internal import Pushcrypt

/// What is known of the certificates that devices report, within one transaction: an import reads the provider keys once,
/// and verifies each certificate once.
final class ReportedCertificates {
    fileprivate struct Provider {
        var row: ProviderKeyRow
        let issued: [Certificate]
    }

    fileprivate var providers: [Provider]?
    /// The key that signed each, at most as many as a forged batch may fill.
    fileprivate var verified: [Certificate: ProviderPublicKey] = [:]
    fileprivate static let maximumVerified = 1024
}

extension StoreTransaction {
    /// Returns the epoch of the certificate that a device reports, if the provider key that it has pinned, or any if it
    /// names none, is this store's and has signed it.
    ///
    /// One that this store never issued shows that it is an old copy, or that the provider key was stolen, and is
    /// remembered as long as phones may believe it. (D-36)
    ///
    /// - Parameter epoch: What another store has exported, which has verified it.
    func reportedEpoch(
        _ registration: DeviceRegistration, exported epoch: UInt32? = nil
    ) throws(KeyStoreError) -> UInt32? {
        if let epoch { return epoch }
        guard let certificate = registration.certificate, let reports else { return nil }
        let pinned = registration.pinnedProvider
        let candidates = try providers(reports).filter { pinned == nil || $0.row.publicKey == pinned }
        let isKnown = candidates.contains {
            reports.verified[certificate] == $0.row.publicKey || $0.issued.contains(certificate)
        }
        if isKnown { return certificate.epoch }
        let signer = candidates.first { provider in
            guard let topic = provider.row.topic ?? registration.topic else { return false }
            return (try? certificate.check(for: provider.row.publicKey, topic: topic)) != nil
        }
        guard let provider = signer else { return nil }
        if reports.verified.count < ReportedCertificates.maximumVerified {
            reports.verified[certificate] = provider.row.publicKey
        }
        // The same claim under another signature was issued too.
        let isIssued = provider.issued.contains { $0.claim == certificate.claim }
        // Those below the floor have ended, and are forgotten.
        if !isIssued, certificate.epoch >= provider.row.certificate?.floor ?? 0 {
            var row = provider.row
            row.notice(certificate)
            if row.proven != provider.row.proven { try put(row) }
            if let index = reports.providers?.firstIndex(where: { $0.row.id == row.id }) {
                reports.providers?[index].row = row
            }
        }
        return certificate.epoch
    }

    private func providers(
        _ reports: ReportedCertificates
    ) throws(KeyStoreError) -> [ReportedCertificates.Provider] {
        if let providers = reports.providers { return providers }
        var providers: [ReportedCertificates.Provider] = []
        do throws(KeyStoreError) {
            for row in try rows(ProviderKeyRow.self, "ORDER BY id") {
                let past = try pastEpochs(of: row.id).compactMap(\.epoch.certificate)
                providers.append(
                    ReportedCertificates.Provider(row: row, issued: [row.certificate].compactMap(\.self) + past))
            }
        } catch {
            // A damaged row must not stop a registration: every list reports it.
            guard error.concernsOneRow else { throw error }
            providers = []
        }
        reports.providers = providers
        return providers
    }
}
