using System.Buffers;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// Makes one row of several with the same key. What it makes is given to it again, beside other such rows: the outcome
/// must
/// be the same however rows side by side were put together before, as RavenDB demands of the reduce of an index. Used
/// by one thread at a time.
/// </summary>
public interface IReducer
{
    /// <summary>
    /// Whether the order of rows counts. Then it is that of a hash of their documents' ids, and a batch of changes of
    /// a large group is dearer.
    /// </summary>
    bool HasOrder { get; }

    /// <summary>Reduces.</summary>
    /// <param name="rows">At least one row, of documents or made by an earlier call.</param>
    /// <param name="row">Takes the row: a JSON object.</param>
    /// <exception cref="ReduceException">These rows cannot be reduced.</exception>
    void Reduce(in ReduceRows rows, IBufferWriter<byte> row);
}

/// <summary>Rows that are to become one. Valid during one call.</summary>
public readonly ref struct ReduceRows
{
    private readonly ReducePage _page;
    private readonly int _first;

    internal ReduceRows(ReducePage page, int first, int count)
    {
        _page = page;
        _first = first;
        Count = count;
    }

    /// <summary>How many.</summary>
    public int Count { get; }

    /// <summary>
    /// One of them: a JSON object without whitespace between its tokens, as maps and reduces write it.
    /// </summary>
    public ReadOnlySpan<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)Count);
            return _page.Row(_first + index);
        }
    }
}

/// <summary>Rows cannot be reduced. The message is for who defined the index.</summary>
/// <param name="message">Why, in a sentence.</param>
public sealed class ReduceException(string message) : Exception(message);
