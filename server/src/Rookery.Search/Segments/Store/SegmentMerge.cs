using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Writing;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// Makes one segment of the live entries of some, a piece at a time. What dies meanwhile is carried over at the end
/// (<see cref="Carry"/>). Disposed unfinished it leaves nothing.
/// </summary>
internal sealed class SegmentMerge : IDisposable
{
    private const int EntriesPerPiece = 4096;

    private readonly MemoryShare _share;
    private readonly SegmentWriter _writer;
    private readonly List<MergeSource> _sources = [];
    private readonly IEnumerator<bool> _work;

    /// <summary>Begins.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="path">The new file.</param>
    /// <param name="fileId">Its number.</param>
    /// <param name="segments">What is merged.</param>
    /// <param name="share">What the memory of the work is charged to.</param>
    /// <param name="io">Takes notes of disk work.</param>
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

    /// <summary>What is merged, as it was at the beginning.</summary>
    public IReadOnlyList<MergeSource> Sources => _sources;

    /// <summary>Does a piece.</summary>
    /// <returns>False when all is written but the end.</returns>
    public bool Step() => _work.MoveNext();

    /// <summary>Ends the file and syncs it.</summary>
    public SegmentSummary Finish() => _writer.Finish();

    /// <summary>What is live of the new segment, after what died since the beginning.</summary>
    /// <param name="now">The segments of the store now; one of which nothing is live may be missing.</param>
    /// <param name="entries">Entries of the new segment.</param>
    public (LiveEntries Live, long DeadDocuments) Carry(IReadOnlyList<HeldSegment> now, int entries)
    {
        var dead = new List<int>();
        long deadDocuments = 0;
        foreach (var source in _sources)
        {
            var held = now.FirstOrDefault(segment => ReferenceEquals(segment.Handle, source.Segment.Handle));
            deadDocuments +=
                (held is null ? source.Segment.Handle.Documents : held.DeadDocuments) - source.Segment.DeadDocuments;
            var died = held is null ? Enumerable.Range(0, source.Reader.Entries) : held.Live.Dead();
            dead.AddRange(died.Where(source.IsLive).Select(source.Place));
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

        for (int done = 1; cursors.Count > 0; done++)
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
                _writer.AddId(ids.Key, source.Place(first), count);
            }

            if (!ids.MoveNext())
            {
                cursors.RemoveAt(lowest);
            }

            if (done % EntriesPerPiece == 0)
            {
                yield return true;
            }
        }
    }

    private IEnumerable<bool> CopyEntries()
    {
        int done = 0;
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

                if (++done % EntriesPerPiece == 0)
                {
                    yield return true;
                }
            }
        }
    }
}
