using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>A condition that looks at documents with its own eyes. Asked by one thread at a time.</summary>
public interface IDocumentCondition
{
    /// <summary>Whether a document satisfies it.</summary>
    /// <param name="document">The document.</param>
    /// <param name="work">Of the scan.</param>
    bool Matches(in QueriedDocument document, ScanWork work);

    /// <summary>How relevant a document is.</summary>
    /// <param name="document">The document.</param>
    /// <param name="work">Of the scan.</param>
    /// <param name="score">From 0; 0 when it does not satisfy the condition.</param>
    /// <returns>Whether it satisfies the condition.</returns>
    bool TryScore(in QueriedDocument document, ScanWork work, out double score);
}

/// <summary>A condition that compares documents with a given one.</summary>
public interface ILikenessCondition : IDocumentCondition
{
    /// <summary>Whether it was given.</summary>
    bool IsLearned { get; }

    /// <summary>Takes the given document, before others are counted.</summary>
    /// <param name="document">The document.</param>
    /// <param name="rows">What an index holds of it, to be read in its place: members without braces; null where the
    /// document is read itself.</param>
    void Learn(in QueriedDocument document, IReadOnlyList<byte[]>? rows = null);
}

/// <summary>Makes conditions of full text, which need an analyzer.</summary>
public interface IFullTextConditions
{
    /// <summary>Whether scores need <see cref="Count"/> of each document of the query's source first.</summary>
    bool NeedsCount { get; }

    /// <summary>Counts a document of the query's source, whether it satisfies the query or not.</summary>
    /// <param name="document">The document.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    void Count(in QueriedDocument document, IScanClock clock);

    /// <summary>Makes <c>search</c>.</summary>
    /// <param name="condition">As it was written.</param>
    /// <param name="field">Where the texts stand.</param>
    /// <param name="terms">What is looked for, parameters filled in.</param>
    IDocumentCondition Search(SearchCondition condition, FieldReader field, string terms);

    /// <summary>Whether the words of a field are known: else its values are compared whole.</summary>
    bool HasWords(FieldReference field);

    /// <summary>Makes a part of a Lucene clause, of the words of a field.</summary>
    /// <param name="leaf">What is looked for.</param>
    /// <param name="reference">The field.</param>
    /// <param name="field">Where its texts stand.</param>
    /// <param name="position">Where the clause stands in the query.</param>
    /// <returns>The condition; null where no word is left of it.</returns>
    IDocumentCondition? Words(LuceneLeaf leaf, FieldReference reference, FieldReader field, int position);

    /// <summary>Makes <c>fuzzy</c>.</summary>
    /// <param name="condition">As it was written.</param>
    /// <param name="field">Where the texts stand.</param>
    /// <param name="text">What is looked for, parameters filled in.</param>
    /// <param name="similarity">From 0 to 1.</param>
    IDocumentCondition Fuzzy(FuzzyCondition condition, FieldReader field, string text, double similarity);

    /// <summary>Makes <c>proximity</c>.</summary>
    /// <param name="condition">As it was written.</param>
    /// <param name="field">Where the texts stand.</param>
    /// <param name="terms">What is looked for, parameters filled in.</param>
    /// <param name="distance">Moves of words.</param>
    IDocumentCondition Proximity(ProximityCondition condition, FieldReader field, string terms, long distance);

    /// <summary>Makes <c>moreLikeThis</c>.</summary>
    /// <param name="condition">As it was written.</param>
    /// <param name="operands">Parameters filled in.</param>
    ILikenessCondition MoreLikeThis(MoreLikeThisCondition condition, OperandValues operands);
}

/// <summary>A condition of full text among the others.</summary>
internal sealed class FullTextPredicate(IDocumentCondition condition) : Predicate
{
    public IDocumentCondition Condition => condition;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        work.Walk(document.Members.Length);
        return condition.Matches(document, work);
    }

    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        work.Walk(document.Members.Length);
        return condition.TryScore(document, work, out score);
    }
}
