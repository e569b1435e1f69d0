import Localization
import Testing

struct LocalizationValueTests {
  private static func value(_ value: LocalizationValue) -> LocalizationValue { value }

  @Test func keyHasAPlaceForEachValue() {
    let value = Self.value("Calling \("bob") on line \(2), 5 % done")
    #expect(value.key == "Calling %@ on line %@, 5 %% done")
    #expect(value.arguments == [.plain("bob"), .plain("2")])
    #expect(value.english == "Calling bob on line 2, 5 % done")
  }

  @Test func reasonsInATextAreTextsOfTheirOwn() {
    let value = Self.value("Ended: \(reason: "busy") at \("5 %")")
    let german = ["Ended: %@ at %@": "Ende: %@ um %@", "busy": "besetzt"]
    #expect(value.text { german[$0] ?? $0 } == "Ende: besetzt um 5 %")
    #expect(value.english == "Ended: busy at 5 %")
  }

  @Test func whatNoCatalogueHasStaysAsItIs() {
    for length in [0, 1, 14, 15, 16, 200] {
      let text = String(repeating: "ö%", count: length)
      #expect(String(localizedReason: text) == text)
      #expect(String(localized: "<\(text)> \(length)") == "<\(text)> \(length)")
    }
  }

  @Test(arguments: [
    ("%@ at %@, 5 %%", "bob at home, 5 %"),
    ("%2$@: %1$@", "home: bob"),
    ("nothing", "nothing"),
    ("%@ %@ %@.", "bob home ."),
    ("%9$@%0$@%", ""),
    ("%d%99999999999999999999$@", "d99999999999999999999$@"),
  ])
  func translationSaysWhereTheValuesAre(translated: String, expected: String) {
    let text = Self.value("\("bob") at \("home"), 5 %").text { _ in translated }
    #expect(text == expected)
  }
}
