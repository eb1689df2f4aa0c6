using Rookery.Platform;

namespace Rookery.Server.Observation;

/// <summary>
/// The figures of one node every ten seconds for 24 hours, in memory. A sample is encoded as the changes since the
/// previous one: a few bytes for an idle node. Samples are in chunks that can be decoded and dropped independently. The
/// memory is bounded: if all figures change all day, fewer hours are kept. The oldest samples by arrival are dropped
/// first, not the oldest by their times, so a jump of the clock loses nothing. Thread-safe.
/// </summary>
internal sealed class SampleHistory(MemoryShare memory)
{
    /// <summary>Time for which samples are kept if one arrives in each <see cref="Span"/>.</summary>
    public static readonly TimeSpan Retention = TimeSpan.FromHours(24);

    /// <summary>Time between two samples.</summary>
    public static readonly TimeSpan Span = TimeSpan.FromSeconds(10);

    /// <summary>Memory for one node in bytes: a third of 4 MiB, for three nodes.</summary>
    public const int MaxBytes = 4 * 1024 * 1024 / 3;

    private const int ChunkBytes = 16 * 1024;
    private const int MaxChunks = MaxBytes / ChunkBytes;

    private static readonly int MaxSamples = (int)(Retention / Span);

    private readonly Lock _gate = new();

    // In order of arrival. The first chunks were restored from other members.
    private readonly List<SampleChunk> _chunks = [];
    private int _restoredChunks;
    private int _count;

    /// <summary>Time of the last sample that arrived, in milliseconds since 1970; 0 if there is none.</summary>
    public long NewestUnixMilliseconds
    {
        get
        {
            lock (_gate)
            {
                return _chunks.Count > 0 ? _chunks[^1].LastUnixMilliseconds : 0;
            }
        }
    }

    /// <summary>Number of samples.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _count;
            }
        }
    }

    /// <summary>Memory in use, in bytes.</summary>
    public int TakenBytes
    {
        get
        {
            lock (_gate)
            {
                return _chunks.Count * ChunkBytes;
            }
        }
    }

    /// <summary>Adds a sample at the end, even if its time is earlier than that of the last sample.</summary>
    /// <param name="unixMilliseconds">Time of the sample.</param>
    /// <param name="figures">All figures, by their number; NaN for unknown ones.</param>
    public void Add(long unixMilliseconds, ReadOnlySpan<double> figures)
    {
        lock (_gate)
        {
            if (_chunks.Count == _restoredChunks || !_chunks[^1].TryAdd(unixMilliseconds, figures))
            {
                _chunks.Add(NewChunk(unixMilliseconds, figures));
            }

            _count++;
            DropOldest();
        }
    }

    /// <summary>
    /// Inserts samples of earlier runs of this node, which other members kept, before those of this process. Skips
    /// samples that are already known.
    /// </summary>
    public void AddBefore(IEnumerable<SampleRow> earlier)
    {
        lock (_gate)
        {
            var known = Decode(PartsFrom(0)).Select(static row => row.UnixMilliseconds).ToHashSet();
            var merged = Decode(PartsFrom(0)[.._restoredChunks])
                .Concat(earlier.Where(row => !known.Contains(row.UnixMilliseconds)))
                .OrderBy(static row => row.UnixMilliseconds)
                .ToList();
            var own = _chunks[_restoredChunks..];
            memory.Release((long)_restoredChunks * ChunkBytes);
            _chunks.Clear();
            foreach (var row in merged)
            {
                if (_chunks.Count == 0 || !_chunks[^1].TryAdd(row.UnixMilliseconds, row.Figures))
                {
                    _chunks.Add(NewChunk(row.UnixMilliseconds, row.Figures));
                }
            }

            _restoredChunks = _chunks.Count;
            _chunks.AddRange(own);
            _count = _chunks.Sum(static chunk => chunk.Count);
            DropOldest();
        }
    }

    /// <summary>Removes all samples.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            memory.Release((long)_chunks.Count * ChunkBytes);
            _chunks.Clear();
            (_restoredChunks, _count) = (0, 0);
        }
    }

    /// <summary>
    /// Returns the samples between two times, both inclusive, in milliseconds since 1970, earliest first. They are
    /// decoded during the enumeration, without blocking <see cref="Add"/>.
    /// </summary>
    public IEnumerable<SampleRow> Between(long fromUnixMilliseconds, long throughUnixMilliseconds)
    {
        Part[] parts;
        lock (_gate)
        {
            parts =
            [
                .. PartsFrom(0)
                    .Where(part => part.Latest >= fromUnixMilliseconds && part.Earliest <= throughUnixMilliseconds),
            ];
        }

        var rows = Decode(parts)
            .Where(row =>
                row.UnixMilliseconds >= fromUnixMilliseconds && row.UnixMilliseconds <= throughUnixMilliseconds
            );
        bool isOrdered =
            parts.All(static part => part.IsOrdered)
            && parts.Zip(parts.Skip(1)).All(static pair => pair.First.Latest <= pair.Second.Earliest);
        return isOrdered ? rows : rows.OrderBy(static row => row.UnixMilliseconds);
    }

    /// <summary>
    /// Returns the samples that arrived after a given one, in order of arrival. If that sample is unknown or was
    /// restored from another member, returns all samples since the node started.
    /// </summary>
    /// <param name="unixMilliseconds">Time of the given sample; 0 to return all samples.</param>
    public IEnumerable<SampleRow> After(long unixMilliseconds)
    {
        Part[] parts;
        lock (_gate)
        {
            parts = [.. PartsFrom(unixMilliseconds == 0 ? 0 : _restoredChunks)];
        }

        // Search backwards, because the sample is nearly always the last but one.
        for (int index = parts.Length - 1; index >= 0 && unixMilliseconds != 0; index--)
        {
            if (
                unixMilliseconds >= parts[index].Earliest
                && unixMilliseconds <= parts[index].Latest
                && Decode(parts[index..(index + 1)])
                    .Select(static row => row.UnixMilliseconds)
                    .ToList()
                    .LastIndexOf(unixMilliseconds)
                    is var place
                        and >= 0
            )
            {
                return Decode(parts[index..]).Skip(place + 1);
            }
        }

        return Decode(parts);
    }

    /// <summary>Returns the chunks from an index on with their current lengths; written bytes never change.</summary>
    private Part[] PartsFrom(int from) =>
        [
            .. _chunks
                .Skip(from)
                .Select(static chunk => new Part(
                    chunk,
                    chunk.Used,
                    chunk.EarliestUnixMilliseconds,
                    chunk.LatestUnixMilliseconds,
                    chunk.IsOrdered
                )),
        ];

    private static IEnumerable<SampleRow> Decode(Part[] parts) =>
        parts.SelectMany(static part => part.Chunk.Read(part.Used));

    private SampleChunk NewChunk(long unixMilliseconds, ReadOnlySpan<double> figures)
    {
        var chunk = new SampleChunk(ChunkBytes);
        memory.Reserve(ChunkBytes);
        Invariant.Holds(chunk.TryAdd(unixMilliseconds, figures), "an empty chunk takes a sample");
        return chunk;
    }

    private void DropOldest()
    {
        while (_chunks.Count > MaxChunks || (_chunks.Count > 1 && _count - _chunks[0].Count >= MaxSamples))
        {
            _count -= _chunks[0].Count;
            _chunks.RemoveAt(0);
            _restoredChunks = Math.Max(0, _restoredChunks - 1);
            memory.Release(ChunkBytes);
        }
    }

    private readonly record struct Part(SampleChunk Chunk, int Used, long Earliest, long Latest, bool IsOrdered);
}

/// <summary>A decoded sample.</summary>
/// <param name="UnixMilliseconds">Time of the sample.</param>
/// <param name="Figures">All figures, by their number; NaN for unknown ones.</param>
internal readonly record struct SampleRow(long UnixMilliseconds, double[] Figures);
