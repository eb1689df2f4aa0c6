namespace Rookery.Search.Analysis;

/// <summary>
/// Recognises elided French words, which lose their vowel and join the next word: <c>l'amour</c>, <c>qu'il</c>.
/// </summary>
internal static class Elision
{
    /// <summary>
    /// Returns the bytes of an elided word and its apostrophe at the beginning of a lower-case word; 0 if there is
    /// none.
    /// </summary>
    internal static int Measure(ReadOnlySpan<byte> word)
    {
        int length = word.IndexOf((byte)'\'');
        return length > 0 && length + 1 < word.Length && IsElided(word[..length]) ? length + 1 : 0;
    }

    private static bool IsElided(ReadOnlySpan<byte> word) =>
        (word.Length is 1 && "cdjlmnst"u8.Contains(word[0]))
        || word.SequenceEqual("qu"u8)
        || word.SequenceEqual("jusqu"u8)
        || word.SequenceEqual("lorsqu"u8)
        || word.SequenceEqual("puisqu"u8)
        || word.SequenceEqual("quoiqu"u8);
}
