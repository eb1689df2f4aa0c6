using System.Globalization;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Store;

/// <summary>A segment of the store with its live entries. Immutable: each change creates a new record.</summary>
/// <param name="Handle">The segment.</param>
/// <param name="Live">Its live entries.</param>
/// <param name="DeadDocuments">Number of documents without live entries.</param>
internal sealed record HeldSegment(SegmentHandle Handle, LiveEntries Live, long DeadDocuments);

/// <summary>Resources that the index stores of a node share.</summary>
/// <param name="Disk">The disk.</param>
/// <param name="Cache">The cache of pages.</param>
/// <param name="Share">The share that memory for batches and merges is reserved from.</param>
/// <param name="Io">Records disk operations.</param>
public sealed record SegmentStoreContext(IDisk Disk, SegmentCache Cache, MemoryShare Share, IIoRecorder Io);

/// <summary>
/// Stores one index in immutable segments in its own folder, with the files <c>segment-N</c> and <c>manifest</c>.
/// Changes are buffered in memory and written as one segment. Merges limit the number of segments. There is no journal:
/// after a crash the index is in the state of its last manifest, and indexing continues from the
/// <see cref="Watermark"/> of that state. Only one thread at a time may change it. Any thread may open snapshots.
/// </summary>
public sealed class SegmentStore : IIndexStore
{
    private const string FilePrefix = "segment-";

    // A batch may reach this size even if memory is short. Otherwise each document would become a segment, which merges
    // would rewrite again and again.
    private const long MinBatchBytes = 64 << 10;

    // From this number on, merges are no longer background work. Without this bound, a build beside other indexes wrote
    // 1,400 segments, because merges waited for its end; its queries then took all memory of a node of 128 MiB.
    private const int MaxUnmerged = 64;

    private readonly SegmentStoreContext _context;
    private readonly string _folder;
    private readonly Lock _gate = new();
    private readonly SortedTerms _sortedIds = new();

    // Segments of a manifest whose Publish failed. After a power cut that manifest may be the valid one, so they are
    // kept until a later manifest is durable.
    private readonly List<SegmentHandle> _doubtful = [];
    private State _state;
    private SegmentBuilder? _batch;
    private SegmentMerge? _merge;
    private long _mergeFileId;
    private long _nextFileId;
    private bool _isClosed;

    private SegmentStore(SegmentStoreContext context, string folder, State state, long nextFileId)
    {
        _context = context;
        _folder = folder;
        _state = state;
        _nextFileId = nextFileId;
    }

    /// <inheritdoc/>
    public long Watermark => Current.Watermark;

    /// <inheritdoc/>
    public bool IsEmpty => Current.Segments.Count == 0;

    /// <inheritdoc/>
    public long Documents => Current.Segments.Sum(static segment => segment.Handle.Documents - segment.DeadDocuments);

    /// <inheritdoc/>
    public long PendingBytes
    {
        get
        {
            if (_batch is { } batch)
            {
                if (batch.IsOverBudget && batch.ContentBytes >= MinBatchBytes)
                {
                    return long.MaxValue;
                }

                return batch.ContentBytes;
            }

            return 0;
        }
    }

    private State Current => Volatile.Read(ref _state);

    /// <summary>Opens a folder that exists.</summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    /// <exception cref="SegmentDamagedException">The folder cannot be read. The index must be built again.</exception>
    public static SegmentStore Open(SegmentStoreContext context, string folder)
    {
        var segments = new List<HeldSegment>();
        try
        {
            var manifest = SegmentManifest.Read(context.Disk, folder);
            foreach (var segment in manifest?.Segments ?? [])
            {
                segments.Add(
                    new HeldSegment(OpenSegment(context, folder, segment.Summary), segment.Live, segment.DeadDocuments)
                );
            }

            RemoveOrphans(context.Disk, folder, segments);
            return new SegmentStore(
                context,
                folder,
                new State(manifest?.Watermark ?? 0, segments),
                FileNumbers.FirstFrom(manifest?.NextFileId ?? 1)
            );
        }
        catch (Exception failure)
        {
            segments.ForEach(static segment => segment.Handle.Release());
            if (failure is InvalidDataException)
            {
                throw new SegmentDamagedException(folder, failure.Message);
            }

            throw;
        }
    }

    /// <inheritdoc/>
    public void Put(ReadOnlySpan<byte> lowerId, long etag, IndexEntry entry)
    {
        var batch = Batch();
        batch.BeginDocument(lowerId, etag);
        entry.WriteTo(batch);
    }

    /// <inheritdoc/>
    public void Delete(ReadOnlySpan<byte> lowerId) => Batch().Delete(lowerId);

    /// <inheritdoc/>
    public void Apply(long watermark)
    {
        var current = Current;
        Invariant.Holds(watermark >= current.Watermark, "an index follows the documents forward");
        var segments = WithoutReplaced(current.Segments);
        SegmentHandle? added = null;
        if (_batch is { } batch && BatchWriter.LiveEntriesOf(batch) > 0)
        {
            SettleDoubt();
            added = WriteBatch(batch);
            segments.Add(new HeldSegment(added, LiveEntries.All(added.Summary.Entries), DeadDocuments: 0));
        }

        Commit(new State(watermark, segments), added);
        foreach (
            var replaced in current.Segments.Where(segment =>
                !segments.Exists(kept => ReferenceEquals(kept.Handle, segment.Handle))
            )
        )
        {
            replaced.Handle.Supersede();
        }

        _batch?.Clear();
        if (current.Watermark == 0 && watermark > 0)
        {
            // The first build is complete. Later batches are small, and other builds need the memory: without it, each
            // of their batches of 64 KiB becomes a segment.
            ReleaseIdleBatch();
        }
    }

    /// <inheritdoc/>
    public IndexSnapshot OpenSnapshot()
    {
        // The lock keeps segments from being released before the snapshot holds them.
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            var current = Current;
            return new IndexSnapshot(current.Watermark, current.Handles, current.Live);
        }
    }

    /// <inheritdoc/>
    public bool NeedsMerge => Current.Segments.Count >= MaxUnmerged;

    /// <inheritdoc/>
    public bool MergeOnce()
    {
        try
        {
            if (_merge is null && !BeginMerge())
            {
                ReleaseIdleBatch();
                return false;
            }

            if (!_merge!.Step())
            {
                FinishMerge(_merge);
                _merge.Dispose();
                _merge = null;
            }

            return true;
        }
        catch
        {
            _merge?.Dispose();
            _merge = null;
            throw;
        }
    }

    /// <inheritdoc/>
    public void TrimIdle() => ReleaseIdleBatch();

    /// <inheritdoc/>
    public void Dispose()
    {
        _merge?.Dispose();
        _merge = null;
        _batch?.Dispose();
        _batch = null;
        _doubtful.ForEach(static handle => handle.Release());
        _doubtful.Clear();
        lock (_gate)
        {
            _isClosed = true;
            var current = Current;
            Volatile.Write(ref _state, new State(current.Watermark, []));
            foreach (var segment in current.Segments)
            {
                segment.Handle.Release();
            }
        }
    }

    private static string PathOf(string folder, long fileId) =>
        Path.Combine(folder, FilePrefix + fileId.ToString(CultureInfo.InvariantCulture));

    private static SegmentHandle OpenSegment(SegmentStoreContext context, string folder, SegmentSummary summary)
    {
        string path = PathOf(folder, summary.FileId);
        if (!context.Disk.Exists(path))
        {
            throw new SegmentDamagedException(path, "it is missing");
        }

        var reader = SegmentReader.Open(context.Disk, path, summary.FileId, context.Cache, context.Io);
        try
        {
            return reader.FileBytes == summary.FileBytes && reader.Entries == summary.Entries
                ? new SegmentHandle(context.Disk, path, summary, reader)
                : throw new SegmentDamagedException(path, "its length or number of entries differs from the manifest");
        }
        catch
        {
            reader.Dispose();
            throw;
        }
    }

    /// <summary>Deletes segments that the manifest does not name. A crash may leave such segments.</summary>
    private static void RemoveOrphans(IDisk disk, string folder, List<HeldSegment> segments)
    {
        var named = segments
            .Select(segment => Path.GetFileName(PathOf(folder, segment.Handle.Summary.FileId)))
            .ToHashSet(StringComparer.Ordinal);
        foreach (string name in disk.List(folder))
        {
            if (name.StartsWith(FilePrefix, StringComparison.Ordinal) && !named.Contains(name))
            {
                disk.Delete(Path.Combine(folder, name));
            }
        }
    }

    private SegmentBuilder Batch() => _batch ??= new SegmentBuilder(_context.Share);

    private void ReleaseIdleBatch()
    {
        if (_batch is { Documents: 0 })
        {
            _batch.Dispose();
            _batch = null;
        }
    }

    private SegmentHandle WriteBatch(SegmentBuilder batch)
    {
        long fileId = _nextFileId++;
        using var writer = new SegmentWriter(_context.Disk, PathOf(_folder, fileId), fileId, _context.Io);
        BatchWriter.Write(batch, writer);
        return OpenWritten(writer.Finish());
    }

    /// <summary>
    /// Opens a segment that was just written. If it cannot be opened, deletes its file. The work is tried again with a
    /// new file, so each attempt would otherwise leave a file until the next start.
    /// </summary>
    private SegmentHandle OpenWritten(SegmentSummary summary)
    {
        try
        {
            return OpenSegment(_context, _folder, summary);
        }
        catch
        {
            try
            {
                _context.Disk.Delete(PathOf(_folder, summary.FileId));
            }
            catch (DiskException)
            {
                // The first exception is already being thrown. The next start deletes a file that no manifest names.
            }

            throw;
        }
    }

    /// <summary>Makes a state durable, then visible.</summary>
    /// <param name="state">The state.</param>
    /// <param name="added">The new segment of the state; null for none. If the manifest cannot be written, the file of
    /// the segment is deleted. If the manifest cannot be published, the file is kept until a later one is
    /// durable.</param>
    private void Commit(State state, SegmentHandle? added)
    {
        var manifest = new SegmentManifest(
            state.Watermark,
            _nextFileId,
            [
                .. state.Segments.Select(static segment => new ManifestSegment(
                    segment.Handle.Summary,
                    segment.Live,
                    segment.DeadDocuments
                )),
            ]
        );
        try
        {
            // The names of new segments are durable before a manifest refers to them.
            _context.Disk.SyncDirectory(_folder);
            manifest.Write(_context.Disk, _folder, _context.Io);
        }
        catch
        {
            added?.Supersede();
            throw;
        }

        Publish(added);
        lock (_gate)
        {
            Volatile.Write(ref _state, state);
        }
    }

    /// <summary>
    /// Publishes the current manifest again, and deletes the segments of a manifest whose Publish failed. If segments
    /// can be written and the manifest cannot, each retry would otherwise leave a segment until the disk is full.
    /// </summary>
    private void SettleDoubt()
    {
        if (_doubtful.Count > 0)
        {
            Commit(Current, added: null);
        }
    }

    private void Publish(SegmentHandle? added)
    {
        try
        {
            SegmentManifest.Publish(_context.Disk, _folder);
        }
        catch when (added is not null)
        {
            _doubtful.Add(added);
            throw;
        }

        _doubtful.ForEach(static handle => handle.Supersede());
        _doubtful.Clear();
    }

    /// <summary>
    /// Returns the segments, with the entries of documents that the batch replaces or deletes as dead. Omits segments
    /// without live entries.
    /// </summary>
    private List<HeldSegment> WithoutReplaced(IReadOnlyList<HeldSegment> segments)
    {
        if (_batch is not { Documents: > 0 } batch || segments.Count == 0)
        {
            return [.. segments];
        }

        batch.CollectIds(_sortedIds);
        return
        [
            .. segments
                .Select(segment => WithoutReplaced(segment, batch))
                .Where(static segment => segment.Live.LiveCount > 0),
        ];
    }

    private HeldSegment WithoutReplaced(HeldSegment segment, SegmentBuilder batch)
    {
        var dead = new List<int>();
        long deadDocuments = segment.DeadDocuments;
        var ids = segment.Handle.Reader.Ids();
        foreach (int term in _sortedIds.Numbers)
        {
            // Fast path for a first build, which adds documents in the order of ids: the ids of its batches are outside
            // the range of earlier segments.
            var id = batch.Terms.KeyOf(term);
            if (id.SequenceCompareTo(segment.Handle.LastId) > 0)
            {
                break;
            }

            if (id.SequenceCompareTo(segment.Handle.FirstId) < 0 || !ids.SeekExact(id))
            {
                continue;
            }

            var (first, count) = segment.Handle.Reader.EntriesOf(ids);
            if (segment.Live.IsLive(first))
            {
                dead.AddRange(Enumerable.Range(first, count));
                deadDocuments++;
            }
        }

        return dead.Count == 0 ? segment : new HeldSegment(segment.Handle, segment.Live.Without(dead), deadDocuments);
    }

    private bool BeginMerge()
    {
        var chosen = MergePolicy.Choose(Current.Segments);
        if (chosen.Count == 0)
        {
            return false;
        }

        SettleDoubt();
        _mergeFileId = _nextFileId++;
        _merge = new SegmentMerge(
            _context.Disk,
            PathOf(_folder, _mergeFileId),
            _mergeFileId,
            chosen,
            _context.Share,
            _context.Io
        );
        return true;
    }

    private void FinishMerge(SegmentMerge merge)
    {
        var current = Current;
        var summary = merge.Finish();
        Invariant.Holds(summary.FileId == _mergeFileId, "a merge makes the file that it was begun for");
        var handle = OpenWritten(summary);
        var (live, deadDocuments) = merge.CarryOverDeaths(current.Segments, summary.Entries);
        var merged = current
            .Segments.Where(segment =>
                merge.Sources.Any(source => ReferenceEquals(source.Segment.Handle, segment.Handle))
            )
            .ToList();
        List<HeldSegment> segments = [.. current.Segments.Except(merged)];
        if (live.LiveCount > 0)
        {
            segments.Add(new HeldSegment(handle, live, deadDocuments));
        }

        Commit(new State(current.Watermark, segments), handle);
        merged.ForEach(static segment => segment.Handle.Supersede());
        if (live.LiveCount == 0)
        {
            handle.Supersede();
        }
    }

    private sealed record State(long Watermark, IReadOnlyList<HeldSegment> Segments)
    {
        /// <summary>The handles of the segments, computed once for all snapshots of this state.</summary>
        public SegmentHandle[] Handles { get; } = [.. Segments.Select(static segment => segment.Handle)];

        /// <summary>The segments as snapshots read them, computed once.</summary>
        public LiveSegment[] Live { get; } =
        [.. Segments.Select(static segment => new LiveSegment(segment.Handle.Reader, segment.Live))];
    }
}
