internal import PushcryptReceiver

extension Explanation {
    static let enrolment = enrolmentObstacles + registrationReasons

    /// Why a launch does nothing, or what it should know.
    private static let enrolmentObstacles = [
        Explanation(
            EnrolmentStateError.Code.newerState, .enrolment,
            summary: "a newer version of the app has written the enrolment state",
            cause: "The app was downgraded, for example by a test build.",
            fix: "Update the app again. The state and the keys are untouched, and pushes still open.",
            shown: nothingDone),
        Explanation(
            EnrolmentStateError.Code.damagedState, .enrolment,
            summary: "the enrolment state is damaged",
            cause: "The file was not written in one step, and the app or the phone stopped halfway.",
            fix: """
                Write the file atomically. Keys are kept; every account registers under a new device id. The provider
                should forget the old one when APNs refuses its token, or when that token arrives with another id.
                """,
            shown: "Perhaps the same notification twice, the second time without sound, until the old id is gone."),
        Explanation(
            EnrolmentObstacle.unreadableCode, .enrolment,
            summary: "the enrolment state cannot be read now",
            cause: """
                The phone has not been unlocked since it started, or it is locked and the file has the protection
                complete.
                """,
            fix: """
                Give the file the keys' protection, completeUntilFirstUserAuthentication. The next launch tries again.
                """,
            shown: nothingDone),
        Explanation(
            EnrolmentPlan.Notice.senderReplaced, .enrolment,
            summary: "the pinned sender key was not built into the app, and a built-in one replaced it",
            cause: """
                The app has a built-in key for the first time, or a new one after a theft. Otherwise someone answered the
                phone's first registration instead of the provider.
                """,
            fix: "None needed after such a release. If there was none, find out who controlled the channel.",
            shown: "Messages of the old key do not open any more."),
        Explanation(
            EnrolmentPlan.Notice.alertsOff, .enrolment,
            summary: "the user does not let the app show alerts",
            cause: "The permission was never given, or was withdrawn in the settings.",
            fix: "Say in the app what is missed. The registration stays, for when they are on again.",
            shown: "Nothing. The system does not start the service extension."),
    ]

    /// Why a launch registers again.
    private static let registrationReasons = [
        Explanation(
            EnrolmentPlan.Reason.keysLost, .enrolment,
            summary: "the keys are gone, but the enrolment state is there",
            cause: "The app came from another phone's backup. Keys stay on the phone that made them.",
            fix: "None needed: a new key is made and registered under a new device id.",
            shown: "What was sealed to the other phone does not open here."),
        Explanation(
            EnrolmentPlan.Reason.keyIsOld, .enrolment,
            summary: "the device key is older than the app's policy allows",
            cause: "It was made 30 days ago, or as many as the app sets.",
            fix: "None needed: a new one is registered. The old one opens for another 31 days."),
        Explanation(
            EnrolmentPlan.Reason.keyNotAcknowledged, .enrolment,
            summary: "the provider has not acknowledged the phone's current key",
            cause: "The record or its reply was lost, or the app was stopped before it could save the reply.",
            fix: "None needed: the same key is registered again. It opens already."),
        Explanation(
            EnrolmentPlan.Reason.senderChanged, .enrolment,
            summary: "the phone trusts another sender key than it last reported",
            cause: "The first reply brought the key, the provider rotated it, or the app replaced it.",
            fix: "None needed: the record reports it, and the provider stops announcing the rotation to this phone."),
        Explanation(
            EnrolmentPlan.Reason.tokenChanged, .enrolment,
            summary: "APNs has given another device token",
            cause: "The system was updated or restored, or notifications were turned off and on.",
            fix: "Send the new token with the record. Until then the provider's pushes reach nobody.",
            shown: "No notification, until the provider has the token."),
        Explanation(
            EnrolmentPlan.Reason.appVersionChanged, .enrolment,
            summary: "another version of the app runs",
            cause: "The app was updated or downgraded.",
            fix: "None needed: the record reports it."),
        Explanation(
            EnrolmentPlan.Reason.alertsChanged, .enrolment,
            summary: "the user has turned alerts on or off",
            cause: "It was done in the settings.",
            fix: "Tell the provider beside the record, if it makes a difference there.",
            shown: "Notifications from now on, or none."),
        Explanation(
            EnrolmentPlan.Reason.timePassed, .enrolment,
            summary: "a day has passed since the provider acknowledged the record",
            cause: "Nothing has changed, but the provider may have lost the record, and gets it again.",
            fix: "None needed."),
    ]

    private static let nothingDone = "Nothing. The app gets the code, and does nothing at this launch."
}
