using Rookery.Queries.FullText;
using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>Cursor over the entries that contain a phrase.</summary>
internal sealed class PhraseCursor : EntryCursor
{
    private readonly PhraseClause _phrase;
    private readonly (int Term, PostingsCursor Postings)[] _terms;
    private readonly AndCursor _entriesWithAllTerms;
    private readonly int[][] _positions;
    private readonly PhraseWord[] _words;
    private readonly int[] _termOfWord;
    private readonly int[] _counts;
    private readonly AnswerWork _work;

    /// <summary>Creates a cursor.</summary>
    /// <param name="phrase">The phrase.</param>
    /// <param name="terms">Each distinct term of the phrase's words, with its postings before their first
    /// entry.</param>
    /// <param name="work">The answer's limits, checked while positions are read: one move may pass any number of
    /// entries.</param>
    public PhraseCursor(PhraseClause phrase, IEnumerable<(int Term, PostingsCursor Postings)> terms, AnswerWork work)
    {
        _phrase = phrase;
        _work = work;
        _terms = [.. terms];
        _entriesWithAllTerms = new AndCursor(_terms.Select(static term => term.Postings));
        _positions = new int[_terms.Length][];
        Array.Fill(_positions, []);
        _words = new PhraseWord[phrase.Words.Count];
        _termOfWord = [.. phrase.Words.Select(word => Array.FindIndex(_terms, opened => opened.Term == word.Term))];
        _counts = new int[_terms.Length];
    }

    /// <inheritdoc/>
    public override long Cost => _entriesWithAllTerms.Cost;

    /// <summary>
    /// How often <see cref="EntryCursor.Current"/> contains the phrase: see <see cref="PhraseMatcher.Count"/>.
    /// </summary>
    public double Frequency { get; private set; }

    /// <inheritdoc/>
    public override int MoveNext() => Find(_entriesWithAllTerms.MoveNext());

    /// <inheritdoc/>
    public override int Advance(int target) => target <= Current ? Current : Find(_entriesWithAllTerms.Advance(target));

    private int Find(int entry)
    {
        while (entry != End && !ContainsPhrase())
        {
            entry = _entriesWithAllTerms.MoveNext();
        }

        return Current = entry;
    }

    private bool ContainsPhrase()
    {
        for (int i = 0; i < _terms.Length; i++)
        {
            _counts[i] = _terms[i].Postings.ReadPositions(ref _positions[i]);
            _work.Step(_counts[i]);
        }

        for (int i = 0; i < _words.Length; i++)
        {
            var word = _phrase.Words[i];
            int term = _termOfWord[i];
            _words[i] = new PhraseWord(_positions[term].AsMemory(0, _counts[term]), word.Offset, word.Term);
        }

        Frequency = PhraseMatcher.Count(_words, _phrase.Slop);
        return Frequency > 0;
    }
}
