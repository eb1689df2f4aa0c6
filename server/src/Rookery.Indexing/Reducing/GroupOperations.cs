using System.Runtime.InteropServices;

namespace Rookery.Indexing.Reducing;

/// <summary>What a batch does to the rows of one group.</summary>
internal sealed class GroupOperations
{
    private readonly List<RowOperation> _operations = [];

    /// <summary>The reduce key; empty when the batch only removes rows, of a group that is there.</summary>
    internal byte[] Key { get; set; } = [];

    /// <summary>The operations; once sorted, by number, one for each.</summary>
    internal ReadOnlySpan<RowOperation> Operations => CollectionsMarshal.AsSpan(_operations);

    internal void Add(in RowOperation operation) => _operations.Add(operation);

    /// <summary>Sorts by number; of several with one number the last counts.</summary>
    internal void Sort()
    {
        _operations.Sort(
            static (left, right) =>
                left.Number != right.Number ? left.Number.CompareTo(right.Number) : left.Order.CompareTo(right.Order)
        );
        int kept = 0;
        for (int i = 0; i < _operations.Count; i++)
        {
            if (i + 1 == _operations.Count || _operations[i + 1].Number != _operations[i].Number)
            {
                _operations[kept++] = _operations[i];
            }
        }

        _operations.RemoveRange(kept, _operations.Count - kept);
    }
}

/// <summary>Puts or removes the row of one number.</summary>
/// <param name="Number">The number.</param>
/// <param name="Order">Operations before it in the batch.</param>
/// <param name="Offset">Where the row lies among the batch's bytes.</param>
/// <param name="Length">Bytes of the row; -1 removes it.</param>
internal readonly record struct RowOperation(UInt128 Number, int Order, int Offset, int Length)
{
    /// <summary>Whether the row goes.</summary>
    internal bool IsRemoval => Length < 0;
}
