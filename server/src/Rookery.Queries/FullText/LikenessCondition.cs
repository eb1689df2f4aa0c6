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
/// in the model and their rarity in the source. Documents are scored by BM25.
/// </summary>
/// <param name="options">The options that select words.</param>
/// <param name="analyzers">Returns the analyzer of a field.</param>
/// <param name="text">Buffer for a text.</param>
/// <param name="wordFields">The full-text fields of a static index; null if documents are evaluated.</param>
/// <param name="position">Its position in the query's text, for errors.</param>
internal sealed class LikenessCondition(
    LikenessOptions options,
    Func<FieldReference, Analyzer> analyzers,
    SearchableText text,
    IReadOnlyList<string>? wordFields,
    int position
) : ILikenessCondition, IDisposable
{
    // Limits the work, because each field of the model is read in each document. Few documents have more full-text
    // fields.
    private const int MostFields = 64;

    private readonly List<LikenessField> _fields = [];
    private byte[] _given = [];
    private bool _isStored;
    private bool _isChosen;

    /// <inheritdoc/>
    public bool IsLearned { get; private set; }

    /// <summary>Whether the words were chosen. Statistics that come later have no effect.</summary>
    public bool IsChosen => _isChosen;

    /// <summary>The fields to compare; empty until the model is set.</summary>
    public IReadOnlyList<LikenessField> Fields => _fields;

    /// <inheritdoc/>
    public void Learn(in QueriedDocument document, IReadOnlyList<byte[]>? rows = null)
    {
        Invariant.Holds(!IsLearned, "one document is given");
        IsLearned = true;
        _isStored = document.IsStored;
        _given =
            _isStored ? document.View.Id.ToArray()
            : rows is [var row, ..] ? row
            : [];
        foreach (
            string name in options.Fields?.Distinct(StringComparer.Ordinal) ?? wordFields ?? NamesOf(document.Members)
        )
        {
            if (_fields.Count == MostFields)
            {
                throw new QueryException(
                    QueryFault.TooCostly,
                    $"'moreLikeThis' compares the words of at most {MostFields} fields: name them with the "
                        + $"option 'Fields'.",
                    position
                );
            }

            // The name of an index field is one step, even if it contains dots.
            string[] steps = wordFields is null ? name.Split('.') : [name];
            var path = new FieldPath([.. steps.Select(static step => new PathStep(step, false))], 0);
            _fields.Add(
                new LikenessField(
                    new FieldReader(path),
                    analyzers(new PathReference(path)),
                    document,
                    rows,
                    options,
                    text
                )
            );
        }
    }

    /// <summary>Adds a document of the query's source to the word statistics.</summary>
    public void Count(in QueriedDocument document, IScanClock clock, ScanWork work)
    {
        Invariant.Holds(IsLearned && !_isChosen, "all documents are counted, for a given one, before one is asked for");
        foreach (LikenessField field in _fields)
        {
            field.Count(document, work);
            clock.OnWork();
        }
    }

    /// <inheritdoc/>
    public bool Matches(in QueriedDocument document, ScanWork work) => TryScore(document, work, out _);

    /// <inheritdoc/>
    public bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        Choose();
        score = 0;
        if (document.IsStored == _isStored && (_isStored ? document.View.Id : document.Members).SequenceEqual(_given))
        {
            return false;
        }

        foreach (LikenessField field in _fields)
        {
            score += field.Score(document, work);
        }

        return score > 0;
    }

    /// <inheritdoc/>
    public void Dispose() => _fields.ForEach(static field => field.Dispose());

    /// <summary>Chooses the words to search for, by the word statistics. Only the first call has an effect.</summary>
    public void Choose()
    {
        if (_isChosen)
        {
            return;
        }

        _isChosen = true;
        (LikenessField Field, int Term, double Weight)[] best =
        [
            .. _fields
                .SelectMany(field => field.Weights(options))
                .OrderByDescending(static word => word.Weight)
                .Take(options.Terms),
        ];
        foreach (LikenessField field in _fields)
        {
            field.Choose([
                .. best.Where(word => word.Field == field)
                    .Select(word =>
                        (word.Term, options.BoostFactor is { } factor ? factor * word.Weight / best[0].Weight : 1)
                    ),
            ]);
        }
    }

    /// <summary>Returns the names of top-level members whose value is a text or an array.</summary>
    private static List<string> NamesOf(ReadOnlySpan<byte> members)
    {
        var names = new List<string>();
        int at = 0;
        while (StoredJson.TryReadMember(members, ref at, out JsonSlice name, out int valueStart))
        {
            if (
                members[valueStart] is (byte)'"' or (byte)'['
                && !name.Escaped
                && Encoding.UTF8.GetString(members.Slice(name.Start, name.Length)) is var plain
                && !plain.Contains('.', StringComparison.Ordinal)
            )
            {
                names.Add(plain);
            }
        }

        return names;
    }
}
