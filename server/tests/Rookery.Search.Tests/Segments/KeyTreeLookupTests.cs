using System.Buffers.Binary;
using System.Text;
using Rookery.Fixtures;
using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;
using Rookery.Search.Segments.Store;
using Rookery.Search.Segments.Writing;
using Rookery.Simulation;

namespace Rookery.Search.Tests.Segments;

/// <summary>
/// Compares look-ups, which do not assemble whole keys from their shared prefixes, with a cursor, which does.
/// </summary>
public sealed class KeyTreeLookupTests
{
    private const string Folder = "/data/index";
    private const string File = Folder + "/segment-1";

    private static readonly Comparer<byte[]> InOrder = Comparer<byte[]>.Create(
        static (one, other) => one.AsSpan().SequenceCompareTo(other)
    );

    [Theory]
    [InlineData(1, 2)]
    [InlineData(60, 2)]
    [InlineData(20_000, 3)]
    [InlineData(20_000, 12)]
    public void A_look_up_finds_a_key_where_a_cursor_finds_it(int terms, int letters)
    {
        var random = new Random(terms + letters);
        using var store = SegmentStore.Open(StoreContents.ContextOf(new SimulatedDisk("/data", Folder)), Folder);
        var entry = new IndexEntry();
        for (int document = 0; document < terms; document++)
        {
            entry.Clear();
            entry.Add(0, DrawKey(random, letters));
            store.Put(Encoding.UTF8.GetBytes($"d/{document}"), document + 1, entry);
        }

        store.Apply(terms);
        using var snapshot = store.OpenSnapshot();
        var field = snapshot.Segments.Single().Reader.Field(0)!;
        var walk = field.Terms();
        int hits = 0;
        for (int lookup = 0; lookup < 20_000; lookup++)
        {
            byte[] key = DrawKey(random, letters);
            bool exists = walk.SeekExact(key);
            hits += exists ? 1 : 0;
            var postings = field.Postings(key);
            Assert.Equal(exists, postings is not null);
            Assert.Equal(exists ? walk.EntryCount : 0, field.EntryCount(key));
            if (exists)
            {
                var expected = field.NewPostings();
                expected.Open(walk.Postings);
                Assert.Equal(expected.MoveNext(), postings!.MoveNext());
            }
        }

        var seeking = field.Terms();
        for (bool exists = walk.SeekOrdinal(0); exists; exists = walk.MoveNext())
        {
            Assert.True(
                field.Postings(walk.Term)?.Count == walk.EntryCount,
                $"the look-up of {Convert.ToHexString(walk.Term)} differs from the cursor"
            );
            Assert.True(
                seeking.SeekExact(walk.Term) && seeking.Ordinal == walk.Ordinal,
                $"a cursor does not find {Convert.ToHexString(walk.Term)} where another one stands"
            );
        }

        Assert.InRange(hits, 1, 20_000);
    }

    [Fact]
    public void A_range_of_sort_keys_contains_the_entries_that_its_cursor_returns()
    {
        const int Entries = 300;
        using var store = SegmentStore.Open(StoreContents.ContextOf(new SimulatedDisk("/data", Folder)), Folder);
        var entry = new IndexEntry();
        for (int document = 0; document < Entries; document++)
        {
            entry.Clear();
            entry.Add(0, [(byte)(document % 10)]);
            entry.SetSortKey(field: 0, [(byte)(document % 10)]);
            store.Put(Encoding.UTF8.GetBytes($"d/{document}"), document + 1, entry);
        }

        store.Apply(Entries);
        using var snapshot = store.OpenSnapshot();
        var field = snapshot.Segments.Single().Reader.Field(0)!;
        Assert.True(field.HasPlainKeys);
        for (byte from = 0; from < 10; from++)
        {
            for (byte to = from; to < 10; to++)
            {
                var (first, end) = field.Ordinals(new TermRange((byte[])[from], true, (byte[])[to], true));
                var range = new OrdinalRangeCursor(field.SortOrdinals!, first, end);
                var tested = Enumerable.Range(0, Entries).Where(range.Contains).ToList();
                var walked = new List<int>();
                while (range.MoveNext() != EntryCursor.End)
                {
                    walked.Add(range.Current);
                }

                Assert.Equal(walked, tested);
                Assert.Equal((to - from + 1) * Entries / 10, walked.Count);
            }
        }
    }

    /// <summary>
    /// Keys with common prefixes of hundreds of bytes, so that blocks above the leaves have few items and the tree has
    /// as many levels as that of a very large segment.
    /// </summary>
    [Trait("Effort", "Whole")]
    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, 26)]
    [InlineData(3, 200)]
    public void Keys_and_gaps_are_found_in_a_tree_of_many_levels(int seed, int letters)
    {
        var random = new Random(seed);
        byte[][] keys = DrawLongKeys(random, letters);
        var disk = new SimulatedDisk("/data", Folder);
        var root = Write(disk, keys);
        Assert.InRange(root.Height, 4, KeyTreeRoot.HeightLimit);
        Assert.Equal(keys.Length, root.Count);

        var context = StoreContents.ContextOf(disk);
        using var pages = new SegmentFile(disk.Open(File, DiskOpen.Read), fileId: 1, context.Cache, context.Io);
        var walk = new KeyCursor(pages, root);
        for (int index = 0; index < keys.Length; index++)
        {
            Assert.True(walk.MoveNext());
            AssertAt(walk, keys, index);
        }

        Assert.False(walk.MoveNext());
        var cursor = new KeyCursor(pages, root);
        foreach (byte[] key in keys.SelectMany(key => NeighboursOf(random, key)).Append([]))
        {
            int index = Array.BinarySearch(keys, key, InOrder);
            bool exists = index >= 0;
            index = exists ? index : ~index;
            Assert.Equal(exists, KeyTreeLookup.TryFind(pages, root, key, out long ordinal, out var payload));
            Assert.Equal(index, ordinal);
            Assert.Equal(exists ? index : -1, exists ? BinaryPrimitives.ReadInt32LittleEndian(payload.Span) : -1);

            Assert.Equal(exists, cursor.SeekExact(key));
            AssertFrom(cursor, keys, index);
            Assert.Equal(index < keys.Length, cursor.Seek(key));
            AssertFrom(cursor, keys, index);
            Assert.Equal(index < keys.Length, cursor.SeekOrdinal(index));
            AssertFrom(cursor, keys, index);
        }
    }

    /// <summary>Writes a tree of these keys, each with its index as payload.</summary>
    private static KeyTreeRoot Write(SimulatedDisk disk, byte[][] keys)
    {
        using var output = new SegmentOutput(disk, File, fileId: 1, NoRecorder.Instance);
        var writer = new KeyTreeWriter(output);
        byte[] payload = new byte[sizeof(int)];
        for (int index = 0; index < keys.Length; index++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(payload, index);
            writer.Add(keys[index], payload);
        }

        var root = writer.Finish();
        output.Finish();
        return root;
    }

    // Checks the key and the next one, which may be in another block of this or a higher level.
    private static void AssertFrom(KeyCursor cursor, byte[][] keys, int index)
    {
        AssertAt(cursor, keys, index);
        Assert.Equal(index + 1 < keys.Length, cursor.MoveNext());
        AssertAt(cursor, keys, Math.Min(index + 1, keys.Length));
    }

    private static void AssertAt(KeyCursor cursor, byte[][] keys, int index)
    {
        Assert.Equal(index, cursor.Ordinal);
        if (index < keys.Length)
        {
            Assert.True(cursor.Key.SequenceEqual(keys[index]), $"the cursor has another key than key {index}");
            Assert.Equal(index, BinaryPrimitives.ReadInt32LittleEndian(cursor.Payload));
        }
    }

    private static byte[][] DrawLongKeys(Random random, int letters)
    {
        var keys = new SortedSet<byte[]>(InOrder);
        for (int group = 0; group < 150; group++)
        {
            byte[] beginning = DrawBytes(random, random.Next(200, 450), letters);
            for (int key = random.Next(20, 120); key > 0; key--)
            {
                keys.Add([.. beginning, .. DrawBytes(random, random.Next(30), letters)]);
            }
        }

        return [.. keys];
    }

    /// <summary>
    /// A key, and similar keys that rarely exist: just before it, just after it, its prefix, and one that differs
    /// somewhere.
    /// </summary>
    private static IEnumerable<byte[]> NeighboursOf(Random random, byte[] key)
    {
        yield return key;
        yield return [.. key, 0];
        yield return key[..^1];
        yield return key[..random.Next(key.Length)];
        byte[] other = [.. key];
        other[random.Next(key.Length)] += (byte)random.Next(1, 256);
        yield return other;
    }

    private static byte[] DrawBytes(Random random, int count, int letters)
    {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++)
        {
            bytes[i] = random.Next(50) == 0 ? byte.MaxValue : (byte)random.Next(letters);
        }

        return bytes;
    }

    // Few letters, so that keys have common prefixes; of any length, so that one key is a prefix of another.
    private static byte[] DrawKey(Random random, int letters)
    {
        byte[] key = new byte[random.Next(1, 8)];
        for (int i = 0; i < key.Length; i++)
        {
            key[i] = random.Next(9) == 0 ? byte.MaxValue : (byte)('a' + random.Next(letters));
        }

        return random.Next(200) == 0 ? [.. Enumerable.Repeat((byte)'a', 300), .. key] : key;
    }
}
