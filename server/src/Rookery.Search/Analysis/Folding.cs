using System.Text;

namespace Rookery.Search.Analysis;

/// <summary>The differences between letters that are ignored.</summary>
internal enum Folding : byte
{
    /// <summary>None.</summary>
    None,

    /// <summary>Case.</summary>
    Case,

    /// <summary>Case and marks such as accents: <c>É</c> becomes <c>e</c>, <c>ß</c> becomes <c>ss</c>.</summary>
    CaseAndMarks,
}

/// <summary>Folds letters, independent of culture.</summary>
internal static class LetterFolding
{
    /// <summary>Maximum bytes of one folded character.</summary>
    internal const int MaxBytes = 8;

    /// <summary>Folds the first character of a text.</summary>
    /// <param name="text">The text in UTF-8, not empty. Invalid bytes become U+FFFD.</param>
    /// <param name="folding">The folding.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/>.</param>
    /// <param name="bytesRead">Bytes of the character in the text.</param>
    /// <returns>Bytes written; 0 for a mark that is removed.</returns>
    internal static int FoldFirst(ReadOnlySpan<byte> text, Folding folding, Span<byte> destination, out int bytesRead)
    {
        Rune.DecodeFromUtf8(text, out var rune, out bytesRead);
        if (folding is Folding.None)
        {
            return rune.EncodeToUtf8(destination);
        }

        bool isApostrophe = rune.Value is 0x2019 or 0xFF07; // typographic or full-width
        rune = isApostrophe ? new Rune('\'') : Rune.ToLowerInvariant(rune);
        if (folding is Folding.CaseAndMarks)
        {
            int letter = rune.Value;
            if (IsMark(letter))
            {
                return 0;
            }

            var folded = FoldingTable.Find(letter);
            if (!folded.IsEmpty)
            {
                folded.CopyTo(destination);
                return folded.Length;
            }

            rune = new Rune(Narrow(letter));
        }

        return rune.EncodeToUtf8(destination);
    }

    /// <summary>Folds a whole short text into a new array.</summary>
    internal static byte[] Fold(ReadOnlySpan<byte> text, Folding folding)
    {
        var folded = new byte[text.Length * MaxBytes];
        int length = 0;
        while (!text.IsEmpty)
        {
            length += FoldFirst(text, folding, folded.AsSpan(length), out int bytesRead);
            text = text[bytesRead..];
        }

        return folded[..length];
    }

    /// <summary>
    /// Returns whether a character is a mark that folding removes: combining accents, Hebrew points, Arabic vowel signs
    /// and tatweel, variation selectors, soft hyphens, zero-width joiners and non-joiners. Vowels of Indian scripts are
    /// marks, too, but are kept.
    /// </summary>
    private static bool IsMark(int character) =>
        character
            is >= 0x300
                and <= 0x36F
                or >= 0x1AB0
                and <= 0x1AFF
                or >= 0x1DC0
                and <= 0x1DFF
                or >= 0x20D0
                and <= 0x20FF
                or >= 0xFE20
                and <= 0xFE2F
                or >= 0x591
                and <= 0x5BD
                or 0x5BF
                or 0x5C1
                or 0x5C2
                or 0x5C4
                or 0x5C5
                or 0x5C7
                or 0x640
                or >= 0x64B
                and <= 0x65F
                or 0x670
                or >= 0xFE00
                and <= 0xFE0F
                or 0xAD
                or 0x200C
                or 0x200D;

    /// <summary>Converts full-width letters and digits to ASCII.</summary>
    private static int Narrow(int character) =>
        character is >= 0xFF10 and <= 0xFF19 or >= 0xFF41 and <= 0xFF5A ? character - 0xFEE0 : character;
}
