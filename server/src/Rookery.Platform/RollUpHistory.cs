namespace Rookery.Platform;

/// <summary>
/// Roll-ups of the last 24 hours, encoded as varints in chunks: 9 to 13 bytes for each kind and second with operations.
/// Four kinds with operations in every second take 3.8 MB a day. Not thread-safe.
/// </summary>
/// <remarks>
/// A record is one byte with the seconds since the record before (upper 4 bits) and the kind (lower 4 bits), then the
/// varints count, bytes, total and maximum. If the upper bits are 15, the seconds follow the byte as a varint.
/// </remarks>
internal sealed class RollUpHistory
{
    internal const int KeptSeconds = 24 * 60 * 60;

    /// <summary>The largest record: one byte, and five numbers of at most ten bytes.</summary>
    private const int LargestRecordBytes = 51;
    private const int ChunkBytes = 16 * 1024;
    private const int StepInVarint = 15;

    private readonly Queue<Chunk> _chunks = [];
    private readonly int _maxChunks;
    private Chunk? _newest;

    /// <summary>
    /// Makes a history of at most <paramref name="maxBytes"/>. When all kinds are busy all day, the oldest hours are
    /// dropped early.
    /// </summary>
    internal RollUpHistory(int maxBytes) => _maxChunks = Math.Max(2, maxBytes / ChunkBytes);

    /// <summary>Bytes allocated for chunks.</summary>
    internal int TakenBytes => _chunks.Count * ChunkBytes;

    internal void Add(in IoRollUp added)
    {
        var chunk = _newest;
        if (chunk is null || chunk.Used + LargestRecordBytes > ChunkBytes || added.UnixSecond < chunk.LastSecond)
        {
            chunk = Begin(added.UnixSecond);
        }

        long step = added.UnixSecond - chunk.LastSecond;
        chunk.LastSecond = added.UnixSecond;
        chunk.Bytes[chunk.Used++] = (byte)((Math.Min(step, StepInVarint) << 4) | (byte)added.Kind);
        if (step >= StepInVarint)
        {
            chunk.Write(step);
        }

        chunk.Write(added.Count);
        chunk.Write(added.Bytes);
        chunk.Write(added.TotalMicroseconds);
        chunk.Write(added.MaxMicroseconds);
    }

    /// <summary>
    /// Returns the current history, which can be read without blocking further records: written bytes of a chunk never
    /// change.
    /// </summary>
    internal Snapshot TakeSnapshot() => new([.. _chunks.Select(chunk => (chunk, chunk.Used, chunk.LastSecond))]);

    private static IEnumerable<IoRollUp> Read(Chunk chunk, int used)
    {
        long second = chunk.FirstSecond;
        int offset = 0;
        while (offset < used)
        {
            byte head = chunk.Bytes[offset];
            offset++;
            int step = head >> 4;
            second += step == StepInVarint ? chunk.Read(ref offset) : step;
            yield return new IoRollUp(
                second,
                (IoKind)(head & 0xf),
                chunk.Read(ref offset),
                chunk.Read(ref offset),
                chunk.Read(ref offset),
                chunk.Read(ref offset)
            );
        }
    }

    private Chunk Begin(long second)
    {
        while (
            _chunks.TryPeek(out var oldest) && (_chunks.Count == _maxChunks || oldest.LastSecond < second - KeptSeconds)
        )
        {
            _chunks.Dequeue();
        }

        _newest = new Chunk();
        _newest.FirstSecond = _newest.LastSecond = second;
        _chunks.Enqueue(_newest);
        return _newest;
    }

    /// <summary>The history at one moment.</summary>
    internal sealed class Snapshot
    {
        private readonly (Chunk Chunk, int Used, long LastSecond)[] _chunks;

        internal Snapshot((Chunk Chunk, int Used, long LastSecond)[] chunks) => _chunks = chunks;

        /// <summary>
        /// Returns the roll-ups of seconds from <paramref name="from"/> to <paramref name="to"/>, excluding the latter,
        /// in the order in which they were added.
        /// </summary>
        internal IEnumerable<IoRollUp> Between(long from, long to) =>
            _chunks
                .Where(part => part.LastSecond >= from && part.Chunk.FirstSecond < to)
                .SelectMany(part => Read(part.Chunk, part.Used))
                .Where(rollUp => rollUp.UnixSecond >= from && rollUp.UnixSecond < to);
    }

    internal sealed class Chunk
    {
        internal byte[] Bytes { get; } = new byte[ChunkBytes];

        internal int Used { get; set; }

        internal long FirstSecond { get; set; }

        internal long LastSecond { get; set; }

        internal void Write(long number)
        {
            ulong remaining = (ulong)number;
            while (remaining >= 0x80)
            {
                Bytes[Used++] = (byte)(remaining | 0x80);
                remaining >>= 7;
            }

            Bytes[Used++] = (byte)remaining;
        }

        internal long Read(ref int offset)
        {
            ulong number = 0;
            for (int shift = 0; ; shift += 7)
            {
                byte part = Bytes[offset++];
                number |= (ulong)(part & 0x7f) << shift;
                if (part < 0x80)
                {
                    return (long)number;
                }
            }
        }
    }
}
