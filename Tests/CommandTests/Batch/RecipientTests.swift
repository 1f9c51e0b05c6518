import Pushcrypt
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// Whom a line means, by who has written it.
@Suite struct RecipientTests {
    private func recipient(_ text: String, _ content: LineForm.Content) throws -> Recipient {
        var form = LineForm(.seal(.payload, hasFacts: false, hasFiles: false))
        form.content = content
        let line = Line(1, ContiguousArray(text.utf8), form)
        return try Message(line, Message(content: Sealer.Message([])), bringsPayload: false, isRequest: false).recipient
    }

    @Test("In a list that the caller gives, a name may be a key; what a store lists is an id, whatever it looks like")
    func ids() throws {
        let key = DeviceKey().publicKey
        guard case .key(key) = try recipient("\(key)", .recipients) else {
            Issue.record("no key")
            return
        }
        for id in ["\(key)", "pcr1", #"{"to":"\#(key)"}"#] {
            guard case .device(id) = try recipient(id, .ids) else {
                Issue.record("no id: \(id)")
                return
            }
        }
    }
}
