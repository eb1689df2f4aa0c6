using System.Text;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Indexes;

/// <summary>A document that changed or was deleted, and that other documents may have loaded.</summary>
/// <param name="LowerId">The lower-cased id of the document.</param>
/// <param name="IsElsewhere">Whether the document is in none of the collections that the map names. Such documents
/// are loaded rarely, so they are looked up in a smaller field.</param>
internal readonly record struct ChangedLoad(byte[] LowerId, bool IsElsewhere);

/// <summary>
/// The store of an index whose map loads documents. In addition to the entries, it records which documents each
/// document loaded, also for documents without entries. When a loaded document changes, the documents that loaded it
/// are mapped again. The loads become durable before the entries. After a crash they may be newer than the entries, and
/// are then written again together with them.
/// </summary>
/// <param name="entries">The store of the entries.</param>
/// <param name="loads">The store of the loads: an entry for each loading document, with the loaded ids as
/// terms.</param>
internal sealed class LoadTrackingStore(IIndexStore entries, IIndexStore loads) : IIndexStore
{
    // The number of the field with the ids of all loaded documents.
    private const int LoadedIds = 0;

    // The number of the field with the ids of loaded documents outside the collections that the map names. A change of
    // such a document is looked up in this smaller field.
    private const int LoadedElsewhere = 1;

    // Approximate memory of `_pending`: the set of a loaded document with its entry in the dictionary, an element of
    // such a set, and an id without its characters.
    private const int BytesOfLoaded = 300;
    private const int BytesOfLoad = 40;
    private const int BytesOfId = 24;

    // Ids of the loading documents whose loads are not applied yet, by the id of the document that they loaded.
    private readonly Dictionary<string, HashSet<string>> _pending = new(StringComparer.Ordinal);
    private readonly IndexEntry _loaded = new();
    private long _pendingBytes;

    /// <summary>The store of the entries.</summary>
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
            : entries.PendingBytes + loads.PendingBytes + _pendingBytes;

    /// <inheritdoc/>
    public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry)
    {
        _loaded.Clear();
        string? loading = null;
        for (int i = 0; i < entry.LoadedCount; i++)
        {
            var id = entry.Loaded(i);
            _loaded.Add(LoadedIds, id);
            if (entry.IsLoadedElsewhere(i))
            {
                _loaded.Add(LoadedElsewhere, id);
            }

            loading ??= KeepId(lowerId);
            RecordLoad(id, loading);
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
        _pendingBytes = 0;
    }

    /// <inheritdoc/>
    public IndexSnapshot OpenSnapshot() => entries.OpenSnapshot();

    /// <inheritdoc/>
    public bool NeedsMerge => entries.NeedsMerge || loads.NeedsMerge;

    /// <inheritdoc/>
    public bool MergeOnce() => entries.MergeOnce() || loads.MergeOnce();

    /// <inheritdoc/>
    public void TrimIdle()
    {
        entries.TrimIdle();
        loads.TrimIdle();
    }

    /// <summary>
    /// Returns the ids of the documents that loaded one of the given documents when they were last mapped. An id may
    /// occur more than once. The enumeration reads lazily from a snapshot that it holds.
    /// </summary>
    /// <param name="loaded">The documents that changed.</param>
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
            if (segment.Reader.Field(LoadedIds) is not { } loadedIds)
            {
                continue;
            }

            var elsewhere = segment.Reader.Field(LoadedElsewhere);
            var documents = segment.Reader.Documents();
            foreach (var (id, isElsewhere) in loaded)
            {
                for (
                    var postings = isElsewhere ? elsewhere?.Postings(id) : loadedIds.Postings(id);
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

    private void RecordLoad(ReadOnlySpan<byte> loaded, string loading)
    {
        string key = Encoding.UTF8.GetString(loaded);
        if (!_pending.TryGetValue(key, out var documents))
        {
            _pending.Add(key, documents = new(StringComparer.Ordinal));
            _pendingBytes += BytesOfLoaded + BytesOf(key);
        }

        _pendingBytes += documents.Add(loading) ? BytesOfLoad : 0;
    }

    // All loads of a document share one text of its id.
    private string KeepId(ReadOnlySpan<byte> lowerId)
    {
        string id = Encoding.UTF8.GetString(lowerId);
        _pendingBytes += BytesOf(id);
        return id;
    }

    private static long BytesOf(string id) => BytesOfId + (sizeof(char) * (long)id.Length);
}
