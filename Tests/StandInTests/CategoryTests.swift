import Testing
import UserNotifications

@Suite struct CategoryTests {
    @Test func optionsHaveApplesBits() {
        let actions: [UNNotificationActionOptions] = [.authenticationRequired, .destructive, .foreground]
        #expect(actions.map(\.rawValue) == [1, 2, 4])
        let categories: [UNNotificationCategoryOptions] = [
            .customDismissAction, .allowInCarPlay, .hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle,
        ]
        #expect(categories.map(\.rawValue) == [1, 2, 4, 8])
        let presentations: [UNNotificationPresentationOptions] = [.badge, .sound, .alert, .list, .banner]
        #expect(presentations.map(\.rawValue) == [1, 2, 4, 8, 16])
        let authorizations: [UNAuthorizationOptions] = [
            .badge, .sound, .alert, .carPlay, .criticalAlert, .providesAppNotificationSettings, .provisional,
        ]
        #expect(authorizations.map(\.rawValue) == [1, 2, 4, 8, 16, 32, 64])
    }

    @Test func aCategoryWithoutTextsHasEmptyOnes() {
        let category = UNNotificationCategory(identifier: "C", actions: [], intentIdentifiers: [])
        #expect(category.hiddenPreviewsBodyPlaceholder == "" && category.categorySummaryFormat == "")
        let noTexts = UNNotificationCategory(
            identifier: "C", actions: [], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: nil,
            categorySummaryFormat: nil, options: [])
        #expect(noTexts == category)
    }

    @Test func categoriesDifferInAnyProperty() {
        let plain = UNNotificationCategory(identifier: "C", actions: [], intentIdentifiers: [])
        let action = UNNotificationAction(identifier: "A", title: "A")
        let others = [
            UNNotificationCategory(identifier: "c", actions: [], intentIdentifiers: []),
            UNNotificationCategory(identifier: "C", actions: [action], intentIdentifiers: []),
            UNNotificationCategory(identifier: "C", actions: [], intentIdentifiers: ["I"]),
            UNNotificationCategory(identifier: "C", actions: [], intentIdentifiers: [], options: .customDismissAction),
            UNNotificationCategory(
                identifier: "C", actions: [], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: "hidden"),
            UNNotificationCategory(
                identifier: "C", actions: [], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: "",
                categorySummaryFormat: "%u more"),
        ]
        #expect(Set(others + [plain]).count == 7)
    }

    @Test func aTextActionIsNoOrdinaryAction() {
        let ordinary = UNNotificationAction(identifier: "A", title: "A", options: [])
        let text = UNTextInputNotificationAction(identifier: "A", title: "A", options: [])
        let texts = UNTextInputNotificationAction(
            identifier: "A", title: "A", options: [], textInputButtonTitle: "Send", textInputPlaceholder: "Text")
        #expect(ordinary != text && text != ordinary && text != texts)
        #expect(text.textInputButtonTitle == "" && texts.textInputButtonTitle == "Send")
        #expect(texts.textInputPlaceholder == "Text")
    }

    @Test func soundsKnowWhatTheyAre() {
        let name = UNNotificationSoundName(rawValue: "bell.aiff")
        let sounds: [(UNNotificationSound, UNNotificationSoundName?, Bool, Float?)] = [
            (.default, nil, false, nil), (.defaultCritical, nil, true, nil),
            (.defaultCriticalSound(withAudioVolume: 0.5), nil, true, 0.5),
            (UNNotificationSound(named: name), name, false, nil), (.criticalSoundNamed(name), name, true, nil),
            (.criticalSoundNamed(name, withAudioVolume: 1), name, true, 1),
        ]
        for (sound, name, isCritical, volume) in sounds {
            #expect(sound.name == name && sound.isCritical == isCritical && sound.volume == volume)
        }
        #expect(Set(sounds.map { $0.0 }).count == 6)
        #expect(UNNotificationSound.default == UNNotificationSound.default)
    }
}
