using Rookery.Indexing.Grouping;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Reducing;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Search.Values;

namespace Rookery.Indexing.Automatic;

/// <summary>
/// What an automatic map/reduce index holds of a document: a row for each group that it has entries in, in which these
/// are put together already. A document that has too many groups, or too long values, is held as one that the index
/// cannot hold: as long as there is one, documents answer in its place.
/// </summary>
public sealed class AutoReduceMap : IIndexMap, IDisposable
{
    /// <summary>Bytes of the keys of a group, as JSON.</summary>
    public const int MostKeyBytes = 8 * 1024;

    /// <summary>
    /// Bytes of a least or greatest value. So many of them, and the keys, are a row of
    /// <see cref="MappedRows.LongestRowBytes"/>.
    /// </summary>
    public const int MostValueBytes = 1024;

    private readonly GroupPlan _plan;
    private readonly GroupTable _groups;
    private readonly ScanWork _work = new(new EndlessTime());
    private readonly PooledBytes _row = new();

    /// <summary>The map of a definition.</summary>
    public AutoReduceMap(AutoReduceDefinition definition)
    {
        Definition = definition;
        _plan = definition.ToPlan();
        _groups = new GroupTable(_plan, memory: null, MappedRows.MostRows);
        Fields =
        [
            .. definition.Keys.Select(static key => new MappedField([key.Name], false, null)),
            .. definition.Aggregates.Select(static aggregate => new MappedField([aggregate.Name], false, null)),
        ];
    }

    /// <summary>What it is made by.</summary>
    public AutoReduceDefinition Definition { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> Collections => Definition.Collection is { } collection ? [collection] : [];

    /// <summary>The keys, and behind them the aggregates.</summary>
    public IReadOnlyList<MappedField> Fields { get; }

    /// <inheritdoc/>
    public IReadOnlyList<string> LoadedCollections => [];

    /// <summary>
    /// 4: sums have all their digits. 3: rows have longer numbers. 2: keys that are arrays or objects are equal by
    /// value. In version 1 by how they were written.
    /// </summary>
    public int ContentVersion => 4;

    /// <inheritdoc/>
    public void Map(in QueriedDocument document, IndexEntry entry)
    {
        _groups.Clear();
        _groups.Add(document, _work);
        if (_groups.IsOverfull || !TryAddRows(entry.Rows))
        {
            entry.Rows.Clear();
            entry.Rows.Add(ReducedGroup.UnheldKey, ReducedGroup.UnheldRow);
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
            bool isShort = group.Keys.Length <= MostKeyBytes;
            for (int i = 0; i < group.Aggregates.Length; i++)
            {
                GroupRow.AppendName((byte)'a', i, _row);
                isShort &=
                    group.Aggregates[i].AppendPart(_plan.Aggregates[i].Kind, group.Count, _row) <= MostValueBytes;
            }

            _row.Append((byte)'}');
            if (!isShort)
            {
                return false;
            }

            rows.Add(GroupIdentity.ToId(identity, id), _row.Written);
        }

        return true;
    }

    // A document is no longer than the log takes.
    private sealed class EndlessTime : IScanClock
    {
        public void OnWork() { }
    }
}
