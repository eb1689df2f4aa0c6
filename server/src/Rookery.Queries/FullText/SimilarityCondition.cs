using System.Globalization;
using System.Text;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// Evaluates <c>moreLikeThis</c> for documents or index rows. Matches those that contain some of the model document's
/// most significant words. Excludes the model itself. Words are chosen as in Lucene's MoreLikeThis, by their frequency
/// in all compared fields of the model and their rarity in the source. Each word is searched in one field: the one
/// in which most documents contain it. Documents are scored by BM25, with the average length of all compared fields, so
/// that equally rare words in equally long texts of different fields score the same, as in Lucene.
/// </summary>
/// <param name="options">The options that select words.</param>
/// <param name="stopWords">Words to ignore, as written.</param>
/// <param name="analyzers">Returns the analyzer of a field.</param>
/// <param name="text">Buffer for a text.</param>
/// <param name="wordFields">The full-text fields of a static index; null if documents are evaluated.</param>
/// <param name="position">The condition's position in the query's text, for errors.</param>
internal sealed class SimilarityCondition(
    SimilarityOptions options,
    IReadOnlyList<string> stopWords,
    Func<FieldReference, Analyzer> analyzers,
    SearchableText text,
    IReadOnlyList<string>? wordFields,
    int position
) : ISimilarityCondition, IDisposable
{
    // Limits the work, because each field of the model is read in each document. Few documents have more full-text
    // fields.
    private const int MaxFields = 64;

    // Each word is looked up in each field, and a scan counts it there in each document.
    private const long MaxLookups = 1_000_000;

    private readonly List<SimilarityField> _fields = [];
    private readonly ModelWords _words = new();
    private byte[] _modelIdentity = []; // the model's id; of a reduced row, its members
    private bool _isModelStored;
    private bool _areWordsChosen;
    private int[] _frequencies = []; // how often each word occurs in the model
    private long _documents;

    /// <inheritdoc/>
    public bool HasModel { get; private set; }

    /// <summary>Whether the words were chosen. Statistics that come later have no effect.</summary>
    public bool AreWordsChosen => _areWordsChosen;

    /// <summary>The fields to compare; empty until the model is set.</summary>
    public IReadOnlyList<SimilarityField> Fields => _fields;

    /// <inheritdoc/>
    public void SetModel(in QueriedDocument document, IReadOnlyList<byte[]>? rows = null)
    {
        Invariant.Holds(!HasModel, "the model of moreLikeThis is set once");
        HasModel = true;
        _isModelStored = document.IsStored;
        if (_isModelStored)
        {
            _modelIdentity = document.View.Id.ToArray();
        }
        else if (rows is [var row, ..])
        {
            _modelIdentity = row;
        }

        // The model is a JSON text: neither a document nor rows of an index.
        var model =
            !_isModelStored && rows is null && wordFields is not null
                ? new QueriedDocument(ModelText.FieldsOf(document.Members, wordFields))
                : document;
        var compared = new List<(FieldReader Reader, Analyzer Analyzer)>();
        foreach (
            string name in options.Fields?.Distinct(StringComparer.Ordinal)
                ?? wordFields
                ?? TextMembersOf(document.Members)
        )
        {
            if (compared.Count == MaxFields)
            {
                throw TooCostly($"the words of at most {MaxFields} fields");
            }

            // The name of an index field is one step, even if it contains dots.
            string[] steps = wordFields is null ? name.Split('.') : [name];
            var path = new FieldPath([.. steps.Select(static step => new PathStep(step, IsEach: false))], Position: 0);
            var (reader, analyzer) = (new FieldReader(path), analyzers(new PathReference(path)));
            SimilarityField.CountWords(reader, analyzer, model, rows, options.Tokens, text, _words);
            compared.Add((reader, analyzer));
        }

        var ignored = FoldStopWords(compared.Select(static field => field.Analyzer));
        KeyValuePair<byte[], int>[] significant =
        [
            .. _words.Occurrences.Where(word =>
                options.IsSignificant(word.Key, word.Value) && !ignored.Contains(word.Key)
            ),
        ];
        if (significant.Length * (long)compared.Count > MaxLookups)
        {
            throw TooCostly(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"at most {MaxLookups / compared.Count} different words in {compared.Count} fields"
                )
            );
        }

        _frequencies = [.. significant.Select(static word => word.Value)];
        byte[][] texts = [.. significant.Select(static word => word.Key)];
        _words.Keep(texts, compared.Count);
        _fields.AddRange(compared.Select(field => new SimilarityField(field.Reader, field.Analyzer, texts, text)));
    }

    /// <inheritdoc/>
    public void ClearModel()
    {
        Dispose();
        _fields.Clear();
        (HasModel, _isModelStored, _areWordsChosen, _modelIdentity) = (false, false, false, []);
        (_frequencies, _documents) = ([], 0);
    }

    /// <summary>Adds a document of the query's source to the word statistics.</summary>
    public void Count(in QueriedDocument document, IWorkLimits limits, ScanWork work)
    {
        Invariant.Holds(
            HasModel && !_areWordsChosen,
            "documents are counted after the model is set and before the first is scored"
        );
        _documents++;
        foreach (SimilarityField field in _fields)
        {
            field.Count(document, work);
            limits.CheckLimits();
        }
    }

    /// <summary>Uses an index's number of entries instead of counting documents.</summary>
    public void UseDocumentCount(long documents) => _documents = documents;

    /// <inheritdoc/>
    public bool Matches(in QueriedDocument document, ScanWork work) => TryScore(document, work, out _);

    /// <inheritdoc/>
    public bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        ChooseWords();
        score = 0;
        var identity = document.IsStored ? document.View.Id : document.Members;
        if (document.IsStored == _isModelStored && identity.SequenceEqual(_modelIdentity))
        {
            return false; // the model itself
        }

        foreach (SimilarityField field in _fields)
        {
            score += field.Score(document, work);
        }

        return score > 0;
    }

    /// <summary>
    /// Reserves the words of the model in a query's memory, also if the model is set already; null to reserve none.
    /// </summary>
    /// <exception cref="QueryException">The query exceeds its memory.</exception>
    public void UseMemory(QueryMemory? memory) => _words.UseMemory(memory);

    /// <inheritdoc/>
    public void Dispose()
    {
        _fields.ForEach(static field => field.Dispose());
        _words.Dispose();
    }

    /// <summary>Chooses the words to search for, by the word statistics. Only the first call has an effect.</summary>
    public void ChooseWords()
    {
        if (_areWordsChosen)
        {
            return;
        }

        _areWordsChosen = true;
        (SimilarityField Field, int Term, double Weight)[] bestWords =
        [
            .. WordWeights().OrderByDescending(static word => word.Weight).Take(options.Terms),
        ];
        double averageLength =
            (double)_fields.Sum(static field => field.Size.Tokens)
            / Math.Max(_fields.Sum(static field => field.Size.Documents), 1);
        foreach (SimilarityField field in _fields)
        {
            field.RestrictTo(
                [
                    .. bestWords
                        .Where(word => word.Field == field)
                        .Select(word =>
                            (
                                word.Term,
                                options.BoostFactor is { } factor ? factor * word.Weight / bestWords[0].Weight : 1
                            )
                        ),
                ],
                averageLength
            );
        }
    }

    /// <summary>
    /// Returns the weight of each word as in Lucene: its frequency in the model multiplied by its rarity. Omits words
    /// outside the options' limits. The field of a word is the first of those in which most documents contain it.
    /// </summary>
    private IEnumerable<(SimilarityField Field, int Term, double Weight)> WordWeights()
    {
        for (int term = 0; term < _frequencies.Length; term++)
        {
            SimilarityField? field = null;
            long documents = 0;
            foreach (var candidate in _fields)
            {
                if (candidate.DocumentFrequency(term) > documents)
                {
                    (field, documents) = (candidate, candidate.DocumentFrequency(term));
                }
            }

            if (
                field is not null
                && documents >= options.MinDocuments
                && documents <= options.MaxDocuments
                && documents <= options.MaxDocumentsShare * _documents
            )
            {
                yield return (field, term, _frequencies[term] * Bm25.InverseDocumentFrequency(_documents, documents));
            }
        }
    }

    // Folds the stop words by the analyzers of the compared fields, because these fold the words of the model, too.
    private HashSet<byte[]> FoldStopWords(IEnumerable<Analyzer> fieldAnalyzers)
    {
        byte[][] words = [.. stopWords.Select(Encoding.UTF8.GetBytes)];
        return fieldAnalyzers
            .Distinct()
            .SelectMany(analyzer => words.Select(word => analyzer.Fold(word)))
            .ToHashSet(BytesComparer.Instance);
    }

    private QueryException TooCostly(string bound) =>
        new(
            QueryFault.TooCostly,
            $"'moreLikeThis' compares {bound}: name the fields with the option 'Fields'.",
            position
        );

    /// <summary>Returns the names of top-level members whose value is a text or an array.</summary>
    private static List<string> TextMembersOf(ReadOnlySpan<byte> members)
    {
        var names = new List<string>();
        int at = 0;
        while (StoredJson.TryReadMember(members, ref at, out JsonSlice name, out int valueStart))
        {
            if (
                members[valueStart] is (byte)'"' or (byte)'['
                && !name.Escaped
                && Encoding.UTF8.GetString(members.Slice(name.Start, name.Length)) is var member
                && !member.Contains('.', StringComparison.Ordinal)
            )
            {
                names.Add(member);
            }
        }

        return names;
    }
}
