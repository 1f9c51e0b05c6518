import Testing

@testable import PushcryptSend
@testable import Simulated

@Suite struct WindowTests {
    @Test func aLossHalvesItOnce() {
        var window = Window()
        let now = Moment(uptime: 1000, wall: 0)
        #expect(window.allows(99) && !window.allows(100) && window.share(of: 4) == .max)
        window.lost(sentAt: 10, 100, now)
        #expect(window.allows(49) && !window.allows(50) && window.share(of: 4) == 12)
        window.lost(sentAt: 1000, 50, now)
        window.lost(sentAt: 2000, 50, now)
        #expect(window.allows(49), "nothing was decided since: it is one outage")
        window.good(sentAt: 900, 50)
        window.lost(sentAt: 2000, 50, now)
        #expect(window.allows(49), "what was decided since was sent before")
        window.good(sentAt: 1001, 50)
        window.lost(sentAt: 2000, 50, now)
        #expect(window.allows(24) && !window.allows(25))
    }

    @Test func itGrowsWhileFewerThanHalfAreBusy() {
        var window = Window()
        for _ in 0..<100 {
            for _ in 0..<5 { window.good(sentAt: 0, 1 << 20) }
            for _ in 0..<5 { window.busy() }
        }
        #expect(window.allows(150))
        for _ in 0..<1000 { window.busy() }
        #expect(window.allows(3) && !window.allows(4))
    }
}
