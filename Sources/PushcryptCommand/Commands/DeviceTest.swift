internal import Pushcrypt
internal import PushcryptCommandKit

extension Command {
    static let deviceTest = Command(
        "test", "create a test notification for a device",
        about:
            "Seals 'Test notification' exactly as 'seal' does: a phone that shows it opens all others too. Send it with your own APNs client. Standard error says what to look for in the phone's journal.",
        examples: [
            "pushcrypt device test phone1 > push.json",
            Example(
                "pushcrypt device test phone1 --json",
                "with the fingerprint and the headers, for a program that sends it"),
        ]
    ) { a in
        let signer = a.providerName()
        let topic = TopicArgument(&a)
        let text = a.value("--message", "TEXT", help: "the text to show; default what it proves")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        let output = OutputArguments(&a)
        let id = a.operand("ID", help: "the provider's name for the device")
        return { console in
            let source = KeySource.store(try console.open(store), signWith: signer)
            let now = console.timestamp
            let text = text ?? "This device opens what its provider seals."
            var asked = Message(content: Sealer.Message(payload(text, at: now)))
            asked.topic = try topic.topic()
            asked.recipient = try naming("ID", exit: .usage) { try Recipient(named: id) }
            let settings = SealSettings(
                message: asked, form: SealForm(emission: .request), lines: .ids, now: { now })
            let (message, _) = try SealWorker(settings, Keys(source), console).sealOnly(for: id)
            let headers = [PushRequest.Header.pushType, .topic, .priority].compactMap { header in
                message.request.map { (name: header.rawValue, value: $0.value(of: header)) }
            }
            var data = message.json
            if isJSON {
                data = jsonObject { json in
                    message.writeMessage(SealForm(hasFacts: true), to: &json)
                    message.device.address.write(to: &json)
                    json.object(for: "headers") { json in
                        for (name, value) in headers { json.string(value, for: name) }
                    }
                }
            }
            data.append(newline)
            try console.deliver(data.span, to: output)
            console.log("sealed", message.logFields)
            console.hint(
                "send it unchanged, with your APNs client and these headers: "
                    + headers.map { "\($0.name): \($0.value)" }.joined(separator: ", "))
            console.hint(
                "the phone's journal calls it \(message.fingerprint ?? ""); "
                    + "'pushcrypt explain' says what the code there means")
        }
    }
}

/// A payload that the user recognises and that tells only when it was made.
private func payload(_ message: String, at now: Timestamp) -> ContiguousArray<UInt8> {
    jsonObject { json in
        json.object(for: PayloadKeys.aps) { json in
            json.object(for: "alert") { json in
                json.string("Test notification", for: "title")
                json.string(now.description, for: "subtitle")
                json.string(message, for: "body")
            }
            json.string("default", for: "sound")
        }
    }
}
