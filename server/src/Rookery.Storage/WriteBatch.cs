namespace Rookery.Storage;

/// <summary>
/// The rows of one journal frame on their way into the memtable. They go there at once but nobody sees them before <see cref="StorageEngine.Apply"/>; the batch
/// itself sees them (<see cref="TryGet"/>), and can take them back to a mark, so that a command that is refused half-way leaves nothing.
/// One thread, one batch at a time. Versions of one key are put in order: sequences never fall.
/// </summary>
public sealed class WriteBatch
{
    internal WriteBatch()
    {
    }

    /// <summary>The journal index of the frame.</summary>
    public long Index => throw new NotSupportedException();

    /// <summary>The frame's term.</summary>
    public long Term => throw new NotSupportedException();

    /// <summary>Stores a value. Longer than <see cref="StorageOptions.ChunkBytes"/> it becomes large by itself; what it replaces is not released by itself.</summary>
    public void Put(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value) => Put(key, sequence, value, []);

    /// <summary>Stores a value that is <paramref name="head"/> and then <paramref name="tail"/>.</summary>
    public void Put(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail) => throw new NotSupportedException();

    /// <summary>Deletes a key, whether it exists or not.</summary>
    public void Delete(ReadOnlySpan<byte> key, long sequence) => throw new NotSupportedException();

    /// <summary>Deletes every row in [from, toExclusive) whose sequence is lower than <paramref name="sequence"/>, chunks of large values in the range included.</summary>
    public void DeleteRange(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive, long sequence) => throw new NotSupportedException();

    /// <summary>Gives back the chunks of a large value that this batch replaces or deletes. Nothing happens for a row that is not large. Snapshots that see it still read it.</summary>
    public void ReleaseLarge(in Row previous, long sequence) => throw new NotSupportedException();

    /// <summary>Looks a key up, this batch's own rows included.</summary>
    /// <exception cref="DamagedException">The place that would hold it cannot be trusted.</exception>
    public bool TryGet(ReadOnlySpan<byte> key, out Row row) => throw new NotSupportedException();

    /// <summary>Walks a range, the rows that the batch has put by now included. Ended before the next put.</summary>
    public RowCursor Seek(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive, bool backward = false) => throw new NotSupportedException();

    /// <summary>A place to go back to.</summary>
    public BatchMark Mark() => throw new NotSupportedException();

    /// <summary>Takes back everything since <paramref name="mark"/>.</summary>
    public void RollBack(BatchMark mark) => throw new NotSupportedException();
}

/// <summary>A place in a <see cref="WriteBatch"/>.</summary>
/// <param name="Rows">Rows before it.</param>
/// <param name="RangeTombstones">Range tombstones before it.</param>
public readonly record struct BatchMark(int Rows, int RangeTombstones);
