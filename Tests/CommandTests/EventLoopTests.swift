import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

@Suite struct EventLoopTests {
    /// Written only by the thread that runs the loop.
    private final class Log: @unchecked Sendable {
        var words: [String] = []
    }

    @Test("Calls are made at their time, the earliest first, on the thread that runs the loop")
    func order() {
        let loop = EventLoop()
        let log = Log()
        var start: UInt64
        var calls: [any ScheduledCall]
        repeat {
            start = SystemEnvironment.uptime()
            calls = [(30, "last"), (0, "first"), (15, "second")].map { delay, word in
                loop.schedule(afterMilliseconds: UInt64(delay)) {
                    log.words.append(word)
                    if word == "last" { loop.end() }
                }
            }
            // A machine that paused here has changed the order; the calls that are dropped are not made.
        } while SystemEnvironment.uptime() - start > 10
        loop.run()
        #expect(SystemEnvironment.uptime() - start >= 30)
        #expect(log.words == ["first", "second", "last"])
        withExtendedLifetime(calls) {}
    }

    @Test("A call that is cancelled, or that nobody holds any more, is not made")
    func cancelled() {
        let loop = EventLoop()
        let log = Log()
        let cancelled = loop.schedule(afterMilliseconds: 0) { log.words.append("cancelled") }
        cancelled.cancel()
        _ = loop.schedule(afterMilliseconds: 0) { log.words.append("dropped") }
        let never = loop.schedule(afterMilliseconds: .max) { log.words.append("never") }
        let end = loop.schedule(afterMilliseconds: 1) { loop.end() }
        loop.run()
        #expect(log.words == [])
        withExtendedLifetime((cancelled, never, end)) {}
    }

    @Test("Another thread ends a loop that has nothing to wait for, and shortens a wait that is long")
    func otherThreads() throws {
        let loop = EventLoop()
        let long = loop.schedule(afterMilliseconds: 60_000) {}
        _ = SystemThread.start {
            SystemEnvironment.sleep(milliseconds: 5)
            long.cancel()
            SystemEnvironment.sleep(milliseconds: 5)
            loop.end()
        }
        loop.run()
        let hurried = EventLoop()
        let patient = hurried.schedule(afterMilliseconds: 60_000) {}
        let over = Monitor(false)
        _ = SystemThread.start {
            SystemEnvironment.sleep(milliseconds: 5)
            let end = hurried.schedule(afterMilliseconds: 0) { hurried.end() }
            // Kept until it was made.
            _ = over.wait { $0 ? true : nil }
            end.cancel()
        }
        let start = SystemEnvironment.uptime()
        hurried.run()
        over.change { $0 = true }
        #expect(SystemEnvironment.uptime() - start < 60_000)
        withExtendedLifetime(patient) {}
    }
}
