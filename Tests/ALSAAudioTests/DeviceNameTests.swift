import Testing

@testable import ALSAAudio

struct DeviceNameTests {
  @Test(arguments: [
    ("null", DeviceName.null), ("file:/tmp/a b.wav", .file("/tmp/a b.wav")),
    ("file:", .file("")), ("file:file:x", .file("file:x")), ("hw:1,0", .pcm("hw:1,0")),
    ("default", .pcm("default")), ("Null", .pcm("Null")), ("", .pcm("")),
  ])
  func everyNameIsReadAndWrittenBack(text: String, name: DeviceName) {
    #expect(DeviceName(text) == name)
    #expect(name.description == text)
  }
}
