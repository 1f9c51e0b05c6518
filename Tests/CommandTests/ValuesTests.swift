import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct ValuesTests {
    @Test(
        "A duration is a whole number and a unit",
        arguments: [
            ("20s", 20), ("45m", 2700), ("12h", 43_200), ("30d", 2_592_000), ("0s", 0), ("0", 0), ("007d", 604_800),
            ("106751991167300d", 9_223_372_036_854_720_000),
        ])
    func duration(text: String, seconds: Int) {
        #expect(parseDuration(text, in: 0...Int.max) == seconds)
    }

    @Test(
        "Everything else is no duration",
        arguments: [
            "", "d", "30", "30 d", " 30d", "30d ", "+30d", "-30d", "1.5h", "1d12h", "30D", "30w", "30ms", "0x1d",
            "３０d", "30d\u{301}", "9223372036854775808s", "9223372036854775807d", "106751991167301d",
        ])
    func noDuration(text: String) {
        #expect(parseDuration(text, in: 0...Int.max) == nil)
    }

    @Test(
        "A duration keeps to its range",
        arguments: [("0s", false), ("0", false), ("1s", true), ("30d", true), ("2592001s", false)])
    func durationRange(text: String, inside: Bool) {
        #expect((parseDuration(text, in: 1...2_592_000) != nil) == inside)
    }

    @Test(
        "Seconds are written in the largest unit that fits",
        arguments: [(0, "0s"), (1, "1s"), (60, "1m"), (90, "90s"), (3600, "1h"), (86_400, "1d"), (2_678_400, "31d")])
    func durationInWords(seconds: Int, text: String) {
        #expect(durationText(seconds) == text)
    }

    @Test(
        "A short time is a whole number and a unit of at most minutes",
        arguments: [
            ("1500ms", 1500), ("2s", 2000), ("5m", 300_000), ("0ms", 0), ("0s", 0), ("2", nil), ("2S", nil),
            ("1h", nil),
            ("2sm", nil), ("ms", nil), ("2 s", nil), ("1.5s", nil), ("301s", nil), ("9223372036854775807m", nil),
        ])
    func shortTime(text: String, milliseconds: Int?) {
        #expect(parseDuration(text, in: 0...300_000, units: millisecondUnits) == milliseconds)
    }

    @Test(
        "A short time is written in the largest unit that fits",
        arguments: [(0, "0ms"), (1, "1ms"), (1500, "1500ms"), (2000, "2s"), (60_000, "1m"), (90_000, "90s")])
    func shortTimeInWords(milliseconds: Int, text: String) {
        #expect(durationText(milliseconds, units: millisecondUnits) == text)
    }

    @Test(
        "An integer is digits, and inside its range",
        arguments: [
            ("1", 1), ("64", 64), ("0064", 64), ("0", nil), ("65", nil), ("", nil), ("+1", nil), ("-1", nil),
            ("1 ", nil), ("1.0", nil), ("1e1", nil), ("٣", nil), ("99999999999999999999", nil),
        ])
    func integer(text: String, value: Int?) {
        #expect(parseInteger(text, in: 1...64) == value)
    }
}
