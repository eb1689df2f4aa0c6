using System.Runtime.InteropServices;

namespace Rookery.Indexing.Reducing;

/// <summary>The changes that a batch makes to the rows of one group.</summary>
internal sealed class GroupOperations
{
    private readonly List<RowOperation> _operations = [];

    /// <summary>The reduce key; empty when the batch only removes rows of an existing group.</summary>
    internal byte[] Key { get; set; } = [];

    /// <summary>
    /// The operations. After <see cref="Sort"/>, they are ordered by number, and each number occurs once.
    /// </summary>
    internal ReadOnlySpan<RowOperation> Operations => CollectionsMarshal.AsSpan(_operations);

    internal void Add(in RowOperation operation) => _operations.Add(operation);

    /// <summary>Sorts by number and keeps only the last operation on each number.</summary>
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
/// <param name="Number">The number of the row.</param>
/// <param name="Order">Number of earlier operations in the batch.</param>
/// <param name="Offset">The offset of the row in the bytes of the batch.</param>
/// <param name="Length">Length of the row in bytes; -1 to remove the row.</param>
internal readonly record struct RowOperation(UInt128 Number, int Order, int Offset, int Length)
{
    /// <summary>Whether the row is removed.</summary>
    internal bool IsRemoval => Length < 0;
}
