import Foundation
import Pushcrypt
import PushcryptKeyStore
import PushcryptReceiver
import PushcryptService

/// Call at each launch with a user logged in and whenever APNs issues another token, one call at a time.
func enrol(token: Data, alertsAreShown: Bool, at server: Server) async throws {
    let now = Timestamp(secondsSince1970: Date().timeIntervalSince1970)
    let store = try SharedKeyStore.open()
    let file = try EnrolmentFile.inApplicationSupport()
    let learned = try AppGroup(identifier: "group.com.example").mergeLearned(into: store, at: now)
    if learned.conflicts > 0 { print("certificate-conflict: the provider key may be stolen") }

    let enrolment = Enrolment(store: store, topic: try Topic("com.example.app"), firstTrust: .firstReply)
    let circumstances = EnrolmentCircumstances(
        appVersion: AppVersion("2.3.1"), pushToken: ContiguousArray(token), environment: .production,
        alertsAreShown: alertsAreShown)
    switch enrolment.reconcile(file.read(), in: circumstances, at: now) {
    case .later(let obstacle), .blocked(let obstacle): print(obstacle.code, obstacle)
    case .plan(let plan):
        var work = try enrolment.begin(plan, at: now)
        try file.write(work.state)  // before anything is sent
        if let request = work.request {
            let answer = try await server.register(Data(request.record.json))
            let reply = try RegistrationReply(json: ContiguousArray(answer))
            let result = Result { try enrolment.handle(reply, to: request, state: &work.state, at: now) }
            try file.write(work.state)  // also when the store has failed
            print(try result.get())
        }
        for withdrawal in work.state.withdrawals {
            try await server.forget(Data(withdrawal.json))
            work.state.removeWithdrawal(of: withdrawal.device)
            try file.write(work.state)
        }
    }
}
