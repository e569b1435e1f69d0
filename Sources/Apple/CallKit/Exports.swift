@_exported import AVFoundation
@_exported import Foundation
@_exported import FoundationAdditions
