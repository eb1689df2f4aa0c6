using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Tests;

/// <summary>Lookups in a memtable, which find the versions of a key by its hash.</summary>
public sealed class KeyIndexTests : IDisposable
{
    private const byte LookedUp = 1;
    private const byte Walked = 2;

    private readonly ArenaPool _pool = new(new MemoryBudget(1 << 30).AddShare("memtable", 1 << 30));
    private readonly Memtable _memtable;

    public KeyIndexTests() =>
        _memtable = new Memtable(
            _pool,
            new TableMap([
                new TableDefinition(LookedUp, "looked up", LookedUp),
                new TableDefinition(Walked, "walked", Walked, IsWalkedOnly: true),
            ])
        );

    public void Dispose()
    {
        _memtable.Release();
        _pool.Dispose();
    }

    [Theory]
    [InlineData(LookedUp)]
    [InlineData(Walked)]
    public void Each_batch_sees_its_newest_version_of_each_key(byte table)
    {
        const int Keys = 3000;
        const int Batches = 4;
        var random = new Random(1);
        var versions = new List<long[]> { new long[Keys] };
        long sequence = 0;
        for (int batch = 1; batch <= Batches; batch++)
        {
            long[] newest = [.. versions[^1]];
            for (int i = 0; i < Keys; i++)
            {
                int key = random.Next(Keys);
                newest[key] = ++sequence;
                Insert(Key(table, key), sequence);
            }

            _memtable.CompleteBatch(new ManifestPosition(batch, 1, sequence), RangeTombstoneSet.Empty);
            versions.Add(newest);
        }

        for (int batch = 0; batch <= Batches; batch++)
        {
            for (int key = 0; key < Keys; key++)
            {
                Assert.Equal(versions[batch][key], Find(Key(table, key), batch));
            }
        }

        Assert.Equal(0, Find(Key(table, Keys), Batches));
    }

    [Fact]
    public void Keys_whose_hashes_agree_in_many_bits_are_told_apart()
    {
        // Keys that share the low bits of their hashes begin their search at the same slot of a small table.
        byte[][] alike =
        [
            .. Enumerable
                .Range(0, 100_000)
                .Select(static i => Key(LookedUp, i))
                .Where(static key => (KeyHash.Of(key) & 0xFFF) == 0),
        ];
        Assert.InRange(alike.Length, 10, 100);
        for (int i = 0; i < alike.Length; i++)
        {
            Insert(alike[i], i + 1);
        }

        _memtable.CompleteBatch(new ManifestPosition(1, 1, alike.Length), RangeTombstoneSet.Empty);
        Assert.All(alike, (key, i) => Assert.Equal(i + 1, Find(key, visible: 1)));
    }

    /// <summary>
    /// With keys chosen so, each search would compare all of them: a client could stop the thread that applies entries.
    /// </summary>
    [Fact]
    public void Keys_whose_whole_hashes_are_equal_are_found_without_comparing_all_of_them()
    {
        const int Keys = 100_000;
        const int Before = 100;
        for (int i = 0; i < Before; i++)
        {
            Insert(Key(LookedUp, i), i + 1);
        }

        for (int i = 0; i < Keys; i++)
        {
            Insert(Colliding(i), Before + i + 1);
        }

        _memtable.CompleteBatch(new ManifestPosition(1, 1, Keys), RangeTombstoneSet.Empty);
        Assert.Equal(KeyHash.Of(Colliding(0)), KeyHash.Of(Colliding(Keys)));
        for (int i = 0; i < Keys; i++)
        {
            Assert.Equal(Before + i + 1, Find(Colliding(i), visible: 1));
        }

        Assert.Equal(0, Find(Colliding(Keys), visible: 1));
        Assert.Equal(7, Find(Key(LookedUp, 6), visible: 1));
    }

    [Fact]
    public async Task Readers_find_all_keys_of_complete_batches_while_others_are_added()
    {
        const int Batches = 400;
        const int KeysPerBatch = 100;
        int complete = 0;
        using var begun = new ManualResetEventSlim();
        var reading = Task.Run(() =>
        {
            var random = new Random(2);
            begun.Set();
            while (Volatile.Read(ref complete) is < Batches and var visible)
            {
                for (int i = 0; i < 100 && visible > 0; i++)
                {
                    int key = random.Next(visible * KeysPerBatch);
                    Assert.Equal(key + 1, Find(Key(LookedUp, key), visible));
                    Assert.Equal(0, Find(Key(LookedUp, key + (visible * KeysPerBatch)), visible));
                }
            }
        });
        begun.Wait();
        for (int batch = 0; batch < Batches; batch++)
        {
            for (int key = batch * KeysPerBatch; key < (batch + 1) * KeysPerBatch; key++)
            {
                Insert(Key(LookedUp, key), key + 1);
            }

            _memtable.CompleteBatch(new ManifestPosition(batch, 1, batch), RangeTombstoneSet.Empty);
            Volatile.Write(ref complete, batch + 1);
        }

        await reading;
    }

    private unsafe void Insert(byte[] key, long sequence) =>
        _memtable.Insert(key, sequence, RowKind.Put, "value"u8, tail: []);

    // Returns the sequence of the version; 0 if there is none.
    private unsafe long Find(byte[] key, int visible)
    {
        MemtableNode* node = _memtable.TryGet(key, KeyHash.Of(key), visible);
        return node is null ? 0 : node->Sequence;
    }

    // Keys of one length with one hash: the bytes at 24 to 31 cancel the state of the hash after the first 16 bytes.
    // So the eight bytes between them do not matter.
    private static byte[] Colliding(int number)
    {
        byte[] keyspace = [0, 0, 0, 1, LookedUp];
        return
        [
            .. keyspace,
            .. "2vvbs4k7zxm"u8,
            .. Encoding.ASCII.GetBytes(number.ToString("D8", CultureInfo.InvariantCulture)),
            .. "jf0/\\w^w"u8,
            .. "x"u8,
        ];
    }

    private static byte[] Key(byte table, int number)
    {
        byte[] keyspace = new byte[MemtableNode.KeyspaceBytes];
        BinaryPrimitives.WriteInt32BigEndian(keyspace, 7);
        keyspace[^1] = table;
        return
        [
            .. keyspace,
            .. Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"key:{number:D8}")),
        ];
    }
}
