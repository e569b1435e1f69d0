/// 256 words that differ when they are read aloud: one for each byte.
///
/// They are short, none is one letter from another, and their order never changes: both sides of a
/// call, of whichever release, have to show the same.
enum WordList {
  static let words: [String] = """
    acorn adult album amber angel ankle apple apron arrow atlas autumn badge baker bamboo banjo
    barrel basket beacon beaver beetle bench bishop blanket bonus bottle bridge bronze brush
    bucket buffalo butter cabin cactus camera candle canyon carbon carpet castle cedar cello chalk
    cherry chimney cinema circus cliff clover cobalt comedy comet copper coral cousin cradle
    cricket crown dagger dancer desert diamond dinner doctor dolphin domino dragon drawer drummer
    dust eagle earth echo elbow engine envoy evening fabric falcon farmer feather ferry fiddle
    flame flute forest fossil fountain freight galaxy garden garlic gentle giant ginger glacier
    glove goblet gravel guitar gypsum hammer harbour hazel hedge helmet heron hobby honey hotel
    hunter iceberg igloo indigo insect island ivory jacket jaguar jelly jigsaw jockey jungle
    juniper kayak kettle kidney kitchen kiwi knight ladder lagoon lantern laser lawyer lemon
    leopard letter library lily lizard lobster lunar magnet mango maple marble market meadow melon
    meteor mirror monkey mosaic motor muffin museum mustard napkin nectar needle nickel nomad
    north novel nugget oasis ocean office olive onion opera orbit orchid otter oven oyster palace
    panda paper parrot pebble pencil pepper piano pigeon pillow planet pocket poem potato prism
    puzzle pyramid quarry quartz queen quiver rabbit radio raisin raven ribbon river robin rubber
    ruby saddle salmon sandal satin scarf seven shadow shovel silver sister sketch spider sponge
    squirrel statue summer swan syrup table tailor teapot temple thimble thunder ticket tiger
    tomato tractor trumpet tulip tunnel turtle umbrella uncle unicorn valley vanilla velvet
    village violin volcano wagon walnut whistle window winter yacht yogurt zebra zipper
    """
    .split(whereSeparator: \.isWhitespace).map(String.init)

  /// The words of some bytes.
  static func words(for bytes: some Sequence<UInt8>) -> [String] {
    bytes.map { words[Int($0)] }
  }
}
