/// Exported since it defines `AVAudioSession.Devices`.
@_exported import AudioRouting
