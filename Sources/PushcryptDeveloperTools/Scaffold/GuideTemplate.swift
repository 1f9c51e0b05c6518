internal import PushcryptCommandKit

extension IOSScaffold {
    /// The guide for the developer.
    var guide: ScaffoldFile {
        var text = #"""
            # Encrypted notifications of \#(topic)

            Written by `pushcrypt scaffold ios`. Change only the places marked `EDIT`:

                grep -rn EDIT App\#(hasContentExtension ? " NotificationContent" : "")

            | | |
            |---|---|
            | `NotificationService/` | the service extension, which opens each push before it is shown |

            """#
        if hasContentExtension {
            text += #"""
                | `NotificationContent/` | the content extension: the view of an expanded notification of the categories \#(Self.cell(categories.joined(separator: ", "))) |

                """#
        }
        text += #"""
            | `\#(Self.projectName).xcodeproj` | the project: app, extension\#(hasContentExtension ? "s" : "") and tests |
            | `App/NotificationsApp.swift` | **to be replaced** by your app |
            | `App/PushDelegate.swift` | the launch: permission, push token |
            | `App/Push.swift` | **to be filled in**: who is logged in, and the way to the app's server |
            | `App/NotificationResponses.swift` | **to be filled in**: the effect of a tap |

            """#
        if !categories.isEmpty {
            text += """
                | `App/NotificationCategories.swift` | the categories that the app declares |

                """
        }
        text += #"""
            | `App/Localizable.xcstrings` | the texts for a push that did not open, in \#(StringTable.all.count) languages; the keys are the English words |
            | `Tests/` | whether the built app has what its extension needs |
            | `Linux/` | tests from the first launch to the first message, on a simulated phone |

            ## Without a phone

            On Linux, in the folder `Linux`, with Swift 6.2 or later:

                swift test

            compiles these sources against stand-ins for Apple's modules, registers a phone with a provider, and sends it
            pushes. `Package.swift` there looks for pushcrypt in
            `\#(packageFromLinux)`.

            ## In Xcode

            Xcode 26 or later. Open `\#(Self.projectName).xcodeproj`; it looks for pushcrypt in `\#(projectPackage)`. Set your team
            (`DEVELOPMENT_TEAM` of the project), and replace `NotificationsApp.swift` by your app. Xcode's automatic signing
            creates the app group `\#(appGroup)` and the other capabilities.

            Run the tests (Product > Test), then look at what the extension links:

                otool -L App.app/PlugIns/NotificationService.appex/NotificationService

            A library with `@rpath` that is not in `App.app/Frameworks` stops the extension before its first line: the
            placeholder for ever, and an empty journal. `libswiftCompatibilitySpan.dylib`, if another package needs it, is such a
            library below iOS 26.

            To add the extension to another app instead: `pushcrypt scaffold ios … --into FOLDER` writes it, and the steps.
            `pushcrypt lint --ios FOLDER` checks the whole project.

            ## On the server

            The app sends a registration record. The server stores it for the logged-in user, seals with it, and answers:

                pushcrypt device add ID record.json --user USER --reply

            `ID` is the record's `device`; `USER` comes from the session, never from what the app sends. After a log-out the app sends a
            withdrawal, which needs no session: `pushcrypt device remove --withdrawal -`.

            \#(trustParagraph)

            ## What was tested

            These sources were compiled and run on Linux, with the stand-ins, as Swift 6. They also compile as Swift 5, and with the
            main actor as the default isolation, and typecheck for iOS 15. Nothing was opened in Xcode or run on an Apple
            system: project, Keychain, app groups, signing and the system's start of the extension are first tested on your
            device. `pushcrypt device test ID` creates a first push.

            """#
        return ScaffoldFile(path: "README.md", text: text)
    }

    /// A text in a table, where a bar ends the cell.
    private static func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }

    /// The steps for a project that exists.
    var guideForProject: ScaffoldFile {
        let keychain =
            usesAppGroupAsKeychainGroup
            ? "The keys are in the app group: no Keychain Sharing is needed."
            : """
            Keychain Sharing with `\(keychainGroup)`. In the app,
               put its own group `\(topic)` first: the first one gets what other libraries store.
            """
        var last = 8
        var text = #"""
            # Adding encrypted notifications to a project

            Written by `pushcrypt scaffold ios --into`. Nothing else was changed.

            **Do you have a service extension already?** An app has only one. Keep yours, take over the settings of
            `NotificationService.swift` here, and leave out steps 2 and 3. Then either make its class a subclass of
            `EncryptedNotificationService`, or hand its pushes on:

            ```swift
            // `opening`: a static property with the settings of `NotificationService.swift`.
            private let opener = NotificationServiceHandler(configuration: NotificationService.opening)

            override func didReceive(
                _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
            ) {
                guard request.content.userInfo["ENCRYPTED_DATA"] == nil else {
                    return opener.handle(request, contentHandler: contentHandler)
                }
                // What you do today.
            }

            override func serviceExtensionTimeWillExpire() { opener.timeWillExpire() }
            ```

            \#(clearParagraph)

            In Xcode 26 or later:

            1. File > Add Package Dependencies > Add Local: your copy of pushcrypt.
            2. File > New > Target > Notification Service Extension, called `NotificationService`, embedded in the app, iOS 15.0
               or later. Move to the trash what Xcode created in its folder, and put these files there. Xcode must not copy
               `Info.plist` as a resource: Target Membership off.
            3. Build settings of the extension: `INFOPLIST_FILE` = `NotificationService/Info.plist`, `CODE_SIGN_ENTITLEMENTS` =
               `NotificationService/NotificationService.entitlements`; `LD_RUNPATH_SEARCH_PATHS` with
               `@executable_path/../../Frameworks`. Remove `MARKETING_VERSION` and `CURRENT_PROJECT_VERSION` from the targets,
               and set them in the project, so that app and extension agree.
            4. App and extension: link `PushcryptApp`. App: add the folder `Pushcrypt`.
            5. App, Signing & Capabilities: Push Notifications; App Groups with `\#(appGroup)`. \#(keychain)
               In its Info.plist: `PushcryptKeychainGroup` = `\#(accessGroup)`.
            6. `Pushcrypt/Push.swift`: fill in what is marked `EDIT`. Call `Push.update(deviceToken)` with each token, and
               `Push.accounts.logOut(user)` at a log-out.
            7. At launch: `UNUserNotificationCenter.current().delegate = Push.responder`, or forward both methods of your own
               delegate to it. `Pushcrypt/NotificationResponses.swift` says what a tap does.
            8. Your string catalogue: the key `(Encrypted)`, in every language.

            """#
        if hasCommunication {
            last += 1
            text += """
                \(last). App: the capability Communication Notifications, and in its Info.plist `NSUserActivityTypes` with
                   `INSendMessageIntent`. Without them the notification has no face, and there is no error.

                """
        }
        if hasContentExtension {
            last += 1
            text += """
                \(last). The same as 2 to 4 with Notification Content Extension, called `NotificationContent`, without its storyboard.

                """
        }
        text += #"""

            Then `pushcrypt lint --ios FOLDER` checks the project, and `pushcrypt scaffold ios` without `--into` writes a whole
            app to compare with: delegate and tests.

            """#
        return ScaffoldFile(path: "PUSHCRYPT.md", text: text)
    }

    private var clearParagraph: String {
        if let passesClearUntil {
            """
            Until \(passesClearUntil), pushes that are not sealed are shown as they are. Let every server seal before; from then on
            they are masked.
            """
        } else {
            """
            **Pushes that are not sealed are masked as `(Encrypted)`**, from the day of the update, if they have `mutable-content`.
            """
        }
    }

    private var trustParagraph: String {
        if provider != nil {
            """
            The provider key is built into the app, in `Push.swift`. When the server changes its signing key, nothing has
            to be done: each message brings the certificate. Another provider key comes with a new version of the app: first with
            both, so that no phone misses a push.
            """
        } else {
            """
            Each account trusts the provider key in its first reply, and from then on no other. To build it into the app instead,
            run `pushcrypt scaffold ios` with `--provider FILE`: the record that `pushcrypt key show --json` writes.
            """
        }
    }
}
