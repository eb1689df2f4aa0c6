using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;
using Rookery.Search.Values;

namespace Rookery.Queries.FullText;

/// <summary>
/// Compiles the full-text conditions of one query, and counts words for their scores. A scan that scores reads the
/// documents twice: it first passes each document of the source to <see cref="CountWords"/>, then evaluates. A scan
/// without scores only evaluates. Not thread-safe.
/// </summary>
/// <param name="analyzers">Returns the analyzer of a field. Not disposed by this object.</param>
/// <param name="wordFields">The full-text fields of a static index; null if documents are evaluated.</param>
public sealed class FullTextConditions(
    Func<FieldReference, Analyzer> analyzers,
    IReadOnlyList<string>? wordFields = null
) : IFullTextConditions, IDisposable
{
    private readonly SearchableText _text = new();
    private readonly List<SearchedField> _searched = [];
    private readonly List<SimilarityCondition> _moreLikeThis = [];
    private ScanWork? _counting;

    /// <summary>
    /// Reads the words of a document that <c>moreLikeThis</c> ignores; throws if there is no such document. Null if
    /// there are no documents to read.
    /// </summary>
    public Func<string, IReadOnlyList<string>>? StopWords { get; init; }

    /// <inheritdoc/>
    public bool NeedsWordCount => _moreLikeThis.Count > 0 || _searched.Exists(static one => one.NeedsWordCount);

    /// <inheritdoc/>
    public IDocumentCondition CompileSearch(SearchCondition condition, FieldReader field, string terms) =>
        Add(SearchTerms.Parse(analyzers(condition.Field), terms, condition.NeedsAll, condition.Terms.Position), field);

    /// <inheritdoc/>
    public bool HasWords(FieldReference field) =>
        field is PathReference { Path: var path }
        && (
            wordFields is null
            || wordFields.Contains(path.ToString().Replace("[]", "", StringComparison.Ordinal), StringComparer.Ordinal)
        );

    /// <inheritdoc/>
    public IDocumentCondition? TryCompileWords(
        LuceneLeaf leaf,
        FieldReference reference,
        FieldReader field,
        int position
    )
    {
        var builder = new SearchQueryBuilder(analyzers(reference), position);
        builder.Add(leaf);
        var query = builder.Build(needsAll: true);
        return query.Clauses.Count > 0 ? Add(query, field) : null;
    }

    /// <inheritdoc/>
    public IDocumentCondition CompileProximity(
        ProximityCondition condition,
        FieldReader field,
        string terms,
        long distance
    ) => Add(SearchTerms.ParseProximity(analyzers(condition.Inner.Field), terms, distance, condition.Position), field);

    /// <inheritdoc/>
    public IDocumentCondition CompileFuzzy(FuzzyCondition condition, FieldReader field, string text, double similarity)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(text);
        byte[] folded = new byte[TextFolding.MaxBytes(utf8.Length)];
        return new FuzzyField(
            new FuzzyText(folded.AsSpan(0, TextFolding.FoldAll(utf8, folded)), similarity, condition.Position),
            field,
            _text
        );
    }

    /// <inheritdoc/>
    public ISimilarityCondition CompileMoreLikeThis(MoreLikeThisCondition condition, OperandValues operands)
    {
        var options = new SimilarityOptions(condition, operands);
        if (options.Fields is null && wordFields is { Count: 0 })
        {
            throw new QueryException(
                QueryFault.Invalid,
                "'moreLikeThis' compares words, and the index holds the words of no field. Define a field with "
                    + "\"Indexing\":\"Search\".",
                condition.Position
            );
        }

        var stopWords = options.StopWordsId is { } id
            ? StopWords?.Invoke(id)
                ?? throw new QueryException(
                    QueryFault.NotSupported,
                    "'StopWordsDocumentId' is not supported here: no document can be read.",
                    condition.Position
                )
            : [];
        var compiled = new SimilarityCondition(options, stopWords, analyzers, _text, wordFields, condition.Position);
        _moreLikeThis.Add(compiled);
        return compiled;
    }

    /// <inheritdoc/>
    public void CountWords(in QueriedDocument document, IWorkLimits limits)
    {
        // All calls of one query pass the same limits, so one ScanWork serves all calls.
        _counting ??= new ScanWork(limits);
        foreach (var field in _searched)
        {
            field.Count(document, _counting);
            limits.CheckLimits();
        }

        foreach (var model in _moreLikeThis)
        {
            model.Count(document, limits, _counting);
        }
    }

    /// <summary>Reserves what the conditions hold in the memory of the query.</summary>
    /// <param name="memory">The memory; null to release it. Also released when this object is disposed.</param>
    /// <exception cref="QueryException">The query exceeds its memory.</exception>
    public void UseMemory(QueryMemory? memory) => _moreLikeThis.ForEach(model => model.UseMemory(memory));

    /// <summary>Releases memory.</summary>
    public void Dispose()
    {
        _searched.ForEach(static field => field.Dispose());
        _moreLikeThis.ForEach(static model => model.Dispose());
        _text.Release();
        _counting?.Release();
    }

    private SearchedField Add(SearchQuery query, FieldReader field)
    {
        var compiled = new SearchedField(query, field, _text);
        _searched.Add(compiled);
        return compiled;
    }
}
