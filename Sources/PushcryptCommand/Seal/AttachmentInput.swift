internal import Pushcrypt
internal import PushcryptCommandKit

/// The options for sealed files that a message refers to.
struct AttachmentArguments: Sendable {
    let references: [String]
    let urls: [String]
    /// The name of the person that the message is from.
    let fromName: String?
    let avatar: String?

    init(_ arguments: inout Arguments) {
        references = arguments.values(
            "--attachment", "REF", .secret,
            help: "the reference of a sealed file, from 'attach seal': a file, fd:N or -; at most 8")
        urls = arguments.values(
            "--attachment-url", "URL", help: "the sealed file's address, for the next attachment without one")
        fromName = arguments.value(
            "--from-name", "NAME", help: "the person that it is from, whom phones show as they show messages")
        avatar = arguments.value(
            "--avatar", "REF", .secret,
            help: "with --from-name: the reference of the person's sealed picture, with its url")
    }
}

extension Console {
    /// Reads the JSON of a reference, a secret that the sender shares with all recipients of the file.
    func readReference<R>(from source: String, _ read: (AttachmentFields) throws -> R) throws -> R {
        let text = try readSecret(from: source, isShared: true)
        return try naming(inputName(source), exit: .refused) {
            try read(text.withSpan { text in try AttachmentFields(Bytes(copying: text)) })
        }
    }

    /// Reads the references of a payload's attachments. Those without a url receive the urls of `--attachment-url`, in the
    /// order given.
    func read(_ attachments: AttachmentArguments) throws -> [AttachmentReference] {
        var urls = attachments.urls[...]
        for url in urls {
            try naming("--attachment-url", exit: .usage) { try AttachmentRules.check(url: url) }
        }
        var references: [AttachmentReference] = []
        for source in attachments.references {
            let reference = try readReference(from: source) { fields in
                fields.hasURL
                    ? try AttachmentReference(fields)
                    : try urls.popFirst().map { try AttachmentReference(fields, url: $0) }
            }
            guard let reference else {
                throw Failure.usage(
                    "\(inputName(source)) has no url",
                    hint: "store the sealed file, and add --attachment-url with its address")
            }
            references.append(reference)
        }
        guard urls.isEmpty else {
            throw Failure.usage(
                "there are more --attachment-url than attachments without a url",
                hint: "give one for each --attachment that 'attach seal' wrote without --url")
        }
        return references
    }

    /// Reads the person that a message is from, if there is one.
    func readSender(_ arguments: AttachmentArguments) throws -> CommunicationSender? {
        guard let name = arguments.fromName else {
            if arguments.avatar != nil {
                throw Failure.usage("--avatar goes with --from-name", hint: "add --from-name with the person's name")
            }
            return nil
        }
        let avatar = try arguments.avatar.map { try readReference(from: $0) { try AttachmentReference($0) } }
        guard CommunicationSender(name: name) != nil else {
            throw Failure.usage(
                "--from-name is a name of 1 to \(CommunicationSender.maximumLength) bytes without control characters")
        }
        guard let sender = CommunicationSender(name: name, avatar: avatar) else {
            throw Failure.usage(
                "--avatar is not the reference of a JPEG or PNG picture of at most \(CommunicationSender.maximumAvatarSize) sealed bytes"
            )
        }
        return sender
    }
}
