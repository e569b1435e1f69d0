/// Format of a sound file.
public struct AVFileType: RawRepresentable, Hashable, Sendable {
  /// Uniform type identifier.
  public let rawValue: String

  /// Creates a format from its uniform type identifier.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// WAVE.
  public static let wav = AVFileType(rawValue: "com.microsoft.waveform-audio")
  /// Core Audio Format.
  public static let caf = AVFileType(rawValue: "com.apple.coreaudio-format")
  /// AIFF.
  public static let aiff = AVFileType(rawValue: "public.aiff-audio")
  /// AIFF, compressed.
  public static let aifc = AVFileType(rawValue: "public.aifc-audio")
  /// Sun's format.
  public static let au = AVFileType(rawValue: "public.au-audio")
  /// MPEG layer 3.
  public static let mp3 = AVFileType(rawValue: "public.mp3")
  /// MPEG-4 with sound alone.
  public static let m4a = AVFileType(rawValue: "com.apple.m4a-audio")
  /// Adaptive Multi-Rate.
  public static let amr = AVFileType(rawValue: "org.3gpp.adaptive-multi-rate-audio")
  /// Dolby Digital.
  public static let ac3 = AVFileType(rawValue: "public.ac3-audio")
}
