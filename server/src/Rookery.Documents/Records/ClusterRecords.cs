using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Records;

/// <summary>
/// The cluster records as applied on this node: a small ordered table that belongs to no database.
/// <see cref="Commands.ClusterRecordWriter"/> encodes its changes. Backups contain it. Thread-safe; reads take no lock.
/// </summary>
public sealed class ClusterRecords
{
    private StorageEngine? _storage;
    private long _revision;

    internal ClusterRecords() { }

    /// <summary>
    /// Rises with each change of a record, after readers can see the change. To cache a value derived from records,
    /// read this first, then the records, and recompute the value when this has changed. Costs one volatile read. Not
    /// comparable across restarts.
    /// </summary>
    public long Revision => Volatile.Read(ref _revision);

    /// <summary>Finds a record.</summary>
    /// <param name="key">The record's key; an invalid key matches no record.</param>
    /// <param name="record">The record.</param>
    /// <exception cref="DamagedException">The record is damaged.</exception>
    public bool TryGet(string key, [NotNullWhen(true)] out ClusterRecord? record)
    {
        record = null;
        if (_storage is null || !ClusterRecord.IsKey(key))
        {
            return false;
        }

        Span<byte> buffer = stackalloc byte[Key.MaxBytes];
        using var snapshot = _storage.OpenSnapshot();
        if (!snapshot.TryGet(RowKey(buffer, key), out var row))
        {
            return false;
        }

        using (row)
        {
            var value = new ArrayBufferWriter<byte>((int)Math.Max(row.Length, 1));
            row.CopyTo(value, 0, row.Length);
            record = Decode(key, value.WrittenMemory, row.Sequence);
            return true;
        }
    }

    /// <summary>
    /// Returns all records whose keys begin with <paramref name="prefix"/>, ordered by key, from one snapshot. An empty
    /// prefix matches all.
    /// </summary>
    /// <exception cref="DamagedException">A record is damaged.</exception>
    public IReadOnlyList<ClusterRecord> List(string prefix)
    {
        Invariant.Holds(
            prefix.Length == 0 || ClusterRecord.IsKey(prefix),
            "the prefix of a cluster record's key is itself a key"
        );
        var records = new List<ClusterRecord>();
        if (_storage is null)
        {
            return records;
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var first = RowKey(from, prefix);
        using var snapshot = _storage.OpenSnapshot();
        using var rows = snapshot.Seek(first, Key.WriteAfterPrefix(to, first));
        while (rows.MoveNext())
        {
            var value = new ArrayBufferWriter<byte>((int)Math.Max(rows.Length, 1));
            rows.CopyTo(value, 0, rows.Length);
            records.Add(Decode(Encoding.ASCII.GetString(Key.TextOf(rows.Key)), value.WrittenMemory, rows.Sequence));
        }

        return records;
    }

    /// <summary>
    /// Called after readers can see a change of the format level's record, and before any later entry is applied.
    /// </summary>
    internal Action? FormatLevelChanged { get; set; }

    /// <summary>Sets the storage to read from. Before this call there are no records.</summary>
    internal void Open(StorageEngine storage) => _storage = storage;

    /// <summary>Raises <see cref="Revision"/> after a record was changed. Readers can already see the change.</summary>
    internal void Announce(string key)
    {
        Volatile.Write(ref _revision, _revision + 1);
        if (string.Equals(key, FormatLevel.RecordKey, StringComparison.Ordinal))
        {
            FormatLevelChanged?.Invoke();
        }
    }

    /// <summary>
    /// Raises <see cref="Revision"/> after all records were replaced, perhaps also the format level's.
    /// </summary>
    internal void AnnounceReplacement() => Announce(FormatLevel.RecordKey);

    private static ReadOnlySpan<byte> RowKey(Span<byte> buffer, string key)
    {
        Key.WritePrefix(buffer, Key.NoDatabase, Table.ClusterRecords);
        return buffer[..(Key.PrefixBytes + Encoding.ASCII.GetBytes(key, buffer[Key.PrefixBytes..]))];
    }

    private static ClusterRecord Decode(string key, ReadOnlyMemory<byte> stored, long version)
    {
        ClusterRecordValue.Check(stored.Span);
        return new ClusterRecord(key, stored[ClusterRecordValue.HeadBytes..], version);
    }
}
