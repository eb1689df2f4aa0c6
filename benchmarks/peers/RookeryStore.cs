using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Peers;

/// <summary>
/// Rookery's journal and storage without consensus and documents: each batch is one entry of the journal, written and
/// synced once, then applied. A background thread flushes and merges, as in a node.
/// </summary>
internal sealed class RookeryStore : IStore
{
    private const int KeyPrefixBytes = 5; // the number of a database, and of a table

    private readonly StorageEngine _storage;
    private readonly NodeJournal _journal;
    private readonly Thread _background;
    private readonly AutoResetEvent _work = new(initialState: true);
    private bool _isStopping;
    private byte[] _content = [];
    private byte[] _payload = [];

    public RookeryStore(string directory)
    {
        var disk = new PosixDisk();
        var io = new IoTimeline(TimeProvider.System, "device");
        _storage = StorageEngine.Open(
            disk,
            new StorageOptions
            {
                Directory = Path.Combine(directory, "storage"),
                Tables = [new TableDefinition(1, "documents", 0)],
            },
            new MemoryBudget(512L << 20),
            io,
            TimeProvider.System
        );
        _journal = NodeJournal.Open(
            disk,
            new JournalOptions { Directory = Path.Combine(directory, "journal") },
            new JournalKnowledge(0, 0, HasPeers: false),
            io
        );
        _storage.Memtables.HasBackgroundWork = true;
        _storage.Memtables.WorkArrived = () => _work.Set();
        _storage.Memtables.ManifestWritten = position => _journal.ReleaseThrough(position.Index);
        _background = new Thread(Maintain);
        _background.Start();
    }

    public void Put(IReadOnlyList<(byte[] Key, byte[] Value)> documents)
    {
        long index = _journal.LastIndex + 1;
        long sequence = _journal.OperationsBeforeNext;
        WriteJournal(documents, index, sequence);
        var batch = _storage.Begin(index, 1, documents.Sum(static one => one.Key.Length + one.Value.Length));
        Span<byte> key = stackalloc byte[KeyPrefixBytes + 8];
        foreach (var (stem, value) in documents)
        {
            MakeKey(stem, key);
            batch.Put(key, ++sequence, value);
        }

        _storage.Apply(batch, sequence);
        if (index % 256 == 0)
        {
            _work.Set(); // Wakes the background thread at times, so that it prepares a spare segment of the journal.
        }
    }

    public byte[] Get(byte[] key)
    {
        Span<byte> whole = stackalloc byte[KeyPrefixBytes + 8];
        MakeKey(key, whole);
        using var snapshot = _storage.OpenSnapshot();
        if (!snapshot.TryGet(whole, out var row))
        {
            return [];
        }

        using (row)
        {
            return row.Value.ToArray();
        }
    }

    public void Settle()
    {
        StopBackground();
        _storage.Memtables.RequestFlush();
        while (_storage.Memtables.FlushIfDue() || _storage.MergeOnce()) { }
    }

    public void Dispose()
    {
        StopBackground();
        _journal.Dispose();
        _storage.Dispose();
        _work.Dispose();
    }

    private static void MakeKey(ReadOnlySpan<byte> stem, Span<byte> key)
    {
        key[..KeyPrefixBytes].Clear();
        key[KeyPrefixBytes - 2] = 1;
        key[KeyPrefixBytes - 1] = 1;
        stem.CopyTo(key[KeyPrefixBytes..]);
    }

    private void WriteJournal(IReadOnlyList<(byte[] Key, byte[] Value)> documents, long index, long sequence)
    {
        int length = documents.Sum(static one => one.Key.Length + one.Value.Length);
        if (_content.Length < length)
        {
            _content = new byte[length];
            _payload = new byte[Payload.MaxEncodedLength(length)];
        }

        int end = 0;
        foreach (var (key, value) in documents)
        {
            key.CopyTo(_content.AsSpan(end));
            value.CopyTo(_content.AsSpan(end + key.Length));
            end += key.Length + value.Length;
        }

        int encoded = Payload.Encode(_content.AsSpan(0, length), _payload);
        _journal.Write([
            new JournalFrame(FrameType.Batch, index, 1, sequence, documents.Count, _payload.AsMemory(0, encoded)),
        ]);
    }

    private void Maintain()
    {
        while (!Volatile.Read(ref _isStopping))
        {
            if (!_storage.Memtables.FlushIfDue() && !_journal.PrepareSpare() && !_storage.MergeOnce())
            {
                _work.WaitOne();
            }
        }
    }

    private void StopBackground()
    {
        Volatile.Write(ref _isStopping, true);
        _work.Set();
        _background.Join();
    }
}
