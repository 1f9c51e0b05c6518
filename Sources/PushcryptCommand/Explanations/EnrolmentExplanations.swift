internal import PushcryptReceiver

extension Explanation {
    static let enrolment = enrolmentObstacles + registrationReasons

    /// Why a launch does nothing, or what it should know.
    private static let enrolmentObstacles = [
        Explanation(
            EnrolmentStateError.Code.newerState, .enrolment,
            summary: "a newer version of the app has written the enrolment state",
            cause: "The app was downgraded, for example by a test build.",
            fix: "Update the app again. Neither the state nor a key was touched, and pushes go on opening.",
            shown: nothingDone),
        Explanation(
            EnrolmentStateError.Code.damagedState, .enrolment,
            summary: "the enrolment state is damaged",
            cause: "The file was not written in one step, and the app or the phone stopped in the middle.",
            fix: """
                Write the file atomically. The keys are kept. Every account registers under a new device id, and the provider
                should forget the old one when APNs refuses its token, or when the same token arrives with another id.
                """,
            shown: "Perhaps the same notification twice, the second time without a sound, until the old id is gone."),
        Explanation(
            EnrolmentObstacle.unreadableCode, .enrolment,
            summary: "the enrolment state cannot be read now",
            cause: """
                The phone has not been unlocked since it started, or the file has the protection complete and the phone is
                locked.
                """,
            fix: """
                Nothing: the next launch tries again. Give the file the protection completeUntilFirstUserAuthentication, as
                the keys have it.
                """,
            shown: nothingDone),
        Explanation(
            EnrolmentPlan.Notice.alertsOff, .enrolment,
            summary: "the person does not let the app show alerts",
            cause: "The permission was never given, or was taken back in the settings.",
            fix:
                "Say in the app what is missed without them. Nothing else: the registration stays, for when they are on again.",
            shown: "Nothing. The system does not start the service extension."),
    ]

    /// Why a launch registers again.
    private static let registrationReasons = [
        Explanation(
            EnrolmentPlan.Reason.keysLost, .enrolment,
            summary: "the keys are gone, and the enrolment state is there",
            cause: "The app came to this phone from the backup of another one. Keys stay on the phone that made them.",
            fix: "Nothing: a new key is made and registered under a new device id.",
            shown: "What was sealed to the other phone does not open here."),
        Explanation(
            EnrolmentPlan.Reason.keyIsOld, .enrolment,
            summary: "the device key is older than the app's policy lets it become",
            cause: "30 days have passed since it was made, or as many as the app says.",
            fix:
                "Nothing: another one is made and registered. The old one opens for another 31 days what is under way.",
            shown: unnoticed),
        Explanation(
            EnrolmentPlan.Reason.keyNotAcknowledged, .enrolment,
            summary: "the provider has not acknowledged the key that the phone has now",
            cause: "The record or its reply was lost, or the app was stopped before it could save the reply.",
            fix: "Nothing: the same key is registered again. It opens already.",
            shown: unnoticed),
        Explanation(
            EnrolmentPlan.Reason.senderChanged, .enrolment,
            summary: "the phone believes another sender key than it last reported",
            cause: "The first reply has brought the key, the provider has rotated it, or the app has replaced it.",
            fix: "Nothing: the record says so, and the provider stops announcing the rotation to this phone.",
            shown: unnoticed),
        Explanation(
            EnrolmentPlan.Reason.tokenChanged, .enrolment,
            summary: "APNs has given another device token",
            cause: "The system was updated or restored, or notifications were turned off and on.",
            fix: "Send the new token with the record. Until then the provider pushes to nobody.",
            shown: "No notification, until the provider has the token."),
        Explanation(
            EnrolmentPlan.Reason.appVersionChanged, .enrolment,
            summary: "another version of the app runs",
            cause: "The app was updated or downgraded.",
            fix: "Nothing: the record says so.",
            shown: unnoticed),
        Explanation(
            EnrolmentPlan.Reason.alertsChanged, .enrolment,
            summary: "the person has turned alerts on or off",
            cause: "It was done in the settings.",
            fix: "Tell the provider beside the record, if it makes a difference there.",
            shown: "Notifications from now on, or none."),
        Explanation(
            EnrolmentPlan.Reason.timePassed, .enrolment,
            summary: "a day has passed since the provider acknowledged the record",
            cause: "Nothing has changed on the phone. The provider may have lost the record, and gets it again.",
            fix: "Nothing.",
            shown: unnoticed),
    ]

    private static let nothingDone = "Nobody is shown anything. The app has the code, and does nothing at this launch."

    private static let unnoticed = "Nobody notices anything."
}
