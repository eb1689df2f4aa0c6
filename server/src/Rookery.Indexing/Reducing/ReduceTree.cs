using System.Buffers;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// Keeps the rows of each group in a tree of pages. Leaves hold mapped rows by number; each higher page holds the
/// reduced rows of its children. A change thus recomputes one page of each level, even in a large group. If the order
/// of rows does not matter, new rows have the highest numbers and fill the last pages. Small pages are joined with a
/// neighbour. Changes one group at a time, through a batch of the store.
/// </summary>
/// <param name="reducer">Reduces the rows of a page.</param>
/// <param name="failed">Called with the reason when rows cannot be reduced.</param>
internal sealed class ReduceTree(IReducer reducer, Action<string> failed)
{
    // Adjacent pages are joined if together they have at most this many entries and bytes.
    private const int SmallEntries = ReducePage.MaxEntries * 3 / 4;
    private const int SmallBytes = ReducePage.MaxBytes * 3 / 4;

    private readonly Stack<ReducePage> _idle = [];
    private readonly ArrayBufferWriter<byte> _reduced = new();
    private WriteBatch? _batch;
    private UInt128 _group;

    /// <summary>Number of rows reduced since the tree was made.</summary>
    internal long RowsReduced { get; private set; }

    /// <summary>Applies operations to a group.</summary>
    /// <param name="target">The batch that reads and writes pages.</param>
    /// <param name="id">The id of the group.</param>
    /// <param name="height">Levels above the leaves; -1 for a group without rows. Updated.</param>
    /// <param name="fence">The fence of the root page: the least row number that it may contain. Updated.</param>
    /// <param name="operations">The operations, sorted by number.</param>
    /// <param name="rows">The bytes that the operations refer to.</param>
    /// <returns>A page whose only entry describes the root page; a page without entries if the group has no rows any
    /// more. The caller passes the page to <see cref="Return"/>. Null if nothing changed.</returns>
    internal ReducePage? Apply(
        WriteBatch target,
        UInt128 id,
        ref int height,
        ref UInt128 fence,
        ReadOnlySpan<RowOperation> operations,
        ReadOnlySpan<byte> rows
    )
    {
        (_batch, _group) = (target, id);
        var top = Rent();
        bool isNew = height < 0;
        height = Math.Max(height, 0);
        if (!Change(height, isNew ? 0 : fence, isNew, operations, rows, top))
        {
            Return(top);
            return null;
        }

        while (top.Count > 1)
        {
            height++;
            var above = Rent();
            Write(top, height, top.Number(0), above);
            Return(top);
            top = above;
        }

        while (top.Count is 1 && height > 0 && top.Child(0).Entries is 1)
        {
            var root = Rent();
            Load(height, top.Number(0), root);
            DeletePage(height, top.Number(0));
            Return(top);
            top = root;
            height--;
        }

        fence = top.Count is 1 ? top.Number(0) : 0;
        height = top.Count is 1 ? height : -1;
        return top;
    }

    /// <summary>Recycles a page.</summary>
    internal void Return(ReducePage page)
    {
        page.Clear();
        _idle.Push(page);
    }

    /// <summary>Releases all memory.</summary>
    internal void Release()
    {
        while (_idle.TryPop(out var page))
        {
            page.Release();
        }
    }

    /// <summary>Applies operations to a page and its descendants.</summary>
    /// <param name="level">The level of the page; 0 for a leaf.</param>
    /// <param name="fence">The fence of the page.</param>
    /// <param name="isNew">Whether the page does not exist yet.</param>
    /// <param name="operations">The operations in the range of the page.</param>
    /// <param name="rows">The bytes that the operations refer to.</param>
    /// <param name="above">Receives an entry for each page that replaces this one.</param>
    /// <returns>Whether anything changed; if not, nothing was added to <paramref name="above"/>.</returns>
    private bool Change(
        int level,
        UInt128 fence,
        bool isNew,
        ReadOnlySpan<RowOperation> operations,
        ReadOnlySpan<byte> rows,
        ReducePage above
    )
    {
        var old = Rent();
        var changed = Rent();
        if (!isNew)
        {
            Load(level, fence, old);
        }

        bool hasChanged = level is 0
            ? ChangeRows(old, operations, rows, changed)
            : ChangePages(level, old, operations, rows, changed);
        if (hasChanged)
        {
            if (level > 0)
            {
                changed = JoinSmall(level - 1, changed);
            }

            if (changed.Count is 0)
            {
                DeletePage(level, fence);
            }

            Write(changed, level, fence, above);
        }

        Return(old);
        Return(changed);
        return hasChanged;
    }

    private static bool ChangeRows(
        ReducePage old,
        ReadOnlySpan<RowOperation> operations,
        ReadOnlySpan<byte> rows,
        ReducePage changed
    )
    {
        bool hasChanged = false;
        int entry = 0;
        foreach (ref readonly var operation in operations)
        {
            while (entry < old.Count && old.Number(entry) < operation.Number)
            {
                changed.Copy(old, entry++);
            }

            bool replaces = entry < old.Count && old.Number(entry) == operation.Number;
            if (!operation.IsRemoval)
            {
                var row = rows.Slice(operation.Offset, operation.Length);
                hasChanged |= !replaces || !old.Row(entry).SequenceEqual(row);
                changed.Add(operation.Number, row);
            }

            hasChanged |= replaces && operation.IsRemoval;
            entry += replaces ? 1 : 0;
        }

        while (entry < old.Count)
        {
            changed.Copy(old, entry++);
        }

        return hasChanged;
    }

    private bool ChangePages(
        int level,
        ReducePage old,
        ReadOnlySpan<RowOperation> operations,
        ReadOnlySpan<byte> rows,
        ReducePage changed
    )
    {
        bool hasChanged = false;
        for (int child = 0; child < old.Count; child++)
        {
            // The operations of this child are those before the fence of the next child.
            int childOperations = operations.Length;
            if (child + 1 < old.Count)
            {
                UInt128 next = old.Number(child + 1);
                for (
                    childOperations = 0;
                    childOperations < operations.Length && operations[childOperations].Number < next;
                    childOperations++
                ) { }
            }

            int before = changed.Count;
            if (
                childOperations is 0
                || !Change(level - 1, old.Number(child), isNew: false, operations[..childOperations], rows, changed)
            )
            {
                changed.Copy(old, child);
            }
            else
            {
                hasChanged |= changed.Count != before + 1 || !changed.HasSame(before, old, child);
            }

            operations = operations[childOperations..];
        }

        return hasChanged;
    }

    /// <summary>Joins adjacent pages that fit into one.</summary>
    private ReducePage JoinSmall(int level, ReducePage pages)
    {
        var joined = Rent();
        for (int page = 0; page < pages.Count; page++)
        {
            var (entries, bytes) = pages.Child(page);
            int last = page;
            while (
                last + 1 < pages.Count
                && entries + pages.Child(last + 1).Entries <= SmallEntries
                && bytes + pages.Child(last + 1).Bytes <= SmallBytes
            )
            {
                last++;
                entries += pages.Child(last).Entries;
                bytes += pages.Child(last).Bytes;
            }

            if (last == page)
            {
                joined.Copy(pages, page);
                continue;
            }

            var joinedPage = Rent();
            for (int part = page; part <= last; part++)
            {
                Load(level, pages.Number(part), joinedPage);
                if (part > page)
                {
                    DeletePage(level, pages.Number(part));
                }
            }

            Write(joinedPage, level, pages.Number(page), joined);
            Return(joinedPage);
            page = last;
        }

        Return(pages);
        return joined;
    }

    /// <summary>Writes entries as pages of a level, and adds an entry for each of them to the page above.</summary>
    private void Write(ReducePage entries, int level, UInt128 fence, ReducePage above)
    {
        if (entries.Count > 0 && entries.Number(0) < fence)
        {
            // The first page of the level received a row before its first row, so its fence changes.
            DeletePage(level, fence);
            fence = entries.Number(0);
        }

        Span<byte> key = stackalloc byte[ReduceKeys.PageKeyBytes];
        for (int first = 0; first < entries.Count; )
        {
            int count = entries.CountOfPage(first);
            var stored = entries.Stored(first, count);
            var pageFence = first is 0 ? fence : entries.Number(first);
            _batch!.Put(ReduceKeys.Page(_group, level, pageFence, key), _batch.Index, stored);
            Reduce(entries, first, count);
            above.Add(pageFence, _reduced.WrittenSpan, count, stored.Length);
            first += count;
        }
    }

    private void Reduce(ReducePage entries, int first, int count)
    {
        _reduced.ResetWrittenCount();
        for (int entry = first; entry < first + count; entry++)
        {
            if (entries.Row(entry).IsEmpty)
            {
                return;
            }
        }

        RowsReduced += count;
        try
        {
            reducer.Reduce(new ReduceRows(entries, first, count), _reduced);
            if (_reduced.WrittenCount is 0 or > MappedRows.MaxRowBytes)
            {
                var (bytes, max) = Amount.BytesOver(_reduced.WrittenCount, MappedRows.MaxRowBytes);
                throw new ReduceException($"A reduced row has 1 B to {max}; this one would have {bytes}.");
            }
        }
        catch (ReduceException reason)
        {
            _reduced.ResetWrittenCount();
            failed(reason.Message);
        }
    }

    private void Load(int level, UInt128 fence, ReducePage page)
    {
        Span<byte> key = stackalloc byte[ReduceKeys.PageKeyBytes];
        bool isFound = _batch!.TryGet(ReduceKeys.Page(_group, level, fence, key), out var row);
        Invariant.Holds(isFound, "a page that the page above names is there");
        using (row)
        {
            page.Load(row.Value);
        }
    }

    private void DeletePage(int level, UInt128 fence)
    {
        Span<byte> key = stackalloc byte[ReduceKeys.PageKeyBytes];
        _batch!.Delete(ReduceKeys.Page(_group, level, fence, key), _batch.Index);
    }

    private ReducePage Rent() => _idle.TryPop(out var page) ? page : new ReducePage();
}
