import Testing

/// Every value of RFC 9180's own vectors, in all four modes, on the sender's side and on the recipient's.
@Suite struct HPKEVectorTests {
    @Test func everyValueOfEveryModeIsThatOfTheRFC() throws {
        guard let vectors = try HPKEVector.ofRFC9180() else { return }
        #expect(vectors.map(\.mode) == [0, 1, 2, 3])
        var count = 0
        for vector in vectors {
            #expect(vector.exports.count == 3)
            #expect(vector.encryptions.count == 257)
            var check = HPKEVectorCheck(vector)
            try check.run()
            count += check.count
        }
        print("vectors: HPKE RFC 9180, values of \(vectors.count) modes: \(count)")
    }
}
