using Rookery.Disk;

namespace Rookery.Server.Observation;

/// <summary>
/// The figures of one node every ten seconds for 24 hours, in memory. A sample is kept as which figures changed and by how much, in variable-length numbers: few bytes of an idle node, some more of a busy one.
/// In chunks, each of which begins anew, so that old ones are given back as a whole; bounded, so that when everything changes all day its oldest hours go early. Thread-safe.
/// </summary>
internal sealed class SampleHistory(MemoryShare memory)
{
    /// <summary>What is older is let go.</summary>
    public static readonly TimeSpan Kept = TimeSpan.FromHours(24);

    /// <summary>Between two samples.</summary>
    public static readonly TimeSpan Span = TimeSpan.FromSeconds(10);

    /// <summary>What one node's may take: three nodes' take 4 MiB at most.</summary>
    public const int MostBytes = 4 * 1024 * 1024 / 3;

    private const int ChunkBytes = 16 * 1024;
    private const int MostChunks = MostBytes / ChunkBytes;

    private readonly Lock access = new();
    private readonly Queue<SampleChunk> chunks = [];
    private SampleChunk? newest;

    /// <summary>When the newest sample was taken, in milliseconds since 1970; 0 when there is none.</summary>
    public long NewestUnixMilliseconds
    {
        get
        {
            lock (access)
            {
                return newest?.LastUnixMilliseconds ?? 0;
            }
        }
    }

    /// <summary>Bytes that it takes now.</summary>
    public int TakenBytes
    {
        get
        {
            lock (access)
            {
                return chunks.Count * ChunkBytes;
            }
        }
    }

    /// <summary>Adds a sample. One that is not later than the newest says that the node's clock was set back: those at and behind its time are let go, for what they say of when is not so.</summary>
    /// <param name="unixMilliseconds">When it was taken.</param>
    /// <param name="figures">All figures, by their number; NaN for what is not known.</param>
    public void Add(long unixMilliseconds, ReadOnlySpan<double> figures)
    {
        lock (access)
        {
            if (newest is not null && unixMilliseconds <= newest.LastUnixMilliseconds)
            {
                Rebuild(Read(chunks.ToArray(), long.MinValue, unixMilliseconds - 1));
            }

            AddLater(unixMilliseconds, figures);
        }
    }

    /// <summary>Puts samples before those that there are: what others kept of this node before it started. Those that are not earlier are left out.</summary>
    public void AddBefore(IEnumerable<SampleRow> earlier)
    {
        lock (access)
        {
            long begin = chunks.TryPeek(out var oldest) ? oldest.FirstUnixMilliseconds : long.MaxValue;
            Rebuild(earlier.TakeWhile(row => row.UnixMilliseconds < begin).Concat(Read(chunks.ToArray(), long.MinValue, long.MaxValue)));
        }
    }

    /// <summary>Lets go of everything.</summary>
    public void Clear()
    {
        lock (access)
        {
            Rebuild([]);
        }
    }

    /// <summary>The samples from one time through another, in milliseconds since 1970, oldest first. They are read as they are asked for, without holding up who adds.</summary>
    public IEnumerable<SampleRow> Between(long fromUnixMilliseconds, long throughUnixMilliseconds)
    {
        (SampleChunk Chunk, int Used)[] taken;
        lock (access)
        {
            // Written bytes of a chunk never change.
            taken = [.. chunks.Where(chunk => chunk.LastUnixMilliseconds >= fromUnixMilliseconds && chunk.FirstUnixMilliseconds <= throughUnixMilliseconds).Select(static chunk => (chunk, chunk.Used))];
        }

        return Read(taken, fromUnixMilliseconds, throughUnixMilliseconds);
    }

    private static IEnumerable<SampleRow> Read(SampleChunk[] chunks, long from, long through) => Read([.. chunks.Select(static chunk => (chunk, chunk.Used))], from, through);

    private static IEnumerable<SampleRow> Read((SampleChunk Chunk, int Used)[] taken, long from, long through)
    {
        foreach (var (chunk, used) in taken)
        {
            foreach (var row in chunk.Read(used))
            {
                if (row.UnixMilliseconds > through)
                {
                    yield break;
                }

                if (row.UnixMilliseconds >= from)
                {
                    yield return row;
                }
            }
        }
    }

    // The rows are read from chunks that are let go meanwhile.
    private void Rebuild(IEnumerable<SampleRow> rows)
    {
        memory.Release((long)chunks.Count * ChunkBytes);
        chunks.Clear();
        newest = null;
        foreach (var row in rows)
        {
            if (newest is null || row.UnixMilliseconds > newest.LastUnixMilliseconds)
            {
                AddLater(row.UnixMilliseconds, row.Figures);
            }
        }
    }

    private void AddLater(long unixMilliseconds, ReadOnlySpan<double> figures)
    {
        if (newest is not null && newest.TryAdd(unixMilliseconds, figures))
        {
            return;
        }

        while (chunks.TryPeek(out var oldest) && (chunks.Count == MostChunks || oldest.LastUnixMilliseconds < unixMilliseconds - (long)Kept.TotalMilliseconds))
        {
            chunks.Dequeue();
            memory.Release(ChunkBytes);
        }

        newest = new SampleChunk(ChunkBytes);
        chunks.Enqueue(newest);
        memory.Reserve(ChunkBytes);
        Invariant.Holds(newest.TryAdd(unixMilliseconds, figures), "an empty chunk takes a sample");
    }
}

/// <summary>A sample as history gives it.</summary>
/// <param name="UnixMilliseconds">When it was taken.</param>
/// <param name="Figures">All figures, by their number; NaN for what is not known.</param>
internal readonly record struct SampleRow(long UnixMilliseconds, double[] Figures);
