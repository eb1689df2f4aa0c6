using System.Buffers;
using System.Collections.Immutable;

namespace Rookery.Storage.Tests;

/// <summary>
/// The expected content of an engine: an immutable sorted map of values. Tests keep one for each batch.
/// </summary>
internal sealed record EngineModel(ImmutableSortedDictionary<byte[], (long Sequence, byte[] Value)> Rows)
{
    // Tables from this number on belong to the engine.
    private const int FirstOwnTable = 240;

    public static EngineModel Empty { get; } =
        new(
            ImmutableSortedDictionary.Create<byte[], (long, byte[])>(
                Comparer<byte[]>.Create((a, b) => a.AsSpan().SequenceCompareTo(b))
            )
        );

    public EngineModel Put(byte[] key, long sequence, byte[] value) => new(Rows.SetItem(key, (sequence, value)));

    public EngineModel Delete(byte[] key) => new(Rows.Remove(key));

    public EngineModel DeleteRange(byte[] from, byte[] toExclusive) =>
        new(Rows.RemoveRange(KeysInRange(from, toExclusive)));

    /// <summary>Fails unless lookups and scans in both directions return exactly the model's rows.</summary>
    /// <param name="snapshot">The snapshot to check.</param>
    /// <param name="story">What was done, with which the failure's message begins.</param>
    public void Check(in Snapshot snapshot, string story)
    {
        foreach (byte table in EngineWorkload.Tables.Select(table => table.Number))
        {
            for (uint database = 1; database <= EngineWorkload.Databases; database++)
            {
                CheckRange(
                    snapshot,
                    EngineWorkload.Key(database, table, string.Empty),
                    EngineWorkload.Key(database, (byte)(table + 1), string.Empty),
                    story
                );
            }
        }

        CheckRange(snapshot, from: [0], toExclusive: [], story);
        foreach (var (key, (sequence, value)) in Rows)
        {
            Assert.True(snapshot.TryGet(key, out Row row), $"{story}: {Convert.ToHexString(key)} is missing");
            using (row)
            {
                Assert.True(
                    sequence == row.Sequence && value.AsSpan().SequenceEqual(Read(row)),
                    $"{story}: {Convert.ToHexString(key)} differs"
                );
            }
        }
    }

    private static byte[] Read(in Row row)
    {
        var buffer = new ArrayBufferWriter<byte>();
        row.CopyTo(buffer, 0, row.Length);
        return buffer.WrittenSpan.ToArray();
    }

    private IEnumerable<byte[]> KeysInRange(byte[] from, byte[] toExclusive) =>
        Rows.Keys.Where(key =>
            key.AsSpan().SequenceCompareTo(from) >= 0
            && (toExclusive.Length == 0 || key.AsSpan().SequenceCompareTo(toExclusive) < 0)
        );

    private void CheckRange(in Snapshot snapshot, byte[] from, byte[] toExclusive, string story)
    {
        byte[][] expected = [.. KeysInRange(from, toExclusive)];
        CheckWalk(snapshot.Seek(from, toExclusive), expected, $"{story}: upwards from {Convert.ToHexString(from)}");
        CheckWalk(
            snapshot.Seek(from, toExclusive, backward: true),
            [.. expected.Reverse()],
            $"{story}: downwards to {Convert.ToHexString(from)}"
        );
    }

    private void CheckWalk(RowCursor cursor, byte[][] expected, string story)
    {
        using (cursor)
        {
            int count = 0;
            var buffer = new ArrayBufferWriter<byte>();
            while (cursor.MoveNext())
            {
                int table = cursor.Key[4];
                if (table >= FirstOwnTable)
                {
                    continue; // the engine's own rows, which only full scans return
                }

                Assert.True(
                    count < expected.Length && cursor.Key.SequenceEqual(expected[count]),
                    $"{story}: row {count} is {Convert.ToHexString(cursor.Key)}"
                );
                buffer.ResetWrittenCount();
                cursor.CopyTo(buffer, 0, cursor.Length);
                var (sequence, value) = Rows[expected[count]];
                Assert.True(
                    sequence == cursor.Sequence && buffer.WrittenSpan.SequenceEqual(value),
                    $"{story}: {Convert.ToHexString(cursor.Key)} differs"
                );
                count++;
            }

            Assert.True(count == expected.Length, $"{story}: {count} rows instead of {expected.Length}");
        }
    }
}
