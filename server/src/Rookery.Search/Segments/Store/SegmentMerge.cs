using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// Merges the live entries of segments into a new segment, step by step. <see cref="CarryOverDeaths"/> handles entries
/// that die during the merge. Disposing an unfinished merge deletes its file.
/// </summary>
internal sealed class SegmentMerge : IDisposable
{
    private const int EntriesPerPiece = 4096;

    private readonly MemoryShare _share;
    private readonly SegmentWriter _writer;
    private readonly List<MergeSource> _sources = [];

    // Each element is one step. Its value has no meaning.
    private readonly IEnumerator<bool> _work;

    /// <summary>Starts a merge.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="path">The path of the new file.</param>
    /// <param name="fileId">The number of the new file.</param>
    /// <param name="segments">The segments to merge.</param>
    /// <param name="share">The share that memory is reserved from.</param>
    /// <param name="io">Records disk operations.</param>
    public SegmentMerge(
        IDisk disk,
        string path,
        long fileId,
        IReadOnlyList<HeldSegment> segments,
        MemoryShare share,
        IIoRecorder io
    )
    {
        _share = share;
        _writer = new SegmentWriter(disk, path, fileId, io);
        int entries = 0;
        foreach (var segment in segments)
        {
            _sources.Add(new MergeSource(segment, entries));
            entries += segment.Live.LiveCount;
        }

        _work = Run().GetEnumerator();
    }

    /// <summary>The segments to merge, as they were at the start.</summary>
    public IReadOnlyList<MergeSource> Sources => _sources;

    /// <summary>Does a step.</summary>
    /// <returns>False if only <see cref="Finish"/> remains to be called.</returns>
    public bool Step() => _work.MoveNext();

    /// <summary>Completes the file and syncs it.</summary>
    public SegmentSummary Finish() => _writer.Finish();

    /// <summary>Returns the live entries of the new segment, without those that died since the start.</summary>
    /// <param name="currentSegments">The current segments of the store. A segment without live entries may be
    /// missing.</param>
    /// <param name="entries">Number of entries of the new segment.</param>
    /// <returns>The live entries, and the number of documents of the new segment that have none.</returns>
    public (LiveEntries Live, long DeadDocuments) CarryOverDeaths(
        IReadOnlyList<HeldSegment> currentSegments,
        int entries
    )
    {
        var dead = new List<int>();
        long deadDocuments = 0;
        foreach (var source in _sources)
        {
            var current = currentSegments.FirstOrDefault(segment =>
                ReferenceEquals(segment.Handle, source.Segment.Handle)
            );
            deadDocuments +=
                (current is null ? source.Segment.Handle.Documents : current.DeadDocuments)
                - source.Segment.DeadDocuments;
            var deadEntries = current is null ? Enumerable.Range(0, source.Reader.Entries) : current.Live.Dead();
            dead.AddRange(deadEntries.Where(source.IsLive).Select(source.NewEntryOf));
        }

        var all = LiveEntries.All(entries);
        return (dead.Count == 0 ? all : all.Without(dead), deadDocuments);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _work.Dispose();
        _writer.Dispose();
        _sources.ForEach(static source => source.Segment.Handle.Release());
        _sources.Clear();
    }

    private IEnumerable<bool> Run()
    {
        foreach (
            int number in _sources
                .SelectMany(static source => source.Reader.Fields)
                .Select(static field => field.Number)
                .Distinct()
                .Order()
        )
        {
            using var field = new FieldMerge(_sources, number, _writer, _share);
            foreach (bool _ in field.Run())
            {
                yield return true;
            }
        }

        foreach (bool _ in MergeIds())
        {
            yield return true;
        }

        foreach (bool _ in CopyEntries())
        {
            yield return true;
        }
    }

    private IEnumerable<bool> MergeIds()
    {
        var cursors = new List<(MergeSource Source, KeyCursor Ids)>();
        foreach (var source in _sources)
        {
            var ids = source.Reader.Ids();
            if (ids.MoveNext())
            {
                cursors.Add((source, ids));
            }
        }

        for (int visited = 1; cursors.Count > 0; visited++)
        {
            int lowest = 0;
            for (int i = 1; i < cursors.Count; i++)
            {
                lowest = cursors[i].Ids.Key.SequenceCompareTo(cursors[lowest].Ids.Key) < 0 ? i : lowest;
            }

            var (source, ids) = cursors[lowest];
            var (first, count) = source.Reader.EntriesOf(ids);
            if (source.IsLive(first))
            {
                _writer.AddId(ids.Key, source.NewEntryOf(first), count);
            }

            if (!ids.MoveNext())
            {
                cursors.RemoveAt(lowest);
            }

            if (visited % EntriesPerPiece == 0)
            {
                yield return true;
            }
        }
    }

    private IEnumerable<bool> CopyEntries()
    {
        int visited = 0;
        foreach (var source in _sources)
        {
            var documents = source.Reader.Documents();
            using var stored = source.Reader.HasStored ? source.Reader.Stored() : null;
            for (int entry = 0; entry < source.Reader.Entries; entry++)
            {
                if (source.IsLive(entry))
                {
                    var id = documents.Read(entry, out long etag);
                    _writer.AddEntry(id, etag, stored is null ? default : stored.Read(entry));
                }

                if (++visited % EntriesPerPiece == 0)
                {
                    yield return true;
                }
            }
        }
    }
}
