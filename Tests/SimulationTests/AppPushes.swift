import Foundation
import Pushcrypt
import TestPhone
import UserNotifications

@testable import PushcryptKeyStore
@testable import PushcryptReceiver
@testable import PushcryptService
@testable import Simulated

// Pushes in the extension, and the user's answers in the app.
extension App {
    /// The extension receives a push; it may be killed at any step, and the app's hook may throw.
    func receive(_ number: Int, _ json: Bytes, request: String? = nil) throws {
        var arrival = Ledger.Arrival(code: "", clock: Int64(now.milliseconds), isLocked: phone.isLocked)
        world.ledger.clock(of: self.number, shows: arrival.clock)
        let receiver = NotificationReceiver(store: store, database: database, topic: provider.topic)
        let identifier = request ?? "\(number)-\(world.nextNumber())"
        do {
            let opened = try receiver.open(IncomingPush(try ReceivedPush(json)), requestID: identifier, at: now)
            arrival.floor = opened.notification.learned.floor
            if diesHere(number) { return }
            _ = opened.settle(at: now)
            if diesHere(number) { return }
            // With files, or a hook of the app, the message is taken first.
            let claim = world.loop.chance(30) ? opened.take(at: now) : nil
            if claim != nil, diesHere(number) { return }
            let delivery = opened.handOver(after: claim, at: now).delivery
            arrival.code = delivery.outcome.description
            arrival.rings = arrival.code == "opened" && delivery.content.sound != nil
            receiver.deleteRetiredKeys(after: delivery, at: now)
            if arrival.code == "opened" {
                screen[number] = UNMutableNotificationContent(delivery.content).marked(opened.mark)
            }
        } catch let unopened as Unopened {
            arrival.code = unopened.delivery.outcome.description
        }
        world.loop.note("\(name): \(number) \(arrival.code)\(arrival.rings ? ", rings" : "")")
        learn()
        world.ledger.arrived(number, arrival)
    }

    /// The user answers a notification.
    func answer() throws {
        guard !phone.isLocked, let number = world.loop.pick(screen.keys.sorted()),
            let content = screen.removeValue(forKey: number)
        else { return }
        let request = UncheckedSendableBox(
            UNNotificationRequest(identifier: "\(number)", content: content, trigger: nil))
        world.loop.note("\(name): the user answers \(number)")
        world.ledger.responded(number, at: Int64(now.milliseconds))
        respond { responder in
            let notification = UNNotification(date: Date(timeIntervalSince1970: 0), request: request.value)
            let response = UNNotificationResponse(notification: notification, actionIdentifier: "REPLY")
            await withCheckedContinuation { continuation in
                responder.userNotificationCenter(.current(), didReceive: response) { continuation.resume() }
            }
        }
    }

    /// Passes responses to the app, whose handler may throw.
    func respond(_ work: @escaping @Sendable (NotificationResponder) async -> Void) {
        let fails = world.kills && world.loop.chance(50)
        let (store, now, seen, end) = (store, now, Locked(Seen()), DispatchSemaphore(value: 0))
        let (topic, directory) = (provider.topic, URL(fileURLWithPath: folder.path))
        var opening = NotificationServiceHandler.Configuration(topic: topic, directory: directory) { store }
        (opening.clock, opening.now) = (ManualClock(), { now })
        let responder = NotificationResponder(configuration: .init(opening: opening)) { response in
            seen.withLock { $0.numbers.append(response.value.requestIdentifier) }
            if fails { throw CocoaError(.fileNoSuchFile) }
            return .done
        }
        Task.detached {
            await work(responder)
            end.signal()
        }
        end.wait()
        for number in seen.withLock({ $0.numbers }) {
            world.loop.note("\(name): the app \(fails ? "fails to handle" : "has") the answer to \(number)")
            world.ledger.handled(Int(number) ?? 0, at: Int64(now.milliseconds), throws: fails)
        }
    }

    private final class Seen {
        var numbers: [String] = []
    }

    private func diesHere(_ number: Int) -> Bool {
        guard world.kills, world.loop.chance(3) else { return false }
        world.loop.note("\(name): killed with \(number)")
        world.ledger.excuse(number)
        kill()
        return true
    }
}
