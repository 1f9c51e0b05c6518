import Testing

@testable import Pushcrypt
@testable import PushcryptDeveloperTools
@testable import PushcryptTests

/// `PayloadLint` has an error for a payload exactly when a sealer refuses it, and the sealer's reason is among them.
@Suite struct LintAgreementTests {
    static let payloads: [String] =
        PayloadFieldTests.refusedFields.map(\.payload) + [
            "", "[]", "{}", #"{"aps":1}"#, #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":"x"}}"#,
            #"{"aps":{"alert":{"launch-image":"x"}}}"#, #"{"aps":{"badge":1}}"#, #"{"aps":{"content-available":1}}"#,
            #"{"aps":{"alert":"x"},"pushcrypt":1}"#, #"{"aps":{"alert":"x"},"aps":1}"#, "\u{FEFF}{}",
            #"{"aps":{"alert":"x","event":"begin"}}"#, #"{"aps":{"alert":"x","event":null,"stale-date":"soon"}}"#,
            #"{"aps":{"alert":null}}"#, #"{"aps":{"alert":{"title":"x","body":null},"badge":3.0,"sound":null}}"#,
            #"{"aps":{"alert":"x","mutable-content":true,"content-available":true}}"#,
            #"{"aps":{"alert":"x","timestamp":1800000000}}"#, #"{"aps":{"alert":"x","timestamp":1800000000000}}"#,
            #"{"aps":{"alert":"x","unknown":1},"chat":"x"}"#, LintLeakTests.oneOfEach,
            alertPayload(count: 2596), alertPayload(count: 2597), alertPayload(count: 3364), alertPayload(count: 3365),
        ]

    @Test(arguments: payloads) func lintHasAnErrorWhereASealerRefuses(_ payload: String) throws {
        let fixture = try FormatFixture()
        for type in [PushType.alert, .background, .voip] {
            var options = Sealer.Message([])
            options.pushType = type
            let refusal: SealError.Code?
            do throws(SealError) {
                _ = try fixture.seal(payload, like: options)
                refusal = nil
            } catch {
                refusal = error.code
            }
            let lint = PayloadLint(payload, ["push_type": type.description])
            let errors = lint.findings.filter { $0.severity == .error }.map(\.code)
            #expect(errors.isEmpty == (refusal == nil), "\(type)")
            #expect(refusal.map { errors.contains($0.description) } ?? true, "\(type)")
        }
    }

    /// A payload that was sealed is refused by a sealer, and nothing is wrong with it.
    @Test func onlyWhatIsSealedAlreadyIsJudgedApart() throws {
        let sealed = try FormatFixture().seal(alertPayload())
        #expect(throws: SealError.self) { try CheckedPayload(sealed.json, for: .alert) }
        #expect(PayloadLint(sealed.json).findings.isEmpty)
        var options = Sealer.Message([])
        options.fitting = [.body]
        let fitted = try FormatFixture().seal(alertPayload(count: 10_000), like: options)
        #expect(fitted.shortened == [.body: 7407] && PayloadLint(fitted.json).findings.isEmpty)
    }
}
