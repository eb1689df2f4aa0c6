using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// What <c>search(field, terms)</c> looks for, analyzed as the field was. Immutable. Made by <see cref="SearchTerms"/>.
/// </summary>
public sealed class SearchQuery
{
    internal SearchQuery(Analyzer analyzer, byte[][] terms, SearchClause[] clauses, bool needsAll)
    {
        Analyzer = analyzer;
        Terms = terms;
        Clauses = clauses;
        NeedsAll = needsAll;
    }

    /// <summary>What the field's texts are analyzed with, too.</summary>
    public Analyzer Analyzer { get; }

    /// <summary>
    /// All tokens that are looked for, each once, as they stand in an index. Clauses name them by their place here.
    /// </summary>
    public IReadOnlyList<byte[]> Terms { get; }

    /// <summary>What must be found. Without any, nothing is.</summary>
    public IReadOnlyList<SearchClause> Clauses { get; }

    /// <summary>Whether each clause must be found; one of them otherwise.</summary>
    public bool NeedsAll { get; }
}

/// <summary>A part of a search.</summary>
public abstract record SearchClause;

/// <summary>One token.</summary>
/// <param name="Term">Its place among <see cref="SearchQuery.Terms"/>.</param>
public sealed record TermClause(int Term) : SearchClause;

/// <summary>Several tokens, each at its place: a phrase, or a word that is several tokens.</summary>
/// <param name="Words">At least two, by their offsets.</param>
/// <param name="Slop">How far the tokens may be from their places, in words: 0 for a phrase, more for
/// <c>proximity()</c>.</param>
public sealed record PhraseClause(IReadOnlyList<PhraseTerm> Words, int Slop) : SearchClause;

/// <summary>A token of a phrase.</summary>
/// <param name="Term">Its place among <see cref="SearchQuery.Terms"/>.</param>
/// <param name="Offset">Its position behind the phrase's first.</param>
public readonly record struct PhraseTerm(int Term, int Offset);

/// <summary>Any token that a pattern matches. Scores 1, however often and whichever.</summary>
/// <param name="Pattern">The pattern.</param>
public sealed record WildcardClause(TokenPattern Pattern) : SearchClause;
