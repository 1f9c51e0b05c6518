internal import Pushcrypt

/// An epoch that a later one has replaced: it sets the floor of the next, and shows that a certificate was issued here.
struct PastEpochRow: StoredRow {
    static let table = StoreTable("past_epochs", key: "id", "provider", "certificate", "replaced")
    static let put = table.put

    let id: Int64
    /// The number of the provider key's row.
    let provider: Int64
    let epoch: CertificatePlan.PastEpoch

    init(id: Int64, provider: Int64, _ epoch: CertificatePlan.PastEpoch) {
        self.id = id
        self.provider = provider
        self.epoch = epoch
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        id = try columns.integer()
        provider = try columns.integer()
        epoch = CertificatePlan.PastEpoch(
            try columns.optionalCertificate(), replacedAt: try columns.time())
    }

    var values: [SQLiteValue] {
        [.integer(id), .integer(provider), .blob(epoch.certificate?.bytes), .time(epoch.replacedAt)]
    }
}

extension StoreTransaction {
    /// Returns the replaced epochs of a provider key, oldest first.
    func pastEpochs(of provider: Int64) throws(KeyStoreError) -> [PastEpochRow] {
        try rows(PastEpochRow.self, "WHERE provider = ? ORDER BY id", .integer(provider))
    }

    /// Notes that an epoch was replaced, and forgets those that the floor of the new certificate has ended.
    func replace(_ certificate: Certificate?, of provider: Int64, by new: Certificate, at now: Timestamp)
        throws(KeyStoreError)
    {
        for row in try pastEpochs(of: provider) where row.epoch.epoch < new.floor {
            try delete(PastEpochRow.self, key: .integer(row.id))
        }
        let epoch = CertificatePlan.PastEpoch(certificate, replacedAt: now)
        guard epoch.epoch >= new.floor else { return }
        try put(PastEpochRow(id: try newRowNumber(in: PastEpochRow.self), provider: provider, epoch))
    }
}
