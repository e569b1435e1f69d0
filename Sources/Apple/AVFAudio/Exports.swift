/// `AVAudioSession.Devices` is a type of that module.
@_exported import AudioRouting
