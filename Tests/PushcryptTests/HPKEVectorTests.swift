import Testing

/// RFC 9180's own vectors of base mode, on the sender's side and on the recipient's.
@Suite struct HPKEVectorTests {
    @Test func everyValueIsThatOfTheRFC() throws {
        guard let vectors = try HPKEVector.ofRFC9180() else { return }
        let base = vectors.filter { $0.mode == 0 }
        try #require(!base.isEmpty)
        var count = 0
        for vector in base {
            var check = HPKEVectorCheck(vector)
            try check.run()
            count += check.count
        }
        print("vectors: HPKE RFC 9180, values of base mode: \(count)")
    }
}
