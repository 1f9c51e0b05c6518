import Testing

@testable import PushcryptReceiver

@Suite struct DeliveryTests {
    @Test func aFullBodyTakesThePlaceOfTheShortOneAndOfNothingElse() {
        let reason = Delivery.Reason(code: "deadline", description: "too late")
        let short = Delivery(fallback: reason, for: nil)
        let full = short.extended(by: "%@ all of it")
        var content = short.content
        content.body = .plain("%@ all of it")
        #expect(full.content == content && full.content != short.content)
        guard case .fallback(let kept) = full.outcome else {
            Issue.record("the outcome is another: \(full.outcome)")
            return
        }
        #expect(kept.code == "deadline")
    }
}
