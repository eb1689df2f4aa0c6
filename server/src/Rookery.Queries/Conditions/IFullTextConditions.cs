using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Conditions;

/// <summary>A compiled full-text condition, which analyzes the texts of documents itself. Not thread-safe.</summary>
public interface IDocumentCondition
{
    /// <summary>Returns whether a document matches.</summary>
    /// <param name="document">The document.</param>
    /// <param name="work">The evaluation's limits.</param>
    bool Matches(in QueriedDocument document, ScanWork work);

    /// <summary>Computes the score of a document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="work">The evaluation's limits.</param>
    /// <param name="score">The score, not negative; 0 if the document does not match.</param>
    /// <returns>Whether the document matches.</returns>
    bool TryScore(in QueriedDocument document, ScanWork work, out double score);
}

/// <summary>A compiled <c>moreLikeThis</c>: compares documents with a model document.</summary>
public interface ISimilarityCondition : IDocumentCondition
{
    /// <summary>Whether the model document was set.</summary>
    bool HasModel { get; }

    /// <summary>Sets the model document. Called before documents are counted.</summary>
    /// <param name="document">The document.</param>
    /// <param name="rows">The model's index rows to read instead of the document: members without braces. Null to read
    /// the document.</param>
    void SetModel(in QueriedDocument document, IReadOnlyList<byte[]>? rows = null);

    /// <summary>Forgets the model document and the word statistics, for another try of the query.</summary>
    void ClearModel();
}

/// <summary>Compiles full-text conditions, which need an analyzer.</summary>
public interface IFullTextConditions
{
    /// <summary>
    /// Whether scores need word statistics: then <see cref="CountWords"/> must be called for each document of the
    /// query's source before the first is scored.
    /// </summary>
    bool NeedsWordCount { get; }

    /// <summary>Adds a document of the query's source to the word statistics, whether it matches or not.</summary>
    /// <param name="document">The document.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    void CountWords(in QueriedDocument document, IWorkLimits limits);

    /// <summary>Compiles <c>search</c>.</summary>
    /// <param name="condition">The parsed condition.</param>
    /// <param name="field">Reads the texts.</param>
    /// <param name="terms">The searched text, with parameters filled in.</param>
    IDocumentCondition CompileSearch(SearchCondition condition, FieldReader field, string terms);

    /// <summary>Returns whether the field is a full-text field. Otherwise its values are compared whole.</summary>
    bool HasWords(FieldReference field);

    /// <summary>Compiles a part of a Lucene clause on a field with words.</summary>
    /// <param name="leaf">The part of the clause.</param>
    /// <param name="reference">The field.</param>
    /// <param name="field">Reads the texts.</param>
    /// <param name="position">The clause's position in the query's text.</param>
    /// <returns>The condition; null if the analyzer leaves no word.</returns>
    IDocumentCondition? TryCompileWords(LuceneLeaf leaf, FieldReference reference, FieldReader field, int position);

    /// <summary>Compiles <c>fuzzy</c>.</summary>
    /// <param name="condition">The parsed condition.</param>
    /// <param name="field">Reads the texts.</param>
    /// <param name="text">The searched text, with parameters filled in.</param>
    /// <param name="similarity">The similarity, from 0 to 1.</param>
    IDocumentCondition CompileFuzzy(FuzzyCondition condition, FieldReader field, string text, double similarity);

    /// <summary>Compiles <c>proximity</c>.</summary>
    /// <param name="condition">The parsed condition.</param>
    /// <param name="field">Reads the texts.</param>
    /// <param name="terms">The searched text, with parameters filled in.</param>
    /// <param name="distance">Maximum distance of each word from its place in the phrase, in words.</param>
    IDocumentCondition CompileProximity(ProximityCondition condition, FieldReader field, string terms, long distance);

    /// <summary>Compiles <c>moreLikeThis</c>.</summary>
    /// <param name="condition">The parsed condition.</param>
    /// <param name="operands">Resolves parameters.</param>
    ISimilarityCondition CompileMoreLikeThis(MoreLikeThisCondition condition, OperandValues operands);
}

/// <summary>Wraps a full-text condition as a predicate.</summary>
internal sealed class FullTextPredicate(IDocumentCondition condition) : Predicate
{
    public IDocumentCondition Condition => condition;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        work.CountBytes(document.Members.Length);
        return condition.Matches(document, work);
    }

    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        work.CountBytes(document.Members.Length);
        return condition.TryScore(document, work, out score);
    }
}
