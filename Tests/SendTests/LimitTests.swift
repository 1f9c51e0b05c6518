import PushcryptCommandKit
import Testing

@testable import PushcryptSend

/// The limits of a run, and its end.
@Suite struct LimitTests {
    @Test func readingStopsAtEachLimit() {
        let limits = ReadLimits(windowBytes: 1000, deferred: 20, deferredBytes: 2000)
        func allow(
            _ held: (Int, Int), deferred: (Int, Int) = (0, 0), answers: (Int, Int) = (0, 0), window: Int = 10
        ) -> Bool {
            limits.allow(held: held, deferred: deferred, answers: answers, window: window)
        }
        #expect(allow((9, 999)) && !allow((10, 0)) && !allow((0, 1000)) && allow((10, 0), window: 11))
        // Answers that wait for others, in order, count too.
        #expect(!allow((5, 0), answers: (20, 0)) && !allow((0, 500), answers: (0, 2000)))
        // Deferred messages do not hold up the rest, up to a limit.
        #expect(allow((28, 0), deferred: (19, 0)) && !allow((29, 0), deferred: (19, 0)))
        #expect(!allow((25, 0), deferred: (20, 0)) && !allow((20, 0), deferred: (15, 0), answers: (5, 0)))
        #expect(allow((12, 1999), deferred: (5, 1500)) && !allow((12, 2500), deferred: (5, 2000)))
    }

    @Test func aRunEndsAsTheMessageThatMayStillBeAccepted() {
        var counts = SendCounts()
        #expect(counts.exit == .done)
        counts.fail("a", mayRetry: false)
        #expect(counts.exit == .refused)
        counts.fail("b", mayRetry: true)
        counts.fail("a", mayRetry: false)
        #expect(counts.exit == .failed)
    }
}
