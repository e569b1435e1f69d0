import Playout

/// Our playout with one of its mechanisms left out.
struct Ablation {
  /// Name of the mechanism that is left out.
  let name: String
  let mechanisms: PlayoutMechanisms

  private init(_ name: String, _ path: WritableKeyPath<PlayoutMechanisms, Bool>) {
    self.name = name
    var mechanisms = PlayoutMechanisms()
    mechanisms[keyPath: path] = false
    self.mechanisms = mechanisms
  }

  /// One ablation for each mechanism.
  static let each = [
    Ablation("usualPrice", \.usualPrice),
    Ablation("feltDelay", \.feltDelay),
    Ablation("jitterReach", \.jitterReach),
    Ablation("unseenTail", \.unseenTail),
    Ablation("beginning", \.beginning),
    Ablation("bursts", \.bursts),
    Ablation("provedRise", \.provedRise),
    Ablation("longerPackets", \.longerPackets),
    Ablation("latenessKernel", \.latenessKernel),
    Ablation("wholeMemory", \.wholeMemory),
    Ablation("copies", \.copies),
    Ablation("thirdLowest", \.thirdLowest),
    Ablation("steeredLateness", \.steeredLateness),
    Ablation("lateTrim", \.lateTrim),
    Ablation("firstTrim", \.firstTrim),
    Ablation("urgentCut", \.urgentCut),
    Ablation("learnedDrift", \.learnedDrift),
    Ablation("sentenceLimit", \.sentenceLimit),
    Ablation("pauses", \.pauses),
    Ablation("haste", \.haste),
    Ablation("settling", \.settling),
    Ablation("lackFirst", \.lackFirst),
    Ablation("replacement", \.replacement),
    Ablation("repair", \.repair),
    Ablation("pitch", \.pitch),
    Ablation("convergence", \.convergence),
    Ablation("comfortNoise", \.comfortNoise),
    Ablation("loudness", \.loudness),
  ]
}
