using System.Text;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Indexes;

/// <summary>A document that changed or went, and may have been loaded.</summary>
/// <param name="LowerId">Its lower-cased id.</param>
/// <param name="IsElsewhere">Whether it is in none of the collections that the map names: then few documents have
/// loaded it.</param>
internal readonly record struct ChangedLoad(byte[] LowerId, bool IsElsewhere);

/// <summary>
/// What an index keeps whose map loads documents: beside its entries, which documents each one loaded, so that those
/// which loaded a document that changed are mapped again. Also kept of documents that gave no entry. What was loaded is
/// durable before the entries are: after a crash it may be ahead, and is fed again with them.
/// </summary>
/// <param name="entries">The entries.</param>
/// <param name="loads">What was loaded, as terms.</param>
internal sealed class LoadTrackingStore(IIndexStore entries, IIndexStore loads) : IIndexStore
{
    private const int LoadedIds = 0;

    // Of these those that are in no collection that the map names: so changes of all others are looked up among few.
    private const int LoadedElsewhere = 1;

    // By what was loaded: documents that were not applied yet.
    private readonly Dictionary<string, HashSet<string>> _pending = new(StringComparer.Ordinal);
    private readonly IndexEntry _loaded = new();

    /// <summary>The entries.</summary>
    public IIndexStore Inner => entries;

    /// <inheritdoc/>
    public long Watermark => entries.Watermark;

    /// <inheritdoc/>
    public bool IsEmpty => entries.IsEmpty && loads.IsEmpty;

    /// <inheritdoc/>
    public long Documents => entries.Documents;

    /// <inheritdoc/>
    public long PendingBytes =>
        entries.PendingBytes is long.MaxValue || loads.PendingBytes is long.MaxValue
            ? long.MaxValue
            : entries.PendingBytes + loads.PendingBytes;

    /// <inheritdoc/>
    public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry)
    {
        _loaded.Clear();
        for (int i = 0; i < entry.LoadedCount; i++)
        {
            var id = entry.Loaded(i);
            _loaded.Add(LoadedIds, id);
            if (entry.IsLoadedElsewhere(i))
            {
                _loaded.Add(LoadedElsewhere, id);
            }

            Note(id, lowerId);
        }

        if (entry.LoadedCount == 0)
        {
            loads.Delete(lowerId);
        }
        else
        {
            _loaded.EndEntry();
            loads.Put(lowerId, etag, _loaded);
        }

        if (entry.HasContent)
        {
            entries.Put(lowerId, etag, entry);
        }
        else
        {
            entries.Delete(lowerId);
        }
    }

    /// <inheritdoc/>
    public void Delete(ReadOnlySpan<byte> lowerId)
    {
        loads.Delete(lowerId);
        entries.Delete(lowerId);
    }

    /// <inheritdoc/>
    public void Apply(long watermark)
    {
        loads.Apply(Math.Max(loads.Watermark, watermark));
        entries.Apply(watermark);
        _pending.Clear();
    }

    /// <inheritdoc/>
    public IndexSnapshot OpenSnapshot() => entries.OpenSnapshot();

    /// <inheritdoc/>
    public bool MergeOnce() => entries.MergeOnce() || loads.MergeOnce();

    /// <inheritdoc/>
    public void TrimIdle()
    {
        entries.TrimIdle();
        loads.TrimIdle();
    }

    /// <summary>
    /// The documents that loaded one of these when they were last mapped; some of them more than once. Read while it
    /// goes on.
    /// </summary>
    /// <param name="loaded">What changed.</param>
    public IEnumerable<byte[]> DependentsOf(IReadOnlyList<ChangedLoad> loaded)
    {
        var waiting = loaded
            .SelectMany(changed =>
                _pending.TryGetValue(Encoding.UTF8.GetString(changed.LowerId), out var documents) ? documents : []
            )
            .Distinct(StringComparer.Ordinal)
            .ToList();
        using var snapshot = loads.OpenSnapshot();
        foreach (string id in waiting)
        {
            yield return Encoding.UTF8.GetBytes(id);
        }

        foreach (var segment in snapshot.Segments)
        {
            if (segment.Reader.Field(LoadedIds) is not { } named)
            {
                continue;
            }

            var elsewhere = segment.Reader.Field(LoadedElsewhere);
            var documents = segment.Reader.Documents();
            foreach (var (id, isElsewhere) in loaded)
            {
                for (
                    var postings = isElsewhere ? elsewhere?.Postings(id) : named.Postings(id);
                    postings is not null && postings.MoveNext() != EntryCursor.End;

                )
                {
                    if (segment.Live.IsLive(postings.Current))
                    {
                        yield return documents.Read(postings.Current, out _).ToArray();
                    }
                }
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        entries.Dispose();
        loads.Dispose();
    }

    private void Note(ReadOnlySpan<byte> loaded, ReadOnlySpan<byte> lowerId)
    {
        string key = Encoding.UTF8.GetString(loaded);
        if (!_pending.TryGetValue(key, out var documents))
        {
            _pending.Add(key, documents = new(StringComparer.Ordinal));
        }

        documents.Add(Encoding.UTF8.GetString(lowerId));
    }
}
