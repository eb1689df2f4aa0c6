using System.Text;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Segments;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Segments;

/// <summary>Terms that are found without putting keys together, held against a walk that does.</summary>
public sealed class KeyTreeLookupTests
{
    private const string Folder = "/data/index";

    [Theory]
    [InlineData(1, 2)]
    [InlineData(60, 2)]
    [InlineData(20_000, 3)]
    [InlineData(20_000, 12)]
    public void A_key_is_found_where_a_walk_finds_it(int terms, int letters)
    {
        var random = new Random(terms + letters);
        using var store = SegmentStore.Open(StoreContents.ContextOf(new SimulatedDisk("/data", Folder)), Folder);
        var entry = new IndexEntry();
        for (int document = 0; document < terms; document++)
        {
            entry.Clear();
            entry.Add(0, Key(random, letters));
            store.Put(Encoding.UTF8.GetBytes($"d/{document}"), document + 1, entry);
        }

        store.Apply(terms);
        using var snapshot = store.OpenSnapshot();
        var field = snapshot.Segments.Single().Reader.Field(0)!;
        var walk = field.Terms();
        int found = 0;
        for (int asked = 0; asked < 20_000; asked++)
        {
            byte[] key = Key(random, letters);
            bool isThere = walk.SeekExact(key);
            found += isThere ? 1 : 0;
            var postings = field.Postings(key);
            Assert.Equal(isThere, postings is not null);
            Assert.Equal(isThere ? walk.EntryCount : 0, field.EntryCount(key));
            if (isThere)
            {
                var expected = field.NewPostings();
                expected.Open(walk.Postings);
                Assert.Equal(expected.MoveNext(), postings!.MoveNext());
            }
        }

        var seeking = field.Terms();
        for (bool isThere = walk.SeekOrdinal(0); isThere; isThere = walk.MoveNext())
        {
            Assert.True(field.Postings(walk.Term)?.Count == walk.EntryCount, Convert.ToHexString(walk.Term));
            Assert.True(seeking.SeekExact(walk.Term) && seeking.Ordinal == walk.Ordinal, Convert.ToHexString(walk.Term));
        }

        Assert.InRange(found, 1, 20_000);
    }

    // Few letters, so that keys begin alike; of any length, so that one is the beginning of another.
    private static byte[] Key(Random random, int letters)
    {
        byte[] key = new byte[random.Next(1, 8)];
        for (int i = 0; i < key.Length; i++)
        {
            key[i] = random.Next(9) == 0 ? byte.MaxValue : (byte)('a' + random.Next(letters));
        }

        return random.Next(200) == 0 ? [.. Enumerable.Repeat((byte)'a', 300), .. key] : key;
    }
}
