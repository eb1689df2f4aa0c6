using System.Text;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// <c>moreLikeThis</c> over the documents of a scan, or the rows of an index: those that have some of the words that
/// say most about a given document, which is none of them itself. The words are chosen as Lucene's MoreLikeThis does,
/// by their frequency there and their rarity in the source; documents score by BM25.
/// </summary>
/// <param name="options">Say which words count.</param>
/// <param name="analyzers">Says with what a field is analyzed.</param>
/// <param name="text">Room for texts.</param>
/// <param name="wordFields">The fields of the index whose words it holds; null over documents.</param>
/// <param name="position">Where it stands in the query, for errors.</param>
internal sealed class LikenessCondition(
    LikenessOptions options,
    Func<FieldReference, Analyzer> analyzers,
    SearchableText text,
    IReadOnlyList<string>? wordFields,
    int position
) : ILikenessCondition, IDisposable
{
    // Each field of the given document is read of each document; many more than that have no words to compare.
    private const int MostFields = 64;

    private readonly List<LikenessField> _fields = [];
    private byte[] _given = [];
    private bool _isStored;
    private bool _isChosen;

    /// <inheritdoc/>
    public bool IsLearned { get; private set; }

    /// <summary>Whether the words were chosen; then what is known of all documents counts no more.</summary>
    public bool IsChosen => _isChosen;

    /// <summary>The fields that are compared, once a document is given.</summary>
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

            // The name of an index's field is one step, whatever stands in it.
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

    /// <summary>Counts a document of the query's source.</summary>
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

    /// <summary>Chooses the words that documents are searched for, by what is known of all documents.</summary>
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

    /// <summary>Members at the top that hold texts, alone or in arrays.</summary>
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
