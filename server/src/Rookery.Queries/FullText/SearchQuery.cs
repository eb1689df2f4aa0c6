using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// The compiled terms of <c>search(field, terms)</c>, analyzed as the field is. Immutable. Created by
/// <see cref="SearchTerms"/>.
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

    /// <summary>The analyzer of the field.</summary>
    public Analyzer Analyzer { get; }

    /// <summary>
    /// The distinct tokens to search for, as an index stores them. Clauses refer to them by position.
    /// </summary>
    public IReadOnlyList<byte[]> Terms { get; }

    /// <summary>The clauses of the search. A search without clauses matches nothing.</summary>
    public IReadOnlyList<SearchClause> Clauses { get; }

    /// <summary>Whether every clause must match; otherwise at least one.</summary>
    public bool NeedsAll { get; }
}

/// <summary>A part of a search.</summary>
public abstract record SearchClause;

/// <summary>One token.</summary>
/// <param name="Term">Its position in <see cref="SearchQuery.Terms"/>.</param>
public sealed record TermClause(int Term) : SearchClause;

/// <summary>Several tokens in their places: a phrase, or a word that the analyzer splits.</summary>
/// <param name="Words">The tokens, at least two, sorted by offset.</param>
/// <param name="Slop">Maximum distance of a token from its place, in words: 0 for a phrase, more for
/// <c>proximity()</c>.</param>
public sealed record PhraseClause(IReadOnlyList<PhraseTerm> Words, int Slop) : SearchClause;

/// <summary>A token of a phrase.</summary>
/// <param name="Term">Its position in <see cref="SearchQuery.Terms"/>.</param>
/// <param name="Offset">Its position in the phrase, relative to the first token.</param>
public readonly record struct PhraseTerm(int Term, int Offset);

/// <summary>Any token that matches a pattern. Scores 1, whatever the token and its frequency.</summary>
/// <param name="Pattern">The pattern.</param>
public sealed record WildcardClause(TokenPattern Pattern) : SearchClause;
