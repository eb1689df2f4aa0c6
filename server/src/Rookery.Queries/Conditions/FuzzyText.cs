using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Conditions;

/// <summary>
/// The text and similarity of <c>fuzzy(field = text, similarity)</c>. As in Lucene 3, two texts are similar if
/// 1 - d / n is above the similarity, where d is their Levenshtein distance and n the number of characters of the
/// shorter text. A text is always similar to itself. Immutable.
/// </summary>
public sealed class FuzzyText
{
    /// <summary>Maximum characters of the text.</summary>
    public const int MaxCharacters = 512;

    /// <summary>
    /// Maximum bytes of a text that is similar to some text of <see cref="MaxCharacters"/> characters or fewer.
    /// </summary>
    public const int MaxSimilarBytesOfAnyText = MaxCharacters * MaxSimilarBytesPerCharacter;

    // A similar text has fewer than twice the characters, each of up to four bytes.
    private const int MaxSimilarBytesPerCharacter = 2 * 4;

    private readonly int[] _characters;
    private readonly double _similarity;

    /// <summary>Creates the text to compare with.</summary>
    /// <param name="text">The text in UTF-8, folded like the texts that it is compared with.</param>
    /// <param name="similarity">The similarity, from 0 to 1.</param>
    /// <param name="position">Its position in the query's text, for errors.</param>
    /// <exception cref="QueryException">The text is too long, or the similarity is out of range.</exception>
    public FuzzyText(ReadOnlySpan<byte> text, double similarity, int position)
    {
        if (similarity is not (>= 0 and <= 1))
        {
            throw new QueryException(QueryFault.Invalid, $"A similarity is from 0 to 1, not {similarity}.", position);
        }

        Span<int> decoded = stackalloc int[MaxCharacters];
        if (!TryDecode(text, decoded, out int length))
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"A text of more than {MaxCharacters} characters cannot be compared by similarity.",
                position
            );
        }

        _characters = decoded[..length].ToArray();
        _similarity = similarity;
    }

    /// <summary>Maximum bytes of a text that is similar to this one.</summary>
    public int MaxSimilarBytes => MaxSimilarBytesPerCharacter * _characters.Length;

    /// <summary>Returns whether a text is similar.</summary>
    /// <param name="text">The other text in UTF-8, folded.</param>
    /// <param name="work">Counts the comparisons of characters against the time limit; null for no limit.</param>
    public bool Matches(ReadOnlySpan<byte> text, ScanWork? work)
    {
        Span<int> other = stackalloc int[2 * MaxCharacters];
        if (text.Length > MaxSimilarBytes || !TryDecode(text, other, out int length))
        {
            return text.IsEmpty && _characters.Length is 0;
        }

        other = other[..length];
        work?.CountBytes(length, _characters.Length);
        int bound = MaxEdits(length);
        return other.SequenceEqual(_characters) || (bound > 0 && EditDistance.IsWithin(_characters, other, bound));
    }

    /// <summary>
    /// Returns the maximum edit distance at which a text of this many characters is similar; -1 if not even a distance
    /// of 0 is.
    /// </summary>
    private int MaxEdits(int length)
    {
        int shorter = Math.Min(length, _characters.Length);
        // Begin one above the estimate, so that the exact comparison below decides, not the rounding of this product.
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
