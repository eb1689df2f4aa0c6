using Rookery.Search.Analysis;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// The store of a map/reduce index: its rows in a <see cref="ReduceStore"/>, and an entry for each reduced row in the
/// store that queries read. Rows become durable before entries. Groups stay marked as changed until their entries are
/// durable, so that entries missing after a crash are written when the store is opened again.
/// </summary>
internal sealed class ReducedIndexStore : IIndexStore, IGroupChanges
{
    private const int MaxFailuresOfOpening = 8;

    private readonly ReduceStore _rows;
    private readonly IIndexStore _entries;
    private readonly IReducer _reducer;
    private readonly IReducedRowWriter _writer;
    private readonly IndexEntry _entry = new();

    // Failures while the store was opened, when nothing is set yet to report them.
    private readonly List<string> _failuresOfOpening = [];
    private long _etag;
    private bool _hasUnwritten; // rows are applied, and their entries are not

    /// <summary>Combines the two stores, and writes the entries that are missing after a crash.</summary>
    /// <param name="rows">The rows, opened with <paramref name="reducer"/>.</param>
    /// <param name="entries">The entries.</param>
    /// <param name="reducer">The reduce; disposed with this store. If the constructor throws, the caller still owns all
    /// three.</param>
    /// <param name="writer">Converts rows to entries.</param>
    public ReducedIndexStore(ReduceStore rows, IIndexStore entries, IReducer reducer, IReducedRowWriter writer)
    {
        _rows = rows;
        _entries = entries;
        _reducer = reducer;
        _writer = writer;
        if (_rows.Watermark > _entries.Watermark)
        {
            ApplyChanges(_rows.Watermark);
        }
    }

    /// <inheritdoc/>
    public long Watermark => _entries.Watermark;

    /// <inheritdoc/>
    public bool IsEmpty => _entries.IsEmpty && _rows.IsEmpty;

    /// <inheritdoc/>
    public long Documents => _entries.Documents;

    /// <inheritdoc/>
    public long PendingBytes => Math.Max(_rows.PendingBytes, _hasUnwritten ? 1 : 0);

    /// <summary>
    /// Called with the reason, in a sentence, when rows of a group cannot be reduced, or a reduced row cannot become an
    /// entry. Setting it reports what failed while the store was opened.
    /// </summary>
    public Action<string>? ReduceFailed
    {
        get => _rows.ReduceFailed;
        set
        {
            _rows.ReduceFailed = value;
            _failuresOfOpening.ForEach(failure => value?.Invoke(failure));
            _failuresOfOpening.Clear();
        }
    }

    /// <inheritdoc/>
    public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry) => _rows.Put(lowerId, entry.Rows);

    /// <inheritdoc/>
    public void Delete(ReadOnlySpan<byte> lowerId) => _rows.Delete(lowerId);

    /// <inheritdoc/>
    public void Apply(long watermark)
    {
        _hasUnwritten |= _rows.PendingBytes > 0;
        if (_rows.PendingBytes > 0 || watermark > _rows.Watermark)
        {
            _rows.Apply(watermark);
        }

        _rows.Flush();
        ApplyChanges(watermark);
        _hasUnwritten = false;
    }

    /// <inheritdoc/>
    public IndexSnapshot OpenSnapshot() => _entries.OpenSnapshot();

    /// <inheritdoc/>
    public bool NeedsMerge => _entries.NeedsMerge || _rows.NeedsMerge;

    /// <inheritdoc/>
    public bool MergeOnce() => _entries.MergeOnce() || _rows.MergeOnce();

    /// <inheritdoc/>
    public void TrimIdle()
    {
        _entries.TrimIdle();
        _rows.TrimIdle();
    }

    /// <inheritdoc/>
    public void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row)
    {
        _entry.Clear();
        try
        {
            _writer.Write(key, row, _entry);
        }
        catch (Exception wrong) when (wrong is IndexEntryException or AnalyzerException)
        {
            // All members index the same documents, so this must not end their processes. Like a group that cannot be
            // reduced, the group has no entry until one of its documents changes.
            ReportFailure($"A reduced row was not indexed: {wrong.Message}");
            _entries.Delete(key);
            return;
        }

        _entries.Put(key, _etag, _entry);
    }

    private void ReportFailure(string reason)
    {
        if (ReduceFailed is { } report)
        {
            report(reason);
        }
        else if (_failuresOfOpening.Count < MaxFailuresOfOpening)
        {
            _failuresOfOpening.Add(reason);
        }
    }

    /// <inheritdoc/>
    public void Remove(ReadOnlySpan<byte> key) => _entries.Delete(key);

    /// <inheritdoc/>
    public void Dispose()
    {
        _rows.Dispose();
        _entries.Dispose();
        (_reducer as IDisposable)?.Dispose();
    }

    private void ApplyChanges(long watermark)
    {
        _etag = watermark;
        _rows.VisitChanges(this);
        _entries.Apply(watermark);
        _rows.AcknowledgeChanges();
    }
}
