namespace Rookery.Queries.FullText;

/// <summary>A token of a phrase with its positions in one document.</summary>
/// <param name="positions">The positions, ascending.</param>
/// <param name="offset">Position in the phrase, relative to the first token.</param>
/// <param name="term">The number of the token. Words of the phrase with equal numbers are the same token and need
/// different positions.</param>
public struct PhraseWord(ReadOnlyMemory<int> positions, int offset, int term)
{
    /// <summary>Position in the phrase, relative to the first token.</summary>
    public readonly int Offset => offset;

    /// <summary>The number of the token.</summary>
    public readonly int Term => term;

    /// <summary>The positions of the token in the document.</summary>
    public readonly ReadOnlySpan<int> Positions => positions.Span;

    /// <summary>Index of the first position not passed yet. Used by the matcher only.</summary>
    internal int Cursor;

    /// <summary>Index of the previous word with the same token; -1 if none. Used by the matcher only.</summary>
    internal int PreviousEqual;
}

/// <summary>Counts the occurrences of a phrase in a document. Reads each word's positions once.</summary>
public static class PhraseMatcher
{
    /// <summary>
    /// Returns the number of occurrences; 0 if there is none. With a slop, these are the start positions <c>s</c> from
    /// which every word can be placed at <c>s + offset</c> or up to <paramref name="slop"/> positions later, no
    /// position is used twice for the same token, and at least one word is exactly at its <c>s + offset</c>. As in
    /// Lucene, an occurrence whose words are up to <c>d</c> positions away counts as <c>1 / (1 + d)</c>.
    /// </summary>
    /// <param name="words">The words of the phrase, sorted by offset. Their cursors are changed.</param>
    /// <param name="slop">Maximum distance of a word from its <c>s + offset</c>, in words.</param>
    public static double Count(Span<PhraseWord> words, int slop) =>
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
            switch (OccursAt(words, position - words[rarest].Offset))
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

    /// <summary>
    /// Returns whether the phrase occurs at a start position; null if it occurs neither there nor later.
    /// </summary>
    private static bool? OccursAt(Span<PhraseWord> words, int start)
    {
        foreach (ref var word in words)
        {
            var positions = word.Positions;
            int position = start + word.Offset;
            Advance(ref word, positions, position);
            if (word.Cursor == positions.Length)
            {
                return null;
            }

            if (positions[word.Cursor] != position)
            {
                return false;
            }
        }

        return true;
    }

    private static double CountSloppy(Span<PhraseWord> words, int slop)
    {
        LinkEqualWords(words);
        double count = 0;
        long start = long.MinValue;
        while (TryFindNextStart(words, start, out long next))
        {
            start = next;
            if (!TryPlace(words, start, slop, out long distance, out bool isExhausted))
            {
                if (isExhausted)
                {
                    break;
                }

                continue;
            }

            count += 1.0 / (1 + distance);
        }

        return count;
    }

    private static void LinkEqualWords(Span<PhraseWord> words)
    {
        for (int index = 0; index < words.Length; index++)
        {
            int previous = index - 1;
            while (previous >= 0 && words[previous].Term != words[index].Term)
            {
                previous--;
            }

            words[index].PreviousEqual = previous;
        }
    }

    /// <summary>
    /// Finds the least start position after <paramref name="after"/> for which at least one word is exactly at
    /// <c>start + Offset</c>. Moves each cursor to the first position at or after <c>start + Offset</c>.
    /// </summary>
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
    /// Assigns to each word the first position at or after <c>start + Offset</c> that no earlier word of the same token
    /// uses. If this greedy assignment fails, no other succeeds. Expects each cursor at the first position at or after
    /// <c>start + Offset</c>, where <see cref="TryFindNextStart"/> leaves it.
    /// </summary>
    private static bool TryPlace(Span<PhraseWord> words, long start, int slop, out long distance, out bool isExhausted)
    {
        distance = 0;
        isExhausted = false;
        Span<int> chosen = stackalloc int[words.Length];
        for (int index = 0; index < words.Length; index++)
        {
            ref var word = ref words[index];
            var positions = word.Positions;
            int at = word.Cursor;
            if (word.PreviousEqual >= 0)
            {
                at = Math.Max(at, chosen[word.PreviousEqual] + 1);
            }

            if (at >= positions.Length)
            {
                isExhausted = true;
                return false;
            }

            distance = Math.Max(distance, positions[at] - (start + word.Offset));
            if (distance > slop)
            {
                return false;
            }

            chosen[index] = at;
        }

        return true;
    }

    private static void Advance(ref PhraseWord word, ReadOnlySpan<int> positions, int minPosition)
    {
        int at = word.Cursor;
        while (at < positions.Length && positions[at] < minPosition)
        {
            at++;
        }

        word.Cursor = at;
    }
}
