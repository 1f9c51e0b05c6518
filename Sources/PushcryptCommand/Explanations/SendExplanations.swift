internal import Pushcrypt

// Codes of messages on their way to APNs.

extension Explanation {
    static let sending = [
        Explanation(
            SendCode.unregistered, .sending,
            summary: "the device token is no longer valid, or a relay's grant has ended",
            cause:
                "The app was deleted, or has registered again and has another token; the phone has left, or has not renewed its grant.",
            fix: "Give the answers to 'pushcrypt device remove --from-apns-410'."),
        Explanation(
            SendCode.loginRefused, .sending,
            summary: "APNs does not accept the key or the certificate",
            cause:
                "Key, key id and team do not belong together, the key was revoked, or the certificate has expired. Several processes make provider tokens of one key. --relay is not the relay's origin.",
            fix:
                "Compare key id and team with the developer account, and let all processes name one --provider-token-file. Then send the line again."
        ),
        Explanation(
            SendCode.wrongAddress, .sending,
            summary: "device token, topic, environment and key do not go together",
            cause:
                "A build from Xcode has a token of development. A topic is the app's, and a key may be for other topics. A relay's grant is for another push key.",
            fix: "Send it to the environment of the build, with the topic of the app that registered."),
        Explanation(
            SendCode.requestRefused, .sending,
            summary: "APNs refuses the request",
            fix: "Fix what APNs' reason names, or give the message up: it is refused again."),
        Explanation(
            SendCode.notSealed, .sending,
            summary: "the payload has nothing encrypted",
            cause: "It was not given to 'pushcrypt seal', or something else has changed it since.",
            fix:
                "Seal it with --emit request. A line with \"unencrypted\":true is sent as it is; 'seal --unencrypted pass' writes it."
        ),
        Explanation(
            SendCode.tooLate, .sending,
            summary: "the message's expiration has come",
            cause: "It waited too long before 'send', or APNs did not accept it in time."),
        Explanation(
            SendCode.apnsBusy, .sending,
            summary: "APNs did not accept the message in the time for retries",
            fix: "Send the line again later."),
        Explanation(
            SendCode.noAnswer, .sending,
            summary: "it is not known whether APNs has the message",
            cause: "The connection ended after the request was sent, or the answer took too long.",
            fix:
                "Send the line again: a phone rings once for both copies. Of what is not encrypted, it may ring twice."),
        Explanation(
            SendCode.unreachable, .sending,
            summary: "there was no connection to APNs",
            fix: "Fix network, proxy or certificates as the message says, and send the line again."),
        Explanation(
            SendCode.onHold, .sending,
            summary:
                "the message was not tried, because APNs refuses every message of its topic, or the login",
            cause:
                "After twenty refusals in a row one message at a time is tried, and the others wait until their time for retries ends.",
            fix: "Fix what the message says, and send the line again."),
        Explanation(
            SendCode.notTried, .sending,
            summary: "the time for retries ended before the message could be sent",
            cause: "APNs is busy or slow, or --rate is low.",
            fix: "Send the line again, or allow more with --retry-for."),
        Explanation(
            SendCode.notSent, .sending,
            summary: "the run ended before the message was sent",
            fix: "Send the line again."),
    ]
}
