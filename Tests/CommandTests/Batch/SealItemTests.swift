import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Whom a line means, by who has written it.
@Suite struct SealItemTests {
    private func recipient(_ line: String, _ form: SealBatch.Form) throws -> SealRequest.Recipient? {
        let batch = SealBatch(form, SealSettings(now: { Timestamp(milliseconds: 0) }))
        return SealItem(1, .text(ContiguousArray(line.utf8)), of: batch).recipient
    }

    @Test("In a list that the caller gives, a name may be a key; what a store lists is an id, whatever it looks like")
    func ids() throws {
        let key = DeviceKey().publicKey
        guard case .key(key) = try recipient("\(key)", .recipients) else {
            Issue.record("no key")
            return
        }
        for id in ["\(key)", "pcr1", #"{"to":"\#(key)"}"#] {
            guard case .device(id) = try recipient(id, .devices) else {
                Issue.record("no id: \(id)")
                return
            }
        }
    }
}
