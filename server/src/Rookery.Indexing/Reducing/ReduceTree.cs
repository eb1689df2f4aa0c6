using System.Buffers;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Storage;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// The rows of a group as a tree of pages: leaves hold mapped rows by number, each page above the reduced rows of those
/// below, so that a change recomputes its leaf and one page of each level above, whatever the size of the group. Where
/// the order of rows does not count new ones have the highest numbers and go to the right edge, which fills pages
/// whole; small pages join a neighbour. Changes pages through a batch; for one group after the other.
/// </summary>
/// <param name="reducer">Makes one row of several.</param>
/// <param name="failed">Told why rows could not be reduced.</param>
internal sealed class ReduceTree(IReducer reducer, Action<string> failed)
{
    private const int SmallEntries = ReducePage.MostEntries * 3 / 4;
    private const int SmallBytes = ReducePage.MostBytes * 3 / 4;

    private readonly Stack<ReducePage> _idle = [];
    private readonly ArrayBufferWriter<byte> _reduced = new();
    private WriteBatch? _batch;
    private UInt128 _group;

    /// <summary>Rows given to the reducer since the tree was made.</summary>
    internal long RowsReduced { get; private set; }

    /// <summary>Carries operations out on a group.</summary>
    /// <param name="target">The batch.</param>
    /// <param name="id">The group.</param>
    /// <param name="height">Levels above the leaves; -1 for a group without rows. Changed.</param>
    /// <param name="fence">The fence of the topmost page. Changed.</param>
    /// <param name="operations">Sorted.</param>
    /// <param name="rows">The bytes that operations speak of.</param>
    /// <returns>The topmost page as one entry, or none when the group has no rows any more; to be given back. Null when
    /// nothing changed.</returns>
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

    /// <summary>Gives a page back.</summary>
    internal void Return(ReducePage page)
    {
        page.Clear();
        _idle.Push(page);
    }

    /// <summary>Gives all memory back.</summary>
    internal void Release()
    {
        while (_idle.TryPop(out var page))
        {
            page.Release();
        }
    }

    /// <summary>Carries operations out on a page and what is below it.</summary>
    /// <param name="level">Its level.</param>
    /// <param name="fence">Its fence.</param>
    /// <param name="isNew">Whether there is no such page yet.</param>
    /// <param name="operations">Those for it.</param>
    /// <param name="rows">The bytes they speak of.</param>
    /// <param name="above">Takes an entry for each page that it has become.</param>
    /// <returns>Whether anything changed; otherwise nothing was added to <paramref name="above"/>.</returns>
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
            int own = operations.Length;
            if (child + 1 < old.Count)
            {
                UInt128 next = old.Number(child + 1);
                for (own = 0; own < operations.Length && operations[own].Number < next; own++) { }
            }

            int before = changed.Count;
            if (own is 0 || !Change(level - 1, old.Number(child), isNew: false, operations[..own], rows, changed))
            {
                changed.Copy(old, child);
            }
            else
            {
                hasChanged |= changed.Count != before + 1 || !changed.HasSame(before, old, child);
            }

            operations = operations[own..];
        }

        return hasChanged;
    }

    /// <summary>Joins pages that together are less than one.</summary>
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

            var one = Rent();
            for (int part = page; part <= last; part++)
            {
                Load(level, pages.Number(part), one);
                if (part > page)
                {
                    DeletePage(level, pages.Number(part));
                }
            }

            Write(one, level, pages.Number(page), joined);
            Return(one);
            page = last;
        }

        Return(pages);
        return joined;
    }

    /// <summary>Writes entries as pages of a level, and an entry for each into the page above.</summary>
    private void Write(ReducePage entries, int level, UInt128 fence, ReducePage above)
    {
        if (entries.Count > 0 && entries.Number(0) < fence)
        {
            // The page at the left edge took a row from before its first one.
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
            if (_reduced.WrittenCount is 0 or > MappedRows.LongestRowBytes)
            {
                var (bytes, most) = Amount.BytesOver(_reduced.WrittenCount, MappedRows.LongestRowBytes);
                throw new ReduceException($"A reduced row has 1 B to {most}; this one would have {bytes}.");
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
