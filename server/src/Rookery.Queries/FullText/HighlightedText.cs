using System.Text;

namespace Rookery.Queries.FullText;

/// <summary>Copies fragments of texts, around the found words.</summary>
internal static class HighlightedText
{
    // A fragment begins before its first found word. About a quarter of its other text stands before that word.
    private const int BeforeDivisor = 4;

    /// <summary>Returns the fragments of a text.</summary>
    /// <param name="utf8">The text in UTF-8.</param>
    /// <param name="foundWords">The words to mark.</param>
    /// <param name="length">Approximate characters of a fragment, without marks. The ends are moved so that no word is
    /// split.</param>
    /// <param name="max">Maximum number of fragments.</param>
    /// <param name="before">The tags that are written before found words. <see cref="FoundWord.Kind"/>, modulo the
    /// number of tags, selects the tag.</param>
    /// <param name="after">The tags that are written after found words, selected in the same way.</param>
    public static List<string> FindFragments(
        ReadOnlySpan<byte> utf8,
        IEnumerable<FoundWord> foundWords,
        int length,
        int max,
        string[] before,
        string[] after
    )
    {
        string text = Encoding.UTF8.GetString(utf8);
        var words = InCharacters(utf8, foundWords);
        var pieces = new List<string>();
        int end = 0;
        for (int next = 0; next < words.Count && pieces.Count < max; )
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
                    .Append(after[word.Kind % after.Length]);
                at = word.Start + word.Length;
            }

            pieces.Add(piece.Append(text, at, end - at).ToString());
        }

        return pieces;
    }

    /// <summary>Converts the words' positions from bytes to characters, and removes overlapping words.</summary>
    private static List<FoundWord> InCharacters(ReadOnlySpan<byte> utf8, IEnumerable<FoundWord> foundWords)
    {
        var words = new List<FoundWord>();
        int bytes = 0;
        int characters = 0;
        foreach (var word in foundWords.OrderBy(static word => word.Start).ThenByDescending(static word => word.Length))
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

    /// <summary>
    /// Returns the start of a fragment: a little before its first word, after the previous fragment, and at the
    /// beginning of a word.
    /// </summary>
    private static int StartOf(string text, FoundWord first, int from, int length)
    {
        int start = Math.Max(from, first.Start - (Math.Max(0, length - first.Length) / BeforeDivisor));
        bool isInsideWord = start > 0 && !char.IsWhiteSpace(text[start - 1]);
        while (start < first.Start && (isInsideWord || char.IsWhiteSpace(text[start])))
        {
            isInsideWord &= !char.IsWhiteSpace(text[start]);
            start++;
        }

        return start;
    }

    /// <summary>
    /// Returns the end of a fragment: about the wanted position, not within its first word, and at the end of a word.
    /// </summary>
    private static int EndOf(string text, FoundWord first, int about)
    {
        int min = first.Start + first.Length;
        if (about >= text.Length)
        {
            return text.Length;
        }

        int end = Math.Max(min, about);
        while (end > min && !char.IsWhiteSpace(text[end]))
        {
            end--;
        }

        return end;
    }
}
