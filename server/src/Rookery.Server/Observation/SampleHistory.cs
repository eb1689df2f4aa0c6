using Rookery.Platform;

namespace Rookery.Server.Observation;

/// <summary>
/// The figures of one node every ten seconds for 24 hours, in memory. A sample is kept as which figures changed and by
/// how much, in variable-length numbers: few bytes of an idle node, some more of a busy one. In chunks, each of which
/// begins anew, so that old ones are given back as a whole; bounded, so that when everything changes all day its oldest
/// hours go early. What is oldest goes by the order in which samples came, never by what they say of when: a clock that
/// jumps must not cost what was kept. Thread-safe.
/// </summary>
internal sealed class SampleHistory(MemoryShare memory)
{
    /// <summary>As many samples as are taken in this time are kept.</summary>
    public static readonly TimeSpan Kept = TimeSpan.FromHours(24);

    /// <summary>Between two samples.</summary>
    public static readonly TimeSpan Span = TimeSpan.FromSeconds(10);

    /// <summary>What one node's may take: three nodes' take 4 MiB at most.</summary>
    public const int MostBytes = 4 * 1024 * 1024 / 3;

    private const int ChunkBytes = 16 * 1024;
    private const int MostChunks = MostBytes / ChunkBytes;

    private static readonly int MostSamples = (int)(Kept / Span);

    private readonly Lock _access = new();

    // In the order in which samples came; the first so many hold what others kept.
    private readonly List<SampleChunk> _chunks = [];
    private int _before;
    private int _count;

    /// <summary>When the sample that came last was taken, in milliseconds since 1970; 0 when there is none.</summary>
    public long NewestUnixMilliseconds
    {
        get
        {
            lock (_access)
            {
                return _chunks.Count > 0 ? _chunks[^1].LastUnixMilliseconds : 0;
            }
        }
    }

    /// <summary>How many samples there are.</summary>
    public int Count
    {
        get
        {
            lock (_access)
            {
                return _count;
            }
        }
    }

    /// <summary>Bytes that it takes now.</summary>
    public int TakenBytes
    {
        get
        {
            lock (_access)
            {
                return _chunks.Count * ChunkBytes;
            }
        }
    }

    /// <summary>Adds a sample behind all others, whatever time it says.</summary>
    /// <param name="unixMilliseconds">When it was taken.</param>
    /// <param name="figures">All figures, by their number; NaN for what is not known.</param>
    public void Add(long unixMilliseconds, ReadOnlySpan<double> figures)
    {
        lock (_access)
        {
            if (_chunks.Count == _before || !_chunks[^1].TryAdd(unixMilliseconds, figures))
            {
                _chunks.Add(NewChunk(unixMilliseconds, figures));
            }

            _count++;
            LetGoOfOldest();
        }
    }

    /// <summary>
    /// Puts samples before those that there are: what others kept of this node before it started. Those that are known
    /// already are left out.
    /// </summary>
    public void AddBefore(IEnumerable<SampleRow> earlier)
    {
        lock (_access)
        {
            var known = Read(Taken(0)).Select(static row => row.UnixMilliseconds).ToHashSet();
            var merged = Read(Taken(0)[.._before])
                .Concat(earlier.Where(row => !known.Contains(row.UnixMilliseconds)))
                .OrderBy(static row => row.UnixMilliseconds)
                .ToList();
            var own = _chunks[_before..];
            memory.Release((long)_before * ChunkBytes);
            _chunks.Clear();
            foreach (var row in merged)
            {
                if (_chunks.Count == 0 || !_chunks[^1].TryAdd(row.UnixMilliseconds, row.Figures))
                {
                    _chunks.Add(NewChunk(row.UnixMilliseconds, row.Figures));
                }
            }

            _before = _chunks.Count;
            _chunks.AddRange(own);
            _count = _chunks.Sum(static chunk => chunk.Count);
            LetGoOfOldest();
        }
    }

    /// <summary>Lets go of everything.</summary>
    public void Clear()
    {
        lock (_access)
        {
            memory.Release((long)_chunks.Count * ChunkBytes);
            _chunks.Clear();
            (_before, _count) = (0, 0);
        }
    }

    /// <summary>
    /// The samples from one time through another, in milliseconds since 1970, the earliest first. They are read as they
    /// are asked for, without holding up who adds.
    /// </summary>
    public IEnumerable<SampleRow> Between(long fromUnixMilliseconds, long throughUnixMilliseconds)
    {
        Part[] taken;
        lock (_access)
        {
            taken =
            [
                .. Taken(0)
                    .Where(part => part.Latest >= fromUnixMilliseconds && part.Earliest <= throughUnixMilliseconds),
            ];
        }

        var rows = Read(taken)
            .Where(row =>
                row.UnixMilliseconds >= fromUnixMilliseconds && row.UnixMilliseconds <= throughUnixMilliseconds
            );
        bool isOrdered =
            taken.All(static part => part.IsOrdered)
            && taken.Zip(taken.Skip(1)).All(static pair => pair.First.Latest <= pair.Second.Earliest);
        return isOrdered ? rows : rows.OrderBy(static row => row.UnixMilliseconds);
    }

    /// <summary>
    /// The samples that came after one, in the order in which they came: all for who knows none, and where that one is
    /// not known here, or others kept it, all since the node started.
    /// </summary>
    /// <param name="unixMilliseconds">What that sample says of when it was taken; 0 for none.</param>
    public IEnumerable<SampleRow> After(long unixMilliseconds)
    {
        Part[] taken;
        lock (_access)
        {
            taken = [.. Taken(unixMilliseconds == 0 ? 0 : _before)];
        }

        // From behind: it is the last but one nearly always.
        for (int at = taken.Length - 1; at >= 0 && unixMilliseconds != 0; at--)
        {
            if (
                unixMilliseconds >= taken[at].Earliest
                && unixMilliseconds <= taken[at].Latest
                && Read(taken[at..(at + 1)])
                    .Select(static row => row.UnixMilliseconds)
                    .ToList()
                    .LastIndexOf(unixMilliseconds)
                    is var place
                        and >= 0
            )
            {
                return Read(taken[at..]).Skip(place + 1);
            }
        }

        return Read(taken);
    }

    /// <summary>Chunks from one on as they are now: bytes of them that are written never change.</summary>
    private Part[] Taken(int from) =>
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

    private static IEnumerable<SampleRow> Read(Part[] taken) =>
        taken.SelectMany(static part => part.Chunk.Read(part.Used));

    private SampleChunk NewChunk(long unixMilliseconds, ReadOnlySpan<double> figures)
    {
        var chunk = new SampleChunk(ChunkBytes);
        memory.Reserve(ChunkBytes);
        Invariant.Holds(chunk.TryAdd(unixMilliseconds, figures), "an empty chunk takes a sample");
        return chunk;
    }

    private void LetGoOfOldest()
    {
        while (_chunks.Count > MostChunks || (_chunks.Count > 1 && _count - _chunks[0].Count >= MostSamples))
        {
            _count -= _chunks[0].Count;
            _chunks.RemoveAt(0);
            _before = Math.Max(0, _before - 1);
            memory.Release(ChunkBytes);
        }
    }

    private readonly record struct Part(SampleChunk Chunk, int Used, long Earliest, long Latest, bool IsOrdered);
}

/// <summary>A sample as history gives it.</summary>
/// <param name="UnixMilliseconds">When it was taken.</param>
/// <param name="Figures">All figures, by their number; NaN for what is not known.</param>
internal readonly record struct SampleRow(long UnixMilliseconds, double[] Figures);
