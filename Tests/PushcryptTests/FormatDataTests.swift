import Foundation
import Testing

@testable import Pushcrypt

/// `Sources/Languages/format.json`, from which the packages of other languages are generated, says what this library does.
@Suite struct FormatDataTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Format: Decodable {
        struct Code: Decodable {
            let code: String
            let reason: Bool?
        }
        struct Push: Decodable {
            let name: String
            let `class`: UInt8
            let limit: Int
            let largestBucket: Int
            let suffix: String
        }
        struct Key: Decodable {
            let name: String
            let prefix: String
            let length: Int
            let type: UInt8
        }
        struct Texts: Decodable {
            let standardTitle: String
            let clearBody: String
            let fullBodyType: String
        }

        let codes: [Code]
        let rules: [String: String]
        let apsFields: [String: String]
        let alertFields: [String: String]
        let soundFields: [String: String]
        let shownTexts: [String]
        let pushTypes: [Push]
        let systemPushTypes: [String]
        let clearFields: [String]
        let texts: Texts
        let keys: [Key]
        let fileHeader: Hex
        let buckets: [Int]
        let limits: [String: Int]
    }

    private let format: Format

    init() throws {
        let data = try Data(contentsOf: Self.root.appendingPathComponent("Sources/Languages/format.json"))
        format = try JSONDecoder().decode(Format.self, from: data)
    }

    // MARK: Codes

    @Test func everyCodeIsThisLibrarys() {
        let lists: [[String]] = [
            OpenError.Code.allCases.map(\.description), SealError.Code.allCases.map(\.description),
            KeyError.Code.allCases.map(\.description), TrustError.Code.allCases.map(\.description),
            AttachmentError.Code.allCases.map(\.description), Self.reasons,
        ]
        let own = Set(lists.joined())
        // `wrong-topic` is InvalidTopic, which has no code; the store has `removed-device`, and times here have a type.
        let codes = Set(format.codes.map(\.code))
        #expect(codes.subtracting(own) == ["wrong-topic", "removed-device", "implausible-time"])
        #expect(codes.count == format.codes.count)
    }

    private static let reasons: [String] = [
        RegistrationReply.Refusal.generationRollback, .generationTooHigh, .userMismatch, .keyTaken, .suiteDowngrade,
        .unsupportedSuite, .topicMismatch, .unknownDevice, .badRecordSignature, .staleRecord,
    ].map(\.description)

    @Test func theReasonsAreThoseOfReplies() {
        #expect(format.codes.filter { $0.reason == true }.map(\.code).sorted() == Self.reasons.sorted())
    }

    // MARK: Apple's fields

    private static func name(of rule: APSRule?) -> String? {
        switch rule {
        case .text?: "text"
        case .texts?: "texts"
        case .textOrObject?, .objectOrText?: "text-or-object"
        case .object?: "object"
        case .flag?: "flag"
        case .count?: "count"
        case .fraction?: "fraction"
        case .time?: "time"
        case .interruptionLevel?: "level"
        case .activityEvent?: "event"
        case nil: nil
        }
    }

    @Test func everyFieldHasItsRule() {
        let names = Set(format.apsFields.keys).union(format.alertFields.keys).union(format.soundFields.keys)
        for name in names {
            #expect(Self.name(of: APSRules.field(name)) == format.apsFields[name], "aps.\(name)")
            #expect(Self.name(of: APSRules.alertField(name)) == format.alertFields[name], "aps.alert.\(name)")
            #expect(Self.name(of: APSRules.soundField(name)) == format.soundFields[name], "aps.sound.\(name)")
        }
    }

    @Test func everyRuleSaysTheSame() {
        let rules: [APSRule] = [
            .text, .texts, .textOrObject, .object, .flag, .count, .fraction, .time, .interruptionLevel,
            .activityEvent,
        ]
        #expect(rules.count == format.rules.count)
        for rule in rules { #expect(Self.name(of: rule).flatMap { format.rules[$0] } == rule.expectation) }
    }

    @Test func theSameTextsAreShown() throws {
        for name in format.alertFields.keys {
            let alert = try JSONDocument("{\"\(name)\":\"x\"}").root
            #expect(APSRules.hasText(alert) == format.shownTexts.contains(name), "\(name)")
        }
    }

    // MARK: Pushes

    @Test func pushTypesHaveTheirLimits() throws {
        #expect(format.pushTypes.map(\.name) == ["alert", "background", "voip"])
        for push in format.pushTypes {
            let type = try PushType(push.name)
            #expect(try type.sealableClass().rawValue == push.class)
            #expect(type.maximumPushLength == push.limit)
            #expect(type.largestBucket(.x25519) == push.largestBucket)
            #expect(type.topicSuffix == push.suffix)
        }
        #expect(format.systemPushTypes == PushType.readByTheSystem)
        #expect(format.buckets == Bucket.all(.x25519))
    }

    @Test func theClearPartIsTheSame() {
        #expect(format.clearFields == Placeholder.ClearField.allCases.map(\.rawValue))
        #expect(format.texts.standardTitle == Placeholder.standardTitle)
        #expect(format.texts.clearBody == Placeholder.body)
    }

    // MARK: Keys

    @Test func keysHaveTheirPrefixes() {
        let types: [KeyID.KeyType] = [.x25519, .xwing, .provider, .x25519, .xwing, .provider, .signing]
        #expect(format.keys.count == Bech32.Kind.allCases.count)
        for (key, (kind, type)) in zip(format.keys, zip(Bech32.Kind.allCases, types)) {
            #expect(key.name == "\(kind)")
            #expect(key.prefix == kind.prefix.description)
            #expect(key.length == kind.keyLength)
            #expect(key.type == type.rawValue)
        }
    }

    // MARK: Limits

    // Functions without overloads, or the compiler would take long for the table.
    private static func int(_ number: some BinaryInteger) -> Int { Int(number) }
    private static func twice(_ number: Int) -> Int { 2 * number }

    private static let limits: [String: Int] = [
        "suite": int(CipherSuite.x25519.rawValue),
        "keyLength": CipherSuite.x25519.publicKeyLength,
        "postQuantumKeyLength": CipherSuite.xwing.publicKeyLength,
        "keyIDLength": KeyID.length,
        "tagLength": ChaCha20Poly1305.tagLength,
        "envelopeOverhead": Envelope.overhead(.x25519),
        "innerContent": InnerPlaintext.kind,
        "innerBody": InnerPlaintext.body,
        "kindClass": int(InnerPlaintext.Kind.classMask),
        "kindCertified": int(InnerPlaintext.Kind.hasCertificate),
        "messageIDLength": MessageID.length,
        "longestTopic": Topic.maximumLength,
        "longestTimeToLive": int(Freshness.maximumTimeToLive.seconds),
        "largestTime": int(Timestamp.maximum.milliseconds),
        "expirationUnit": int(Sealer.Message.endUnit),
        "deepestJSON": JSONDocument.maximumDepth,
        "longestClearText": Placeholder.maximumTextLength,
        "certificateLength": Certificate.length,
        "certificateTextLength": Certificate.textLength,
        "claimLength": Certificate.claimLength,
        "certificateVersion": int(Certificate.version),
        "certificateGrace": int(CertificatePlan.grace.seconds),
        "mostPastCertificates": CertificateRequest.maximumPast,
        "plainChunk": AttachmentFormat.chunkLength,
        "sealedChunk": AttachmentFormat.sealedChunkLength,
        "smallestFile": int(AttachmentFormat.smallestSize),
        "largestFile": int(AttachmentFormat.largestSize),
        "mostAttachments": AttachmentReference.maximumCount,
        "longestFileName": AttachmentReference.maximumNameLength,
        "longestFullBody": FullBody.maximumLength,
        "largestAvatar": int(CommunicationSender.maximumAvatarSize),
        "mostWithdrawn": Withdrawal.maximumCount,
        "mostRecipients": CommunicationSender.maximumRecipients,
        "longestLabel": CommunicationSender.maximumLength,
        "longestDeviceID": DeviceID.maximumLength,
        "longestReason": RegistrationReply.Refusal.maximumLength,
        "longestAppVersion": AppVersion.maximumLength,
        "longestToken": twice(DeviceRegistration.maximumTokenLength),
        "longestGrant": DeviceRegistration.maximumGrantLength,
        "largestSuite": int(UInt8.max),
        "mostSuites": KeyRecord.maximumSuites,
        "mostForeign": KeyRecord.maximumForeign,
        "longestCollapseDevice": CollapseID.maximumDeviceLength,
    ]

    @Test func limitsAreThisLibrarys() {
        // Values without a constant in this library: ML-KEM's modulus, the end of times in seconds, the store's step, and 2100.
        let others: [String: Int] = [
            "mlkemModulus": 3329, "timeFieldEnd": 100_000_000_000, "generationStep": 1024, "latestClock": 4_102_444_800,
        ]
        #expect(Set(format.limits.keys) == Set(Self.limits.keys).union(others.keys))
        for (name, limit) in Self.limits.merging(others, uniquingKeysWith: { $1 }) {
            #expect(format.limits[name] == limit, "\(name)")
        }
        #expect(format.fileHeader.bytes == AttachmentFormat.header)
        #expect(format.texts.fullBodyType == FullBody.type)
    }
}
