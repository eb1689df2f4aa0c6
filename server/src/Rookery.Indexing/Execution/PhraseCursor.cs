using Rookery.Indexing.Analysis;
using Rookery.Indexing.Segments;

namespace Rookery.Indexing.Execution;

/// <summary>Entries in which the words of a phrase stand in their places.</summary>
internal sealed class PhraseCursor : EntryCursor
{
    private readonly PhraseClause phrase;
    private readonly (int Term, PostingsCursor Postings)[] terms;
    private readonly AndCursor all;
    private readonly int[][] positions;
    private readonly PhraseWord[] words;
    private readonly int[] termOfWord;
    private readonly int[] counts;

    /// <summary>A phrase.</summary>
    /// <param name="phrase">The phrase.</param>
    /// <param name="terms">Each of its tokens once, none of which has begun.</param>
    public PhraseCursor(PhraseClause phrase, IEnumerable<(int Term, PostingsCursor Postings)> terms)
    {
        this.phrase = phrase;
        this.terms = [.. terms];
        all = new AndCursor(this.terms.Select(static term => term.Postings));
        positions = new int[this.terms.Length][];
        Array.Fill(positions, []);
        words = new PhraseWord[phrase.Words.Count];
        termOfWord = [.. phrase.Words.Select(word => Array.FindIndex(this.terms, one => one.Term == word.Term))];
        counts = new int[this.terms.Length];
    }

    /// <inheritdoc/>
    public override long Cost => all.Cost;

    /// <summary>How often the phrase stands in <see cref="EntryCursor.Current"/>.</summary>
    public int Frequency { get; private set; }

    /// <inheritdoc/>
    public override int MoveNext() => Find(all.MoveNext());

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : Find(all.Advance(target));

    private int Find(int entry)
    {
        while (entry != End && !Stands())
        {
            entry = all.MoveNext();
        }

        return Current = entry;
    }

    private bool Stands()
    {
        for (int i = 0; i < terms.Length; i++)
        {
            counts[i] = terms[i].Postings.ReadPositions(ref positions[i]);
        }

        for (int i = 0; i < words.Length; i++)
        {
            var word = phrase.Words[i];
            int term = termOfWord[i];
            words[i] = new PhraseWord(positions[term].AsMemory(0, counts[term]), word.Offset, word.Term);
        }

        Frequency = PhraseMatcher.Count(words, phrase.Slop);
        return Frequency > 0;
    }
}
