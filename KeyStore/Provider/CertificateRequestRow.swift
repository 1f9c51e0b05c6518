internal import Pushcrypt

/// A signing key that waits for its certificate, and what was requested for it.
struct CertificateRequestRow: StoredRow {
    static let table = StoreTable("certificate_requests", key: "provider", "request", "sealed")
    static let put = table.put

    /// The number of the provider key's row.
    let provider: Int64
    let request: CertificateRequest
    private let sealed: Bytes

    init(provider: Int64, _ request: CertificateRequest, _ key: SigningKey, _ keys: StoreKeys) {
        self.provider = provider
        self.request = request
        sealed = key.withSeed { keys.seal($0, at: Self.place(provider)) }
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        provider = try columns.integer()
        guard let request = try? CertificateRequest(json: try columns.blob()) else { throw columns.damaged }
        self.request = request
        sealed = try columns.blob()
    }

    var values: [SQLiteValue] { [.integer(provider), .blob(request.json), .blob(sealed)] }

    private static func place(_ provider: Int64) -> StoreKeys.Place {
        StoreKeys.Place(table: table.name, row: provider, generation: 0, state: 0)
    }

    func key(_ keys: StoreKeys) throws(KeyStoreError) -> SigningKey {
        guard
            let key = try? keys.open(sealed, at: Self.place(provider)).withSpan({ (seed) throws(KeyError) in
                try SigningKey(seed: seed)
            }), key.publicKey == request.signingKey
        else { throw .damagedRow(.integer(provider), in: Self.table.name) }
        return key
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try key(keys) }
}
