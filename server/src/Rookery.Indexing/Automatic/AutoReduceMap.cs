using Rookery.Indexing.Grouping;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Search.Values;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// Maps a document to the rows of an automatic map/reduce index: one row for each group, with the document's entries
/// already aggregated. A document with too many groups or too long values is mapped to
/// <see cref="ReducedGroup.ExcludedRow"/> instead. While such a row exists, queries scan the documents.
/// </summary>
public sealed class AutoReduceMap : IIndexMap, IDisposable
{
    /// <summary>Maximum bytes of a group's keys, as JSON.</summary>
    public const int MaxKeyBytes = 8 * 1024;

    /// <summary>
    /// Maximum bytes of a least or greatest value. The keys and <see cref="AutoReduceChoice.MaxFields"/> such values
    /// fit into a row of <see cref="MappedRows.MaxRowBytes"/>.
    /// </summary>
    public const int MaxValueBytes = 1024;

    private readonly GroupPlan _plan;
    private readonly GroupTable _groups;
    private readonly ScanWork _work = new(new UnlimitedTime());
    private readonly PooledBytes _row = new();

    /// <summary>Makes the map of a definition.</summary>
    public AutoReduceMap(AutoReduceDefinition definition)
    {
        Definition = definition;
        _plan = definition.ToPlan();
        _groups = new GroupTable(_plan, memory: null, MappedRows.MaxRows);
        Fields =
        [
            .. definition.Keys.Select(static key => new MappedField([key.Name], HasExactValues: false, Analyzer: null)),
            .. definition.Aggregates.Select(static aggregate => new MappedField(
                [aggregate.Name],
                HasExactValues: false,
                Analyzer: null
            )),
        ];
    }

    /// <summary>The definition of the index.</summary>
    public AutoReduceDefinition Definition { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> Collections => Definition.Collection is { } collection ? [collection] : [];

    /// <summary>The keys, followed by the aggregates.</summary>
    public IReadOnlyList<MappedField> Fields { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> LoadedCollections => [];

    /// <summary>
    /// 4, or 5 if an aggregate is an average or a path ends in a member of .NET values that version 4 did not know
    /// (<see cref="PseudoMember"/>). Since version 5, an average is the exact sum divided, correctly rounded. Since
    /// version 4, sums keep all their digits. Since 3, rows have longer numbers. Since 2, keys that are arrays
    /// or objects are compared by value; in version 1, by their text.
    /// </summary>
    public int ContentVersion =>
        Definition.Aggregates.Any(static aggregate =>
            aggregate.Kind == AggregateKind.Average || HasLaterMember(aggregate.Path)
        ) || Definition.Keys.Any(static key => HasLaterMember(key.Path))
            ? 5
            : 4;

    private static bool HasLaterMember(IReadOnlyList<string> path) => PseudoMember.ContentVersionOf(path) > 2;

    /// <inheritdoc/>
    public void Map(in QueriedDocument document, IndexEntry entry)
    {
        _groups.Clear();
        _groups.Add(document, _work);
        if (_groups.IsOverfull || !TryAddRows(entry.Rows))
        {
            entry.Rows.Clear();
            entry.Rows.Add(ReducedGroup.ExcludedKey, ReducedGroup.ExcludedRow);
        }

        _groups.Clear();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _groups.Release();
        _work.Release();
        _row.Release();
    }

    private bool TryAddRows(MappedRows rows)
    {
        Span<byte> id = stackalloc byte[TermKey.MaxBytes];
        foreach (var (identity, group) in _groups.Groups)
        {
            _row.Clear();
            _row.Append((byte)'{');
            _row.Append(group.Keys);
            bool areLengthsAllowed = group.Keys.Length <= MaxKeyBytes;
            for (int i = 0; i < group.Aggregates.Length; i++)
            {
                GroupRow.AppendName((byte)'a', i, _row);
                areLengthsAllowed &=
                    group.Aggregates[i].AppendPart(_plan.Aggregates[i].Kind, group.Count, _row) <= MaxValueBytes;
            }

            _row.Append((byte)'}');
            if (!areLengthsAllowed)
            {
                return false;
            }

            rows.Add(GroupIdentity.ToId(identity, id), _row.Written);
        }

        return true;
    }

    // No time limit is needed, because the log bounds the size of a document.
    private sealed class UnlimitedTime : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
