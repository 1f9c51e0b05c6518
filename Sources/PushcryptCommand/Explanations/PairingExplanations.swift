internal import Pushcrypt

// Codes of pairing a phone with a server.

extension Explanation {
    static let pairing = [
        Explanation(
            PairingError.Code.malformedCode, .pairing,
            summary: "not a pairing code, or one with an address that no phone may post to",
            cause:
                "It was not scanned whole, or its address is http outside a private network, or has a user or a fragment.",
            fix: "Make the code with an https address, and scan it with the app."),
        Explanation(
            PairingError.Code.unknown, .pairing,
            summary: "no open code belongs to the request",
            cause:
                "The code is older than 10 minutes, the store is another one, or the app, the address or the provider key differ from the code's.",
            fix: "Answer with status 404, and make another code."),
        Explanation(
            PairingError.Code.badReply, .pairing,
            summary: "the server's reply does not open",
            cause: "A proxy or somebody else has changed it, or it is the reply to another request.",
            fix: "Post the same request again, or scan another code."),
        Explanation(
            PairingError.Code.wrongProvider, .pairing,
            summary: "the reply names another provider key than the code",
            fix: "Check that one server makes the codes and answers the requests, then scan another code."),
        Explanation(
            RegistrationReply.Refusal.pairingUsed, .pairing,
            summary: "another phone has paired with this code",
            cause: "The code was shown to two people, or the phone has made another key since it paired.",
            fix: "If the phone that paired is not its user's, remove that device. Scan another code."),
    ]
}
