// The engine is used with the configuration and the statistics of its streams.
@_exported public import VoiceStream
