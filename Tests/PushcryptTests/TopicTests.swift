import Testing

@testable import Pushcrypt

/// The app that a message is for: 1 to 255 bytes of ASCII letters, digits, `.` and `-`.
@Suite struct TopicTests {
    @Test(.vectors("envelopes.json, topics"), arguments: try EnvelopeVectors.file().topics)
    func aTopicIsTakenOrNot(_ vector: EnvelopeVectors.TopicCase) throws {
        let topic = try? Topic(vector.topic)
        #expect((topic != nil) == vector.valid)
        #expect(topic?.bundleID == (vector.valid ? vector.topic : nil))
    }
}
