using System.Buffers;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// Reduces rows with the same key to one row. Reduced rows are reduced again, together with other rows. The final
/// result must not depend on how adjacent rows were combined before, as RavenDB requires of a reduce. Not thread-safe.
/// </summary>
public interface IReducer
{
    /// <summary>
    /// Whether the order of rows may change the result. If so, rows are ordered by a hash of the ids of their
    /// documents, which makes changes of a large group more expensive.
    /// </summary>
    bool HasOrder { get; }

    /// <summary>Reduces rows.</summary>
    /// <param name="rows">At least one row, mapped from a document or reduced before.</param>
    /// <param name="row">Receives the reduced row, a JSON object.</param>
    /// <exception cref="ReduceException">These rows cannot be reduced.</exception>
    void Reduce(in ReduceRows rows, IBufferWriter<byte> row);
}

/// <summary>The rows to reduce, valid during the call.</summary>
public readonly ref struct ReduceRows
{
    private readonly ReducePage _page;
    private readonly int _firstRow;

    internal ReduceRows(ReducePage page, int first, int count)
    {
        _page = page;
        _firstRow = first;
        Count = count;
    }

    /// <summary>Number of rows.</summary>
    public int Count { get; }

    /// <summary>A row: a JSON object without whitespace between tokens.</summary>
    public ReadOnlySpan<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)Count);
            return _page.Row(_firstRow + index);
        }
    }
}

/// <summary>Thrown if rows cannot be reduced. The message is for the author of the index.</summary>
/// <param name="message">The reason in a sentence.</param>
public sealed class ReduceException(string message) : Exception(message);
