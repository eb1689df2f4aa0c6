using System.Text;

namespace Rookery.Queries.FullText;

/// <summary>Cuts pieces out of texts around words that were found.</summary>
internal static class HighlightedText
{
    // So much of a piece stands before its first word.
    private const int BeforeFraction = 4;

    /// <summary>Cuts pieces out of a text.</summary>
    /// <param name="utf8">The text.</param>
    /// <param name="found">Words to be marked.</param>
    /// <param name="length">Characters of a piece, marks left out; a little less or more, so that no word is
    /// cut.</param>
    /// <param name="most">Pieces at most.</param>
    /// <param name="before">What stands before a word, by its kind, over and over.</param>
    /// <param name="behind">What stands behind it.</param>
    public static List<string> Cut(
        ReadOnlySpan<byte> utf8,
        IEnumerable<FoundWord> found,
        int length,
        int most,
        string[] before,
        string[] behind
    )
    {
        string text = Encoding.UTF8.GetString(utf8);
        var words = InCharacters(utf8, found);
        var pieces = new List<string>();
        int end = 0;
        for (int next = 0; next < words.Count && pieces.Count < most; )
        {
            int start = StartOf(text, words[next], end, length);
            end = EndOf(text, words[next], start + length);
            var piece = new StringBuilder();
            int at = start;
            for (; next < words.Count && words[next].Start < end; next++)
            {
                var word = words[next];
                end = Math.Max(end, word.Start + word.Length);
                piece
                    .Append(text, at, word.Start - at)
                    .Append(before[word.Kind % before.Length])
                    .Append(text, word.Start, word.Length)
                    .Append(behind[word.Kind % behind.Length]);
                at = word.Start + word.Length;
            }

            pieces.Add(piece.Append(text, at, end - at).ToString());
        }

        return pieces;
    }

    /// <summary>The words by characters, each place once.</summary>
    private static List<FoundWord> InCharacters(ReadOnlySpan<byte> utf8, IEnumerable<FoundWord> found)
    {
        var words = new List<FoundWord>();
        int bytes = 0;
        int characters = 0;
        foreach (var word in found.OrderBy(static word => word.Start).ThenByDescending(static word => word.Length))
        {
            if (word.Start < bytes)
            {
                continue;
            }

            int start = characters + Encoding.UTF8.GetCharCount(utf8[bytes..word.Start]);
            int length = Encoding.UTF8.GetCharCount(utf8.Slice(word.Start, word.Length));
            words.Add(new FoundWord(start, length, word.Kind));
            (bytes, characters) = (word.Start + word.Length, start + length);
        }

        return words;
    }

    /// <summary>A little before the first word, behind the piece before, at the beginning of a word.</summary>
    private static int StartOf(string text, FoundWord first, int from, int length)
    {
        int start = Math.Max(from, first.Start - (Math.Max(0, length - first.Length) / BeforeFraction));
        bool isWithin = start > 0 && !char.IsWhiteSpace(text[start - 1]);
        while (start < first.Start && (isWithin || char.IsWhiteSpace(text[start])))
        {
            isWithin &= !char.IsWhiteSpace(text[start]);
            start++;
        }

        return start;
    }

    /// <summary>About there, but not within the first word, and at the end of a word.</summary>
    private static int EndOf(string text, FoundWord first, int about)
    {
        int least = first.Start + first.Length;
        if (about >= text.Length)
        {
            return text.Length;
        }

        int end = Math.Max(least, about);
        while (end > least && !char.IsWhiteSpace(text[end]))
        {
            end--;
        }

        return end;
    }
}
