namespace Rookery.Queries.FullText;

/// <summary>A token of a phrase with the positions it has in one document.</summary>
/// <param name="positions">Ascending.</param>
/// <param name="offset">Its position behind the phrase's first.</param>
/// <param name="term">Words with the same number are the same token, and stand at different positions.</param>
public struct PhraseWord(ReadOnlyMemory<int> positions, int offset, int term)
{
    /// <summary>Its position behind the phrase's first.</summary>
    public readonly int Offset => offset;

    /// <summary>Which token it is.</summary>
    public readonly int Term => term;

    /// <summary>Its positions.</summary>
    public readonly ReadOnlySpan<int> Positions => positions.Span;

    /// <summary>The first position that is not behind yet. Belongs to the matcher.</summary>
    internal int Cursor;

    /// <summary>The place of the word before it that is the same token, or -1. Belongs to the matcher.</summary>
    internal int Twin;
}

/// <summary>
/// Counts how often a phrase stands in a document. Reads each position once for each word of the phrase.
/// </summary>
public static class PhraseMatcher
{
    /// <summary>
    /// How often it does. With a slop: the number of starting points <c>s</c> at which a word of the phrase stands
    /// (<c>s</c> plus its offset) and from which all can be had, each at
    /// <c>s + offset</c> or up to <paramref name="slop"/> positions later, no position twice for the same token.
    /// </summary>
    /// <param name="words">The phrase, by offset. Used up.</param>
    /// <param name="slop">How far words may be from their places.</param>
    public static int Count(Span<PhraseWord> words, int slop) =>
        slop is 0 ? CountExact(words) : CountSloppy(words, slop);

    private static int CountExact(Span<PhraseWord> words)
    {
        int rarest = 0;
        for (int word = 1; word < words.Length; word++)
        {
            rarest = words[word].Positions.Length < words[rarest].Positions.Length ? word : rarest;
        }

        int count = 0;
        foreach (int position in words[rarest].Positions)
        {
            switch (StandsAt(words, position - words[rarest].Offset))
            {
                case true:
                    count++;
                    break;
                case null:
                    return count;
                default:
                    break;
            }
        }

        return count;
    }

    /// <summary>Whether the phrase stands at a start; null when it stands nowhere from there on.</summary>
    private static bool? StandsAt(Span<PhraseWord> words, int start)
    {
        foreach (ref var word in words)
        {
            var positions = word.Positions;
            int wanted = start + word.Offset;
            Advance(ref word, positions, wanted);
            if (word.Cursor == positions.Length)
            {
                return null;
            }

            if (positions[word.Cursor] != wanted)
            {
                return false;
            }
        }

        return true;
    }

    private static int CountSloppy(Span<PhraseWord> words, int slop)
    {
        FindTwins(words);
        int count = 0;
        long start = long.MinValue;
        while (TryFindNextStart(words, start, out long next))
        {
            start = next;
            if (!TryPlace(words, start, slop, out bool isExhausted))
            {
                if (isExhausted)
                {
                    break;
                }

                continue;
            }

            count++;
        }

        return count;
    }

    private static void FindTwins(Span<PhraseWord> words)
    {
        for (int place = 0; place < words.Length; place++)
        {
            int twin = place - 1;
            while (twin >= 0 && words[twin].Term != words[place].Term)
            {
                twin--;
            }

            words[place].Twin = twin;
        }
    }

    /// <summary>The least start behind <paramref name="after"/> at which a word stands.</summary>
    private static bool TryFindNextStart(Span<PhraseWord> words, long after, out long start)
    {
        start = long.MaxValue;
        foreach (ref var word in words)
        {
            var positions = word.Positions;
            int at = word.Cursor;
            while (at < positions.Length && (long)positions[at] - word.Offset <= after)
            {
                at++;
            }

            word.Cursor = at;
            start = at < positions.Length ? Math.Min(start, (long)positions[at] - word.Offset) : start;
        }

        return start != long.MaxValue;
    }

    /// <summary>
    /// Gives each word the first position from its place on that no earlier word of the same token has. Where this
    /// fails, nothing else would do.
    /// </summary>
    private static bool TryPlace(Span<PhraseWord> words, long start, int slop, out bool isExhausted)
    {
        isExhausted = false;
        Span<int> taken = stackalloc int[words.Length];
        for (int place = 0; place < words.Length; place++)
        {
            ref var word = ref words[place];
            var positions = word.Positions;
            int at = word.Cursor;
            if (word.Twin >= 0)
            {
                at = Math.Max(at, taken[word.Twin] + 1);
            }

            if (at >= positions.Length)
            {
                isExhausted = true;
                return false;
            }

            if (positions[at] > start + word.Offset + slop)
            {
                return false;
            }

            taken[place] = at;
        }

        return true;
    }

    private static void Advance(ref PhraseWord word, ReadOnlySpan<int> positions, int wanted)
    {
        int at = word.Cursor;
        while (at < positions.Length && positions[at] < wanted)
        {
            at++;
        }

        word.Cursor = at;
    }
}
