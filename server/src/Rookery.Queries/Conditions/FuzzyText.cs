using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Conditions;

/// <summary>
/// <c>fuzzy(field = text, similarity)</c>: texts that are that similar. As in Lucene 3: one minus the Levenshtein
/// distance through the length of the shorter text, in characters, is above the similarity; a text is always similar to
/// itself. Immutable.
/// </summary>
public sealed class FuzzyText
{
    /// <summary>The longest text that is compared so, in characters.</summary>
    public const int LongestCharacters = 512;

    /// <summary>
    /// Bytes that a similar text has at most: it has fewer than twice the characters, of up to four bytes each.
    /// </summary>
    public const int LongestSimilarBytes = 2 * LongestCharacters * 4;

    private readonly int[] _characters;
    private readonly double _similarity;

    /// <summary>A text to be similar to.</summary>
    /// <param name="text">UTF-8, folded as the texts it is compared with.</param>
    /// <param name="similarity">From 0 to 1.</param>
    /// <param name="position">Where it stands in the query, for errors.</param>
    /// <exception cref="QueryException">The text is too long, or the similarity out of its bounds.</exception>
    public FuzzyText(ReadOnlySpan<byte> text, double similarity, int position)
    {
        if (similarity is not (>= 0 and <= 1))
        {
            throw new QueryException(QueryFault.Invalid, $"A similarity is from 0 to 1, not {similarity}.", position);
        }

        Span<int> decoded = stackalloc int[LongestCharacters];
        if (!TryDecode(text, decoded, out int length))
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"A text of more than {LongestCharacters} characters cannot be compared by similarity.",
                position
            );
        }

        _characters = decoded[..length].ToArray();
        _similarity = similarity;
    }

    /// <summary>Bytes that a text similar to this one has at most.</summary>
    public int MostSimilarBytes => 8 * _characters.Length;

    /// <summary>Whether a text is similar.</summary>
    /// <param name="text">UTF-8.</param>
    /// <param name="work">Counts the comparisons of characters; null where nobody waits for them.</param>
    public bool Matches(ReadOnlySpan<byte> text, ScanWork? work)
    {
        // What is similar has at most twice the characters, of four bytes each.
        Span<int> other = stackalloc int[2 * LongestCharacters];
        if (text.Length > MostSimilarBytes || !TryDecode(text, other, out int length))
        {
            return text.IsEmpty && _characters.Length is 0;
        }

        other = other[..length];
        work?.Walk(length, _characters.Length);
        int bound = MostEdits(length);
        return other.SequenceEqual(_characters) || (bound > 0 && EditDistance.IsWithin(_characters, other, bound));
    }

    /// <summary>
    /// The most edits at which a text of so many characters is still similar; -1 when not even none are few enough.
    /// </summary>
    private int MostEdits(int length)
    {
        int shorter = Math.Min(length, _characters.Length);
        int edits = (int)((1 - _similarity) * shorter) + 1;
        while (edits >= 0 && !(1 - ((double)edits / shorter) > _similarity))
        {
            edits--;
        }

        return edits;
    }

    private static bool TryDecode(ReadOnlySpan<byte> text, Span<int> characters, out int length)
    {
        for (length = 0; !text.IsEmpty; length++)
        {
            if (length == characters.Length)
            {
                return false;
            }

            Rune.DecodeFromUtf8(text, out var rune, out int bytes);
            characters[length] = rune.Value;
            text = text[bytes..];
        }

        return true;
    }
}
