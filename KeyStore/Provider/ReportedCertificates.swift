internal import Pushcrypt

/// What is known of the certificates that devices report, within one transaction: an import reads the provider keys once,
/// and verifies each certificate once.
final class ReportedCertificates {
    fileprivate struct Provider {
        var row: ProviderKeyRow
        let issued: [Certificate]
    }

    fileprivate var providers: [Provider]?
    /// At most as many as a forged batch may fill.
    fileprivate var verified: Set<Certificate> = []
    fileprivate static let maximumVerified = 1024
}

extension StoreTransaction {
    /// Returns the epoch of the certificate that a device reports, if the provider key that it has pinned is this store's
    /// and has signed it.
    ///
    /// One that this store never issued shows that it is an old copy, or that the provider key was stolen, and is
    /// remembered as long as phones may believe it.
    ///
    /// - Parameter epoch: What another store has exported, which has verified it.
    func reportedEpoch(
        _ registration: DeviceRegistration, exported epoch: UInt32? = nil
    ) throws(KeyStoreError) -> UInt32? {
        if let epoch { return epoch }
        guard let certificate = registration.certificate, let pinned = registration.pinnedProvider, let reports,
            let index = try providers(reports).firstIndex(where: { $0.row.publicKey == pinned }),
            let provider = reports.providers?[index]
        else { return nil }
        if provider.issued.contains(certificate) || reports.verified.contains(certificate) { return certificate.epoch }
        guard let topic = provider.row.topic ?? registration.topic,
            (try? certificate.check(for: pinned, topic: topic)) != nil
        else { return nil }
        if reports.verified.count < ReportedCertificates.maximumVerified { reports.verified.insert(certificate) }
        // The same claim under another signature was issued too.
        let isIssued = provider.issued.contains { $0.claim == certificate.claim }
        if !isIssued, CertificatePlan.isStale(provider.row.certificate, proven: certificate) {
            var row = provider.row
            row.notice(certificate)
            if row.proven != provider.row.proven { try put(row) }
            reports.providers?[index].row = row
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
