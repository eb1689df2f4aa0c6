using System.Buffers;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Indexing.Reducing;

/// <summary>Applies changed documents to the rows of their groups, in one batch of the store.</summary>
/// <param name="batch">The batch.</param>
/// <param name="pending">The changed documents.</param>
/// <param name="tree">Changes the trees of groups.</param>
/// <param name="nextNumber">The number of the next new row: one more than the number of rows ever stored.</param>
/// <param name="hasOrder">Whether the order of rows may change the result of the reduce.</param>
internal sealed class ReduceBatch(
    WriteBatch batch,
    PendingDocuments pending,
    ReduceTree tree,
    long nextNumber,
    bool hasOrder
)
{
    private readonly Dictionary<UInt128, GroupOperations> _groups = [];
    private readonly ArrayBufferWriter<byte> _oldRecord = new();
    private readonly ArrayBufferWriter<byte> _newRecord = new();

    // Whether the record read last is stored in chunks. The record of a document with rows in more than 1,820 groups
    // is: it has over 64 KiB.
    private bool _isInChunks;
    private int _operations;

    /// <summary>The number of the next new row: one more than the number of rows ever stored.</summary>
    internal long NextNumber { get; private set; } = nextNumber;

    /// <summary>Applies all changes.</summary>
    internal void Run()
    {
        // Documents and groups are handled in the order in which they are stored, so each block is read once, even with
        // a small cache.
        foreach (int document in pending.InOrderOfIds())
        {
            MergeRows(document);
        }

        foreach (var (group, changes) in _groups.OrderBy(static group => group.Key))
        {
            changes.Sort();
            ChangeGroup(group, changes);
        }
    }

    /// <summary>Merges the old and new rows of a document, group by group, into operations.</summary>
    private void MergeRows(int document)
    {
        byte[] rented = ArrayPool<byte>.Shared.Rent(ReduceKeys.PrefixBytes + pending.Id(document).Length);
        try
        {
            var key = ReduceKeys.Document(pending.Id(document), rented);
            Read(key, _oldRecord);
            _newRecord.ResetWrittenCount();
            var old = new DocumentRecord(_oldRecord.WrittenSpan);
            int run = 0;
            int end = pending[document].FirstRow + pending[document].RowCount;
            for (int row = pending[document].FirstRow; row < end; )
            {
                var group = pending.Row(row).Group;
                int count = 1;
                while (row + count < end && pending.Row(row + count).Group == group)
                {
                    count++;
                }

                while (run < old.Count && old[run].Group < group)
                {
                    Remove(old[run++]);
                }

                bool hadRows = run < old.Count && old[run].Group == group;
                Put(document, row, count, hadRows ? old[run] : null);
                run += hadRows ? 1 : 0;
                row += count;
            }

            while (run < old.Count)
            {
                Remove(old[run++]);
            }

            Store(key, _oldRecord.WrittenSpan, _newRecord.WrittenSpan);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }

    private void Put(int document, int firstRow, int count, RowRun? old)
    {
        var group = pending.Row(firstRow).Group;
        var changes = Operations(group);
        if (changes.Key.Length is 0)
        {
            changes.Key = pending.Key(pending.Row(firstRow)).ToArray();
        }

        if (old is { } before && before.Count != count)
        {
            Remove(before);
            old = null;
        }

        var first = old?.First ?? ReduceKeys.RowNumber(hasOrder ? pending.Id(document) : default, NextNumber);
        NextNumber += old is null ? count : 0;
        DocumentRecord.Write(new RowRun(group, first, count), _newRecord);
        for (int row = 0; row < count; row++)
        {
            var mapped = pending.Row(firstRow + row);
            Invariant.Holds(pending.Key(mapped).SequenceEqual(changes.Key), "no two reduce keys have one hash");
            int offset = mapped.Offset + mapped.KeyLength;
            changes.Add(new RowOperation(first + (UInt128)row, _operations++, offset, mapped.RowLength));
        }
    }

    private void Remove(in RowRun run)
    {
        var changes = Operations(run.Group);
        for (int row = 0; row < run.Count; row++)
        {
            changes.Add(new RowOperation(run.First + (UInt128)row, _operations++, Offset: 0, Length: -1));
        }
    }

    private GroupOperations Operations(UInt128 group)
    {
        if (!_groups.TryGetValue(group, out var changes))
        {
            changes = new GroupOperations();
            _groups.Add(group, changes);
        }

        return changes;
    }

    private void ChangeGroup(UInt128 group, GroupOperations changes)
    {
        Span<byte> room = stackalloc byte[ReduceKeys.GroupKeyBytes];
        var key = ReduceKeys.Group(group, room);
        Read(key, _oldRecord);
        bool isNew = _oldRecord.WrittenCount is 0;
        var old = new GroupRecord(_oldRecord.WrittenSpan);
        Invariant.Holds(
            isNew || changes.Key.Length is 0 || old.Key.SequenceEqual(changes.Key),
            "no two reduce keys have one hash"
        );
        int height = isNew ? -1 : old.Height;
        var fence = isNew ? UInt128.Zero : old.Fence;
        if (tree.Apply(batch, group, ref height, ref fence, changes.Operations, pending.Bytes) is not { } top)
        {
            return;
        }

        bool hasNoRows = top.Count is 0;
        var reduceKey = isNew ? changes.Key : old.Key;
        _newRecord.ResetWrittenCount();
        if (!hasNoRows)
        {
            GroupRecord.Write(height, fence, reduceKey, top.Row(0), _newRecord);
        }

        bool hasOtherRow = hasNoRows ? !isNew : isNew || !old.Row.SequenceEqual(top.Row(0));
        if (hasOtherRow)
        {
            Span<byte> changed = stackalloc byte[ReduceKeys.GroupKeyBytes];
            batch.Put(ReduceKeys.ChangedGroup(group, changed), batch.Index, reduceKey);
        }

        Store(key, _oldRecord.WrittenSpan, _newRecord.WrittenSpan);
        tree.Return(top);
    }

    private void Store(ReadOnlySpan<byte> key, ReadOnlySpan<byte> old, ReadOnlySpan<byte> changed)
    {
        if (changed.SequenceEqual(old))
        {
            return;
        }

        if (_isInChunks && batch.TryGet(key, out var row))
        {
            using (row)
            {
                batch.ReleaseLarge(row, batch.Index);
            }
        }

        if (changed.IsEmpty)
        {
            batch.Delete(key, batch.Index);
        }
        else
        {
            batch.Put(key, batch.Index, changed);
        }
    }

    private void Read(ReadOnlySpan<byte> key, ArrayBufferWriter<byte> record)
    {
        record.ResetWrittenCount();
        _isInChunks = false;
        if (batch.TryGet(key, out var row))
        {
            using (row)
            {
                _isInChunks = row.IsLarge;
                row.CopyTo(record, offset: 0, row.Length);
            }
        }
    }
}
