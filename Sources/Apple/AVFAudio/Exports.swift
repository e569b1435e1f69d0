/// Exported since it defines `AVAudioSession.Devices`.
@_exported import AudioRouting
@_exported import Foundation
@_exported import FoundationAdditions
