using System.Globalization;

namespace Rookery.Search.Analysis;

/// <summary>
/// Classes of characters for word boundaries: the Word_Break property of UAX #29, as far as <see cref="WordSegmenter"/>
/// distinguishes it.
/// </summary>
internal enum CharacterClass : byte
{
    /// <summary>Part of no word.</summary>
    Other,

    /// <summary>A letter: ALetter, Hebrew_Letter, and the scripts of South-East Asia.</summary>
    Letter,

    /// <summary>A decimal digit: Numeric.</summary>
    Digit,

    /// <summary>A mark that belongs to the previous character: Extend and Format.</summary>
    Extend,

    /// <summary>The zero-width joiner: like <see cref="Extend"/>, and joins pictures.</summary>
    Joiner,

    /// <summary>Part of a word between two letters: MidLetter.</summary>
    MidLetter,

    /// <summary>Part of a number between two digits: MidNum.</summary>
    MidNumber,

    /// <summary>Both MidLetter and MidNumber: MidNumLet and Single_Quote.</summary>
    MidBoth,

    /// <summary>Joins letters and digits: ExtendNumLet.</summary>
    Connector,

    /// <summary>A word by itself: Han and Hiragana.</summary>
    Ideograph,

    /// <summary>Katakana.</summary>
    Katakana,

    /// <summary>A picture: Extended_Pictographic.</summary>
    Picture,

    /// <summary>Half a flag: Regional_Indicator.</summary>
    FlagLetter,
}

/// <summary>Determines the classes of characters.</summary>
internal static class CharacterClasses
{
    internal const int Count = (int)CharacterClass.FlagLetter + 1;

    // One letter for each character from U+0000: a = Letter, 0 = Digit, m = MidNumber, b = MidBoth, _ = Connector, . =
    // Other.
    private const string AsciiPattern =
        "................................"
        + ".......b....m.b.0000000000.m...."
        + ".aaaaaaaaaaaaaaaaaaaaaaaaaa...._"
        + ".aaaaaaaaaaaaaaaaaaaaaaaaaa.....";

    private static readonly CharacterClass[] Ascii =
    [
        .. AsciiPattern.Select(static mark =>
            mark switch
            {
                'a' => CharacterClass.Letter,
                '0' => CharacterClass.Digit,
                'm' => CharacterClass.MidNumber,
                'b' => CharacterClass.MidBoth,
                '_' => CharacterClass.Connector,
                _ => CharacterClass.Other,
            }
        ),
    ];

    /// <summary>Returns the class of an ASCII character.</summary>
    internal static CharacterClass OfAscii(byte character) => Ascii[character];

    /// <summary>Returns the class of a character outside ASCII.</summary>
    internal static CharacterClass Of(int character) =>
        character switch
        {
            0xB7 or 0x387 or 0x55F or 0x5F4 or 0x2027 or 0xFE13 or 0xFE55 or 0xFF1A => CharacterClass.MidLetter,
            0x2018 or 0x2019 or 0x2024 or 0xFE52 or 0xFF07 or 0xFF0E => CharacterClass.MidBoth,
            0x37E
            or 0x589
            or 0x60C
            or 0x60D
            or 0x66C
            or 0x7F8
            or 0x2044
            or 0xFE10
            or 0xFE14
            or 0xFE50
            or 0xFE54
            or 0xFF0C
            or 0xFF1B => CharacterClass.MidNumber,
            0x200D => CharacterClass.Joiner,
            >= 0x1F1E6 and <= 0x1F1FF => CharacterClass.FlagLetter,
            >= 0x1F3FB and <= 0x1F3FF => CharacterClass.Extend,
            >= 0x30A1
            and <= 0x30FA
            or >= 0x30FC
            and <= 0x30FF
            or >= 0x31F0
            and <= 0x31FF
            or >= 0xFF66
            and <= 0xFF9D
            or >= 0x3031
            and <= 0x3035
            or 0x309B
            or 0x309C
            or 0x30A0 => CharacterClass.Katakana,
            _ => OfCategory(character, CharUnicodeInfo.GetUnicodeCategory(character)),
        };

    private static CharacterClass OfCategory(int character, UnicodeCategory category) =>
        category switch
        {
            UnicodeCategory.OtherLetter when IsIdeograph(character) => CharacterClass.Ideograph,
            UnicodeCategory.OtherLetter
            or UnicodeCategory.UppercaseLetter
            or UnicodeCategory.LowercaseLetter
            or UnicodeCategory.TitlecaseLetter
            or UnicodeCategory.ModifierLetter => CharacterClass.Letter,
            UnicodeCategory.LetterNumber => character is >= 0x3007 and <= 0x3029
                ? CharacterClass.Ideograph
                : CharacterClass.Letter,
            UnicodeCategory.DecimalDigitNumber => CharacterClass.Digit,
            UnicodeCategory.NonSpacingMark or UnicodeCategory.SpacingCombiningMark or UnicodeCategory.EnclosingMark =>
                CharacterClass.Extend,
            UnicodeCategory.Format => character is 0x200B ? CharacterClass.Other : CharacterClass.Extend,
            UnicodeCategory.ConnectorPunctuation => CharacterClass.Connector,
            UnicodeCategory.OtherSymbol or UnicodeCategory.MathSymbol or UnicodeCategory.OtherNotAssigned => IsPicture(
                character
            )
                ? CharacterClass.Picture
                : CharacterClass.Other,
            _ => CharacterClass.Other,
        };

    private static bool IsIdeograph(int character) =>
        character
            is >= 0x3041
                and <= 0x309F
                or >= 0x3400
                and <= 0x4DBF
                or >= 0x4E00
                and <= 0x9FFF
                or >= 0xF900
                and <= 0xFAFF
                or 0x3006
                or 0x1B001
                or 0x1F200
                or >= 0x1B11F
                and <= 0x1B152
                or >= 0x20000
                and <= 0x3FFFD;

    private static bool IsPicture(int character) =>
        character
            is >= 0x1F000
                and <= 0x1FAFF
                or >= 0x2600
                and <= 0x27BF
                or 0x2194
                or 0x2195
                or >= 0x2196
                and <= 0x2199
                or 0x21A9
                or 0x21AA
                or 0x231A
                or 0x231B
                or >= 0x23E9
                and <= 0x23F3
                or >= 0x23F8
                and <= 0x23FA
                or >= 0x25FB
                and <= 0x25FE
                or >= 0x2B05
                and <= 0x2B07
                or 0x2B1B
                or 0x2B1C
                or 0x2B50
                or 0x2B55
                or 0x2934
                or 0x2935
                or 0x3297
                or 0x3299;
}
